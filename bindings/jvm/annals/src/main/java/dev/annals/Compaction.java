package dev.annals;

import com.google.gson.JsonObject;

/**
 * What a compaction did.
 *
 * @param segments the number of segments written anew
 * @param records the number of records in them
 * @param changes the number of changes removed
 * @param bytesBefore the size of the log before, in bytes
 * @param bytesAfter the size of the log after, in bytes
 */
public record Compaction(long segments, long records, long changes, long bytesBefore, long bytesAfter) {
    static Compaction of(JsonObject json) {
        return new Compaction(
                Json.large(json, "segments"),
                Json.large(json, "records"),
                Json.large(json, "changes"),
                Json.large(json, "bytesBefore"),
                Json.large(json, "bytesAfter"));
    }
}
