package dev.annals;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;

/** Sends requests with JSON through a door, and turns refusals into exceptions. */
final class Client implements AutoCloseable {
    private static final int PROBLEM_BYTES_MAX = 1 << 20;
    private static final byte[] NONE = new byte[0];

    private final Door door;
    private volatile boolean isClosed;

    Client(Door door) {
        this.door = door;
    }

    /** Headers that state the author and the reason of a write. */
    static Map<String, String> stamp(String author, String message) {
        Map<String, String> headers = new TreeMap<>();
        String kept = " !\"#$&'()*+,/:;<=>?@[\\]^`{|}";
        if (!author.isEmpty()) {
            headers.put("annals-author", Utf8.percentKeeping(author, kept));
        }
        if (!message.isEmpty()) {
            headers.put("annals-message", Utf8.percentKeeping(message, kept));
        }
        return headers;
    }

    JsonObject get(String target) {
        return Json.object(json(answer("GET", target, Map.of(), NONE)));
    }

    /** An instance, with the tag of the answer as a member. */
    JsonObject instance(String target) {
        Door.Answer answer = answer("GET", target, Map.of(), NONE);
        JsonObject instance = Json.object(json(answer));
        answer.head().header("etag").ifPresent(tag -> instance.addProperty(Header.TAG, tag.replace("\"", "")));
        return instance;
    }

    JsonElement element(String target) {
        return json(answer("GET", target, Map.of(), NONE));
    }

    JsonObject send(String method, String target, JsonElement body) {
        return send(method, target, Map.of(), body);
    }

    JsonObject send(String method, String target, Map<String, String> headers, JsonElement body) {
        Map<String, String> all = new TreeMap<>(headers);
        all.put("content-type", "application/json");
        return Json.object(json(answer(method, target, all, Json.bytes(body))));
    }

    JsonObject send(String method, String target, Map<String, String> headers) {
        Door.Answer answer = answer(method, target, headers, NONE);
        return answer.body().length == 0 ? new JsonObject() : Json.object(json(answer));
    }

    Answer exchange(String method, String target, String json) {
        Map<String, String> headers = json.isEmpty() ? Map.of() : Map.of("content-type", "application/json");
        Door.Answer answer = answer(method, target, headers, Utf8.encode(json));
        Optional<String> position = answer.head().header("annals-position");
        return new Answer(
                position.isPresent() ? OptionalLong.of(Long.parseLong(position.get())) : OptionalLong.empty(),
                new String(answer.body(), StandardCharsets.UTF_8));
    }

    /** The position that a read shows. */
    long position(String target) {
        String found = answer("GET", target, Map.of(), NONE)
                .head()
                .header("annals-position")
                .orElse("0");
        return Long.parseLong(found);
    }

    private static JsonElement json(Door.Answer answer) {
        String type = answer.head().header("content-type").orElse("none");
        if (!type.contains("json")) {
            String found =
                    "expected an answer of Annals in JSON, found one of the type " + type + "; check the address";
            throw AnnalsException.of("internal", found, (String) null);
        }
        return Json.parse(answer.body());
    }

    private Door.Answer answer(String method, String target, Map<String, String> headers, byte[] body) {
        open();
        Door.Answer answer = door.exchange(new Door.Request(method, target, headers), body);
        if (!answer.head().isGood()) {
            throw Problem.of(answer);
        }
        return answer;
    }

    /** Opens the body of an answer; the caller closes it. */
    Door.Streamed stream(String method, String target, Map<String, String> headers, InputStream body) {
        open();
        Door.Streamed streamed = door.send(new Door.Request(method, target, headers), body);
        if (streamed.head().isGood()) {
            return streamed;
        }
        try (InputStream problem = streamed.body()) {
            throw Problem.of(new Door.Answer(streamed.head(), problem.readNBytes(PROBLEM_BYTES_MAX)));
        } catch (IOException error) {
            throw AnnalsException.of("unavailable", "the answer broke off: " + error.getMessage(), error);
        }
    }

    private void open() {
        if (isClosed) {
            throw AnnalsException.closed("repository");
        }
    }

    @Override
    public void close() {
        isClosed = true;
        door.close();
    }
}
