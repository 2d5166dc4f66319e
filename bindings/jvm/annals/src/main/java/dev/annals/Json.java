package dev.annals;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import com.google.gson.internal.LazilyParsedNumber;
import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import com.google.gson.stream.MalformedJsonException;
import java.io.EOFException;
import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** Reads and writes JSON strictly: no member twice, nothing behind the end, at most 1,000 levels. */
final class Json {
    private static final int DEPTH_MAX = 1_000;

    private Json() {}

    static byte[] bytes(JsonElement json) {
        return Utf8.encode(json.toString());
    }

    static JsonElement parse(byte[] bytes) {
        return parse(bytes, 0);
    }

    static JsonElement parse(byte[] bytes, int offset) {
        return parse(new String(bytes, offset, bytes.length - offset, StandardCharsets.UTF_8));
    }

    /** Errors: {@code invalid-argument} with line and column. */
    static JsonElement parse(String text) {
        JsonReader reader = new JsonReader(new StringReader(text));
        try {
            JsonElement json = read(reader, 0);
            if (reader.peek() != JsonToken.END_DOCUMENT) {
                throw new MalformedJsonException("expected the end of the text");
            }
            return json;
        } catch (EOFException error) {
            throw AnnalsException.invalid("JSON: expected more text, found the end");
        } catch (IOException | IllegalStateException | NumberFormatException error) {
            throw AnnalsException.of("invalid-argument", "JSON: " + error.getMessage(), error);
        }
    }

    private static JsonElement read(JsonReader reader, int depth) throws IOException {
        if (depth > DEPTH_MAX) {
            throw new MalformedJsonException("expected at most " + DEPTH_MAX + " levels at " + reader.getPath());
        }
        switch (reader.peek()) {
            case BEGIN_OBJECT -> {
                JsonObject object = new JsonObject();
                reader.beginObject();
                while (reader.hasNext()) {
                    String name = reader.nextName();
                    if (object.has(name)) {
                        throw new MalformedJsonException("found the key " + name + " twice at " + reader.getPath());
                    }
                    object.add(name, read(reader, depth + 1));
                }
                reader.endObject();
                return object;
            }
            case BEGIN_ARRAY -> {
                JsonArray array = new JsonArray();
                reader.beginArray();
                while (reader.hasNext()) {
                    array.add(read(reader, depth + 1));
                }
                reader.endArray();
                return array;
            }
            case BOOLEAN -> {
                return new JsonPrimitive(reader.nextBoolean());
            }
            case NUMBER -> {
                return new JsonPrimitive(new LazilyParsedNumber(reader.nextString()));
            }
            case NULL -> {
                reader.nextNull();
                return JsonNull.INSTANCE;
            }
            default -> {
                return new JsonPrimitive(reader.nextString());
            }
        }
    }

    /** Errors: {@code invalid-argument} if it is no object. */
    static JsonObject object(JsonElement json) {
        if (json instanceof JsonObject object) {
            return object;
        }
        throw AnnalsException.invalid("JSON: expected an object, found " + json);
    }

    static boolean has(JsonObject object, String name) {
        return object.get(name) != null && !object.get(name).isJsonNull();
    }

    static String text(JsonObject object, String name) {
        JsonElement member = object.get(name);
        return member == null || member.isJsonNull() ? "" : member.getAsString();
    }

    static Optional<String> optional(JsonObject object, String name) {
        return has(object, name) ? Optional.of(object.get(name).getAsString()) : Optional.empty();
    }

    static boolean flag(JsonObject object, String name) {
        return has(object, name) && object.get(name).getAsBoolean();
    }

    static int number(JsonObject object, String name) {
        return has(object, name) ? object.get(name).getAsInt() : 0;
    }

    static long large(JsonObject object, String name) {
        return has(object, name) ? object.get(name).getAsLong() : 0;
    }

    static Instant instant(JsonObject object, String name) {
        return has(object, name) ? Instant.parse(text(object, name)) : Instant.EPOCH;
    }

    static <T> List<T> list(JsonObject object, String name, Function<JsonObject, T> item) {
        List<T> items = new ArrayList<>();
        if (object.get(name) instanceof JsonArray array) {
            array.forEach(json -> items.add(item.apply(json.getAsJsonObject())));
        }
        return List.copyOf(items);
    }

    static List<String> texts(JsonObject object, String name) {
        List<String> items = new ArrayList<>();
        if (object.get(name) instanceof JsonArray array) {
            array.forEach(json -> items.add(json.getAsString()));
        }
        return List.copyOf(items);
    }

    static JsonArray array(Iterable<String> texts) {
        JsonArray array = new JsonArray();
        texts.forEach(array::add);
        return array;
    }
}
