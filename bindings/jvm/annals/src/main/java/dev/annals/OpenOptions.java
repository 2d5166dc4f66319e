package dev.annals;

import com.google.gson.JsonObject;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * How to open a repository in this process: {@code OpenOptions.defaults().readOnly()}. Every method returns new
 * options.
 *
 * @param isReadOnly true to follow the process that writes; writes are then {@code read-only}
 * @param segmentBytes the size at which a file of the log is full, in bytes
 * @param memoryBytesMax the most memory of this process, in bytes (docs/memory.md); none is no bound
 * @param objects the URL of the store of contents and checkpoints of a log in a store
 */
public record OpenOptions(
        boolean isReadOnly, OptionalLong segmentBytes, OptionalLong memoryBytesMax, Optional<String> objects) {
    /**
     * Reads and writes, with the usual sizes.
     *
     * @return the options
     */
    public static OpenOptions defaults() {
        return new OpenOptions(false, OptionalLong.empty(), OptionalLong.empty(), Optional.empty());
    }

    /**
     * Only reads, and follows the process that writes.
     *
     * @return the new options
     */
    public OpenOptions readOnly() {
        return new OpenOptions(true, segmentBytes, memoryBytesMax, objects);
    }

    /**
     * Begins a new file of the log at this size.
     *
     * @param bytes the size in bytes
     * @return the new options
     */
    public OpenOptions segmentBytes(long bytes) {
        return new OpenOptions(isReadOnly, OptionalLong.of(bytes), memoryBytesMax, objects);
    }

    /**
     * Bounds the memory of this process, with its heap: long values then are in files beside the repository, and work
     * that would exceed it is {@code too-large}.
     *
     * @param bytes the bound, at least 16 MiB
     * @return the new options
     */
    public OpenOptions memoryBytesMax(long bytes) {
        return new OpenOptions(isReadOnly, segmentBytes, OptionalLong.of(bytes), objects);
    }

    /**
     * Keeps the contents and the checkpoints of a log in a store there, as all its servers do.
     *
     * @param url the store, such as {@code s3://library/annals}; a key in it is refused
     * @return the new options
     */
    public OpenOptions objects(String url) {
        return new OpenOptions(isReadOnly, segmentBytes, memoryBytesMax, Optional.of(url));
    }

    JsonObject json() {
        JsonObject json = new JsonObject();
        json.addProperty("readOnly", isReadOnly);
        segmentBytes.ifPresent(bytes -> json.addProperty("segmentBytes", bytes));
        memoryBytesMax.ifPresent(bytes -> json.addProperty("memoryBytesMax", bytes));
        objects.ifPresent(url -> json.addProperty("objects", url));
        return json;
    }
}
