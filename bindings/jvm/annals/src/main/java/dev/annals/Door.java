package dev.annals;

import com.google.gson.JsonObject;
import java.io.InputStream;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** Takes requests of docs/http.md: a server, or the repository in this process. */
interface Door extends AutoCloseable {
    /** Sends a request with a whole body, and reads the whole answer. An empty body is none. */
    Answer exchange(Request request, byte[] body);

    /** Sends a request with a body of any length, and opens the body of the answer. Null is no body. */
    Streamed send(Request request, InputStream body);

    @Override
    void close();

    /** The head of a request. */
    record Request(String method, String target, Map<String, String> headers) {
        byte[] json() {
            JsonObject json = new JsonObject();
            json.addProperty("method", method);
            json.addProperty("target", target);
            JsonObject names = new JsonObject();
            headers.forEach(names::addProperty);
            json.add("headers", names);
            return Json.bytes(json);
        }
    }

    /** The head of an answer; the names of headers are in small letters. */
    record Head(int status, Map<String, String> headers) {
        static Head of(JsonObject json) {
            Map<String, String> headers = new java.util.HashMap<>();
            if (json.get("headers") instanceof JsonObject names) {
                names.keySet().forEach(name -> headers.put(name.toLowerCase(Locale.ROOT), Json.text(names, name)));
            }
            return new Head(Json.number(json, "status"), headers);
        }

        Optional<String> header(String name) {
            return Optional.ofNullable(headers.get(name));
        }

        boolean isGood() {
            return status >= 200 && status < 300;
        }
    }

    /** An answer. */
    record Answer(Head head, byte[] body) {}

    /** An answer whose body is still to be read; closing the body ends the exchange. */
    record Streamed(Head head, InputStream body) {}
}
