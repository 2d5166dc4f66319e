package dev.annals.egeria;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.annals.History;
import dev.annals.Instance;
import dev.annals.InstanceId;
import dev.annals.Kind;
import dev.annals.Snapshot;
import dev.annals.Version;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Date;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.HistorySequencingOrder;

/** Reads the versions of an instance. */
final class Histories {
    /** Actions that change classifications only. Their versions are no updates of the entity. */
    private static final List<String> OF_CLASSIFICATIONS =
            List.of("classify", "reclassify", "declassify", "save-classification-copy", "purge-classification-copy");

    private Histories() {}

    /**
     * The versions of a time, newest first, with the one that was in force at its beginning.
     *
     * <p>Shape: instances as each version showed them. Errors: {@code not-found}: no such instance.
     */
    static List<Instance> versions(Snapshot snapshot, InstanceId id, Date from, Date to) {
        History history = History.all().withContent();
        List<Instance> versions = new ArrayList<>();
        Iterator<Version> newestFirst = snapshot.history(id, to == null ? history : history.to(Moment.end(to)))
                .iterator();
        while (newestFirst.hasNext()) {
            Version version = newestFirst.next();
            version.content().ifPresent(versions::add);
            if (from != null && !version.instant().isAfter(Instant.ofEpochMilli(from.getTime()))) {
                return versions;
            }
        }
        return versions;
    }

    static List<Instance> page(List<Instance> newestFirst, int start, int size, HistorySequencingOrder order) {
        List<Instance> ordered = new ArrayList<>(newestFirst);
        if (order == HistorySequencingOrder.FORWARDS) {
            Collections.reverse(ordered);
        }
        int first = Math.min(start, ordered.size());
        int end = size == 0 ? ordered.size() : (int) Math.min((long) first + size, ordered.size());
        return ordered.subList(first, end);
    }

    /**
     * The last update of an instance.
     *
     * @param present the instance with it
     * @param before the instance without it
     */
    record Undo(JsonObject present, JsonObject before) {
        private static final List<String> PROVENANCE = List.of(
                "provenance", "replicatedBy", "license", "maintainedBy", "mappings", "effectiveFrom", "effectiveTo");

        /** Refused if another write comes in between. Classifications, identifier and home stay as they are. */
        JsonObject[] operations(Kind kind, String guid) {
            List<JsonObject> operations = new ArrayList<>();
            if (!isSame("type")) {
                operations.add(Changes.with(Changes.on("retype", kind, guid), "type", Headers.text(before, "type")));
            }
            if (!isSame("status")) {
                operations.add(
                        Changes.with(Changes.on("set-status", kind, guid), "status", Headers.text(before, "status")));
            }
            boolean isOfSameProvenance = PROVENANCE.stream().allMatch(this::isSame);
            if (operations.isEmpty() || !isOfSameProvenance || !isSame("properties")) {
                JsonObject operation = Changes.replace(kind, guid, before.getAsJsonObject("properties"));
                if (!isOfSameProvenance) {
                    operation.addProperty("provenance", "local");
                    PROVENANCE.stream().filter(before::has).forEach(name -> operation.add(name, before.get(name)));
                }
                operations.add(operation);
            }
            int version = present.get("latestVersion").getAsInt();
            operations.get(0).addProperty("ifVersion", version);
            return operations.toArray(JsonObject[]::new);
        }

        private boolean isSame(String name) {
            return Objects.equals(present.get(name), before.get(name));
        }
    }

    /**
     * Finds what an undo takes back: the last record that changed more than classifications. Empty if it is the first.
     *
     * <p>Errors: {@code not-found}: no such instance.
     */
    static Optional<Undo> undo(Store store, InstanceId id) {
        JsonObject present = null;
        long changed = 0;
        Optional<String> after = Optional.empty();
        do {
            // Most undos need two versions; those of an entity with many classifications need a page of more.
            JsonObject page = store.versions(id, present == null ? 2 : 100, after);
            for (JsonElement item : page.getAsJsonArray("items")) {
                JsonObject version = item.getAsJsonObject();
                JsonObject content = version.getAsJsonObject("content");
                long position = version.get("position").getAsLong();
                present = present == null ? content : present;
                if (changed > position) {
                    return Optional.of(new Undo(present, content));
                }
                if (!OF_CLASSIFICATIONS.contains(Headers.text(version, "action"))) {
                    // One call may have made several versions in its record.
                    changed = position;
                }
            }
            after = Optional.ofNullable(Headers.text(page, "next"));
        } while (after.isPresent());
        return Optional.empty();
    }
}
