package dev.annals;

import com.google.gson.JsonObject;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * How two versions of an instance differ.
 *
 * @param status the status, if it differs
 * @param properties the properties that differ, by name
 * @param classifications the classifications that differ
 * @param headers whatever else differs, by name: {@code id}, {@code type}, {@code from}, {@code to}, {@code isProxy},
 *     and the fields of the provenance
 */
public record Difference(
        Optional<Changed> status,
        Map<String, Changed> properties,
        List<ClassificationDifference> classifications,
        Map<String, Changed> headers) {
    /**
     * How a classification differs.
     *
     * @param name its name
     * @param wasThere true if the entity had it before
     * @param isThere true if the entity has it after
     * @param properties the properties that differ, by name
     * @param headers the fields of its provenance that differ, by name
     */
    public record ClassificationDifference(
            String name,
            boolean wasThere,
            boolean isThere,
            Map<String, Changed> properties,
            Map<String, Changed> headers) {}

    static Difference of(JsonObject json) {
        Map<String, Changed> headers = headers(json);
        Optional<Changed> status = Optional.ofNullable(headers.remove("status"));
        return new Difference(
                status,
                Collections.unmodifiableMap(changed(json.getAsJsonObject("properties"))),
                Json.list(json, "classifications", Difference::classification),
                Collections.unmodifiableMap(headers));
    }

    private static ClassificationDifference classification(JsonObject json) {
        return new ClassificationDifference(
                Json.text(json, "name"),
                Json.flag(json, "wasThere"),
                Json.flag(json, "isThere"),
                Collections.unmodifiableMap(changed(json.getAsJsonObject("properties"))),
                Collections.unmodifiableMap(headers(json)));
    }

    private static Map<String, Changed> headers(JsonObject json) {
        JsonObject copy = json.deepCopy();
        copy.remove("properties");
        return changed(copy);
    }

    /** The members that are objects: each has the form {@code {"before", "after"}}. */
    private static Map<String, Changed> changed(JsonObject json) {
        Map<String, Changed> found = new LinkedHashMap<>();
        json.entrySet().forEach(member -> {
            if (member.getValue() instanceof JsonObject one) {
                found.put(member.getKey(), Changed.of(one));
            }
        });
        return found;
    }
}
