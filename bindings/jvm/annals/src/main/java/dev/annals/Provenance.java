package dev.annals;

import com.google.gson.JsonObject;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * How an instance came here, and the headers that few instances have.
 *
 * @param kind {@code local}, {@code content-pack}, {@code external-source} and others of docs/json.md
 * @param home the collection to which the instance belongs, if not to this repository
 * @param homeVersion the number of its version there
 * @param replicatedBy the collection that writes the instances of an external source
 * @param license a text
 * @param maintainedBy texts
 * @param mappings texts by name
 * @param effectiveFrom the instant from which the instance counts
 * @param effectiveTo the instant up to which the instance counts
 * @param propagatedFrom of a classification: the id of the entity from which it was propagated
 * @param reidentifiedFrom the former id
 * @param statusOnDelete the status that a deleted instance had
 * @param isProxy true if the repository stores only a proxy
 */
public record Provenance(
        String kind,
        Optional<String> home,
        OptionalInt homeVersion,
        Optional<String> replicatedBy,
        Optional<String> license,
        List<String> maintainedBy,
        Map<String, String> mappings,
        Optional<Instant> effectiveFrom,
        Optional<Instant> effectiveTo,
        Optional<String> propagatedFrom,
        Optional<String> reidentifiedFrom,
        Optional<String> statusOnDelete,
        boolean isProxy) {
    /** Of an instance of this repository without any such header. */
    static final Provenance LOCAL = of(new JsonObject());

    static Provenance of(JsonObject json) {
        Map<String, String> mappings = new LinkedHashMap<>();
        if (json.get("mappings") instanceof JsonObject members) {
            members.keySet().forEach(name -> mappings.put(name, Json.text(members, name)));
        }
        return new Provenance(
                Json.optional(json, "provenance").orElse("local"),
                Json.optional(json, "home"),
                Json.has(json, "homeVersion") ? OptionalInt.of(Json.number(json, "homeVersion")) : OptionalInt.empty(),
                Json.optional(json, "replicatedBy"),
                Json.optional(json, "license"),
                Json.texts(json, "maintainedBy"),
                Map.copyOf(mappings),
                Json.optional(json, "effectiveFrom").map(Instant::parse),
                Json.optional(json, "effectiveTo").map(Instant::parse),
                Json.optional(json, "propagatedFrom"),
                Json.optional(json, "reidentifiedFrom"),
                Json.optional(json, "statusOnDelete"),
                Json.flag(json, "isProxy"));
    }

    /** Reads the packed form, whose flags are not 0. */
    static Provenance of(int flags, PackReader reader) {
        return new Provenance(
                has(flags, 0) ? reader.name() : "local",
                has(flags, 1) ? Optional.of(reader.name()) : Optional.empty(),
                has(flags, 2) ? OptionalInt.of((int) Math.min(Integer.MAX_VALUE, reader.i64())) : OptionalInt.empty(),
                has(flags, 3) ? Optional.of(reader.name()) : Optional.empty(),
                has(flags, 4) ? Optional.of(reader.text()) : Optional.empty(),
                has(flags, 5) ? List.copyOf(reader.texts()) : List.of(),
                has(flags, 6) ? mappings(reader) : Map.of(),
                has(flags, 7) ? Optional.of(reader.instant()) : Optional.empty(),
                has(flags, 8) ? Optional.of(reader.instant()) : Optional.empty(),
                has(flags, 9) ? Optional.of(reader.text()) : Optional.empty(),
                has(flags, 10) ? Optional.of(reader.text()) : Optional.empty(),
                has(flags, 11) ? Optional.of(reader.name()) : Optional.empty(),
                has(flags, 12));
    }

    private static boolean has(int flags, int bit) {
        return (flags & 1 << bit) != 0;
    }

    private static Map<String, String> mappings(PackReader reader) {
        Map<String, String> mappings = new LinkedHashMap<>();
        int count = reader.u32();
        for (int index = 0; index < count; index++) {
            mappings.put(reader.name(), reader.text());
        }
        return Map.copyOf(mappings);
    }
}
