package dev.annals.egeria;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.odpi.openmetadata.frameworks.connectors.ffdc.ConnectorCheckedException;
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

    /**
     * Looks at a connection before a connector is made. A server of Egeria starts although a connector does not, but not
     * if it cannot be made.
     */
    static void check(ConnectionProperties connection, List<String> known, Class<?> connector)
            throws ConnectorCheckedException {
        try {
            of(connection, known);
        } catch (IllegalArgumentException error) {
            throw refused(error, connector);
        }
    }

    static ConnectorCheckedException refused(IllegalArgumentException error, Class<?> connector) {
        return new ConnectorCheckedException(
                Failures.definition(400, "ANNALS-INVALID-ARGUMENT", "connection of Annals: " + error.getMessage()),
                connector.getName(),
                "getConnector",
                error);
    }

    Optional<String> text(String name) {
        return Optional.ofNullable(all.get(name)).map(Object::toString);
    }
}
