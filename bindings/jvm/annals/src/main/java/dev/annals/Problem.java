package dev.annals;

import com.google.gson.JsonObject;

/** Turns an answer that is not good into an exception. */
final class Problem {
    private static final int SHOWN_MAX = 300;

    private Problem() {}

    static AnnalsException of(Door.Answer answer) {
        boolean isProblem = answer.head().header("content-type").orElse("").contains("json");
        if (isProblem) {
            JsonObject json = Json.object(Json.parse(answer.body()));
            String kind = Json.optional(json, "kind").orElse("internal");
            String title = Json.text(json, "title");
            String detail = Json.text(json, "detail");
            String text = detail.isEmpty() ? title : detail;
            for (String name : new String[] {"type", "title", "status", "kind", "detail"}) {
                json.remove(name);
            }
            return AnnalsException.of(kind, text, json.toString());
        }
        int status = answer.head().status();
        String body = new String(answer.body(), java.nio.charset.StandardCharsets.UTF_8);
        String shown = body.substring(0, Math.min(body.length(), SHOWN_MAX)).strip();
        String found = "expected an answer of Annals, found status " + status + (shown.isEmpty() ? "" : ": " + shown);
        return AnnalsException.of(kind(status), found, (String) null);
    }

    /** The kind of an answer without a problem document, such as that of a proxy in between. */
    private static String kind(int status) {
        return switch (status) {
            case 400 -> "invalid-argument";
            case 404 -> "not-found";
            case 413, 414, 431 -> "too-large";
            case 408, 504 -> "time-out";
            case 502, 503 -> "unavailable";
            default -> "internal";
        };
    }
}
