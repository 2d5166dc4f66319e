package dev.annals.egeria;

import com.google.gson.JsonArray;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import dev.annals.InstanceId;
import dev.annals.Kind;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What an event mapper knows beyond a restart: the position of the last record whose events were sent, and the types of
 * deleted instances, which a purge leaves nowhere else. Without a file it is in memory.
 *
 * <p>Beside the file of the position stands one with the ending {@code .deleted}. Shape: a line {@code ["entity", id, type]}
 * for a deletion, and {@code ["entity", id]} when the instance is gone or restored.
 */
final class MapperState {
    /** Deleted instances whose types are kept. */
    private static final int DELETED_MAX = 10_000;
    /** Lines after which the file of deleted instances is written anew. */
    private static final int LINES_MAX = 4 * DELETED_MAX;

    private final Optional<Path> file;
    private final Map<InstanceId, String> deleted = new LinkedHashMap<>();
    private int lines;

    MapperState(Optional<Path> file) throws IOException {
        this.file = file;
        if (file.isPresent() && Files.exists(types(file.get()))) {
            for (String line : Files.readAllLines(types(file.get()))) {
                lines++;
                learn(line);
            }
        }
    }

    private static Path types(Path file) {
        return file.resolveSibling(file.getFileName() + ".deleted");
    }

    /** A line that a crash cut short is no loss: the events of its record are sent again. */
    private void learn(String line) {
        try {
            JsonArray parts = JsonParser.parseString(line).getAsJsonArray();
            InstanceId id = new InstanceId(
                    parts.get(0).getAsString().equals("entity") ? Kind.ENTITY : Kind.RELATIONSHIP,
                    parts.get(1).getAsString());
            put(id, parts.size() > 2 ? Optional.of(parts.get(2).getAsString()) : Optional.empty());
        } catch (JsonParseException | IllegalStateException | IndexOutOfBoundsException error) {
            // Not a whole line.
        }
    }

    private void put(InstanceId id, Optional<String> type) {
        deleted.remove(id);
        type.ifPresent(name -> deleted.put(id, name));
        if (deleted.size() > DELETED_MAX) {
            deleted.remove(deleted.keySet().iterator().next());
        }
    }

    /** True if a file should say where to begin. */
    boolean isStored() {
        return file.isPresent() && Files.exists(file.get());
    }

    /** The position in the file; empty if it holds none. */
    OptionalLong position() throws IOException {
        String text = new String(Files.readAllBytes(file.orElseThrow()), StandardCharsets.UTF_8).strip();
        return text.matches("[0-9]{1,18}") ? OptionalLong.of(Long.parseLong(text)) : OptionalLong.empty();
    }

    /** The type of a deleted instance. */
    Optional<String> type(InstanceId id) {
        return Optional.ofNullable(deleted.get(id));
    }

    void deleted(InstanceId id, String type) throws IOException {
        change(id, Optional.of(type));
    }

    void gone(InstanceId id) throws IOException {
        if (deleted.containsKey(id)) {
            change(id, Optional.empty());
        }
    }

    private void change(InstanceId id, Optional<String> type) throws IOException {
        put(id, type);
        if (file.isEmpty()) {
            return;
        }
        Path path = types(file.get());
        lines++;
        if (lines > LINES_MAX) {
            StringBuilder all = new StringBuilder();
            deleted.forEach((one, name) -> all.append(line(one, Optional.of(name))));
            replace(path, all.toString());
            lines = deleted.size();
            return;
        }
        try (FileChannel channel =
                FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.APPEND)) {
            write(channel, line(id, type));
        }
    }

    private static String line(InstanceId id, Optional<String> type) {
        JsonArray parts = new JsonArray();
        parts.add(id.kind().toString());
        parts.add(id.id());
        type.ifPresent(parts::add);
        return "\n" + parts;
    }

    void sent(long position) throws IOException {
        if (file.isPresent()) {
            replace(file.get(), position + "\n");
        }
    }

    /** After a crash the file has its old content or the new one. */
    private static void replace(Path file, String text) throws IOException {
        Path next = file.resolveSibling(file.getFileName() + ".next");
        try (FileChannel channel = FileChannel.open(
                next, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING)) {
            write(channel, text);
        }
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
    }

    private static void write(FileChannel channel, String text) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
        channel.force(true);
    }
}
