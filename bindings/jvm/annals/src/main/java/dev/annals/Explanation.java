package dev.annals;

import com.google.gson.JsonObject;
import java.util.List;

/**
 * How the engine found a page.
 *
 * @param plans the plans that ran
 * @param candidates the number of candidates from the indexes
 * @param verified the number of instances examined
 * @param found the number of hits on the page
 * @param json all that the engine says
 */
public record Explanation(List<String> plans, long candidates, long verified, long found, String json) {
    static Explanation of(JsonObject json) {
        return new Explanation(
                Json.texts(json, "plans"),
                Json.large(json, "candidates"),
                Json.large(json, "verified"),
                Json.large(json, "found"),
                json.toString());
    }
}
