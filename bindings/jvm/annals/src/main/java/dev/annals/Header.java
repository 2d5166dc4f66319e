package dev.annals;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** The fields that Annals keeps for each instance, decoded when the first of them is asked for. */
interface Header {
    /** The member of an instance in JSON that holds the tag of its answer. */
    String TAG = "tag";

    Fixed fixed();

    /** The fields. */
    record Fixed(
            int version,
            int latestVersion,
            int contentVersion,
            long birth,
            int log,
            Optional<String> tag,
            long position,
            Stamp created,
            Stamp updated,
            Instant validFrom,
            String status,
            boolean isDeleted,
            Provenance provenance,
            Map<String, Classification> classifications)
            implements Header {
        @Override
        public Fixed fixed() {
            return this;
        }

        static Fixed of(JsonObject json) {
            return new Fixed(
                    Json.number(json, "version"),
                    Json.number(json, "latestVersion"),
                    Json.number(json, Json.has(json, "contentVersion") ? "contentVersion" : "version"),
                    0,
                    0,
                    Json.optional(json, TAG),
                    Json.large(json, "position"),
                    Stamp.of(json.get("created")),
                    Stamp.of(json.get("updated")),
                    Json.instant(json, "validFrom"),
                    Json.text(json, "status"),
                    Json.text(json, "status").equals("deleted"),
                    Provenance.of(json),
                    classifications(json.get("classifications")));
        }

        /** What the tag of the answer says; otherwise made of the birth, which is 0 if it is not known, and the log. */
        Optional<String> revision() {
            if (birth == 0) {
                return tag;
            }
            String revision = birth + "." + latestVersion;
            return Optional.of(log == 0 ? revision : String.format("%s@%08x", revision, log));
        }

        private static Map<String, Classification> classifications(JsonElement json) {
            if (!(json instanceof JsonObject members) || members.size() == 0) {
                return Map.of();
            }
            Map<String, Classification> found = new LinkedHashMap<>();
            members.entrySet()
                    .forEach(member -> found.put(
                            member.getKey(),
                            Classification.of(
                                    member.getKey(), member.getValue().getAsJsonObject())));
            return Collections.unmodifiableMap(found);
        }
    }

    /** The fields in the packed form of the native library. */
    final class Packed implements Header {
        private final boolean hasClassifications;
        private final int at;
        private byte[] bytes;
        private Fixed fixed;

        Packed(byte[] bytes, int at, boolean hasClassifications) {
            this.bytes = bytes;
            this.at = at;
            this.hasClassifications = hasClassifications;
        }

        @Override
        public synchronized Fixed fixed() {
            if (fixed == null) {
                fixed = read(new PackReader(bytes, at));
                bytes = null;
            }
            return fixed;
        }

        private Fixed read(PackReader reader) {
            int version = reader.u32();
            int latestVersion = reader.u32();
            int contentVersion = reader.u32();
            long position = reader.i64();
            long birth = reader.i64();
            int log = reader.u32();
            Stamp created = reader.stamp();
            Stamp updated = reader.stamp();
            Instant validFrom = reader.instant();
            String status = reader.name();
            boolean isDeleted = reader.u8() == 1;
            Provenance provenance = reader.provenance();
            Map<String, Classification> classifications = Map.of();
            int count = hasClassifications ? reader.u32() : 0;
            if (count > 0) {
                Map<String, Classification> found = new LinkedHashMap<>();
                for (int index = 0; index < count; index++) {
                    Classification one = Classification.of(reader);
                    found.put(one.name(), one);
                }
                classifications = Collections.unmodifiableMap(found);
            }
            return new Fixed(
                    version,
                    latestVersion,
                    contentVersion,
                    birth,
                    log,
                    Optional.empty(),
                    position,
                    created,
                    updated,
                    validFrom,
                    status,
                    isDeleted,
                    provenance,
                    classifications);
        }
    }
}
