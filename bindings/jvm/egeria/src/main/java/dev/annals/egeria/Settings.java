package dev.annals.egeria;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.odpi.openmetadata.frameworks.connectors.properties.ConnectionProperties;

/** The configuration properties of a connection. */
final class Settings {
    private final Map<String, Object> all;

    private Settings(Map<String, Object> all) {
        this.all = all;
    }

    /** Errors: a property that is not known. A misspelt folder must not become a repository in memory. */
    static Settings of(ConnectionProperties connection, List<String> known) {
        Map<String, Object> all = connection.getConfigurationProperties();
        if (all != null) {
            for (String name : all.keySet()) {
                if (!known.contains(name)) {
                    throw new IllegalArgumentException("configuration properties: expected "
                            + String.join(", ", known) + "; found " + name);
                }
            }
        }
        return new Settings(all == null ? Map.of() : all);
    }

    Optional<String> text(String name) {
        return Optional.ofNullable(all.get(name)).map(Object::toString);
    }
}
