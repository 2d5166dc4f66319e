package dev.annals;

import com.google.gson.JsonObject;
import java.util.OptionalLong;

/**
 * How to open a repository in this process: {@code OpenOptions.defaults().readOnly()}. Every method returns new
 * options.
 *
 * @param isReadOnly true to follow the process that writes; writes are then {@code read-only}
 * @param segmentBytes the size at which a file of the log is full, in bytes
 */
public record OpenOptions(boolean isReadOnly, OptionalLong segmentBytes) {
    /**
     * Reads and writes, with the usual sizes.
     *
     * @return the options
     */
    public static OpenOptions defaults() {
        return new OpenOptions(false, OptionalLong.empty());
    }

    /**
     * Only reads, and follows the process that writes.
     *
     * @return the new options
     */
    public OpenOptions readOnly() {
        return new OpenOptions(true, segmentBytes);
    }

    /**
     * Begins a new file of the log at this size.
     *
     * @param bytes the size in bytes
     * @return the new options
     */
    public OpenOptions segmentBytes(long bytes) {
        return new OpenOptions(isReadOnly, OptionalLong.of(bytes));
    }

    JsonObject json() {
        JsonObject json = new JsonObject();
        json.addProperty("readOnly", isReadOnly);
        segmentBytes.ifPresent(bytes -> json.addProperty("segmentBytes", bytes));
        return json;
    }
}
