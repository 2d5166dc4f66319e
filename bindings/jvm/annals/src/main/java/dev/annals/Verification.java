package dev.annals;

import com.google.gson.JsonObject;
import java.util.List;

/**
 * How a type compares with the declared one of its name.
 *
 * @param outcome {@code unknown}, {@code equal}, {@code compatible} or {@code conflicting}
 * @param differences where it differs
 */
public record Verification(String outcome, List<Difference> differences) {
    /**
     * A place where a type differs.
     *
     * @param place such as {@code element red}
     * @param declared what is declared there; empty if nothing is
     * @param given what is given there; empty if nothing is
     * @param isConflict true if the type cannot be declared so
     */
    public record Difference(String place, String declared, String given, boolean isConflict) {}

    static Verification of(JsonObject json) {
        return new Verification(Json.text(json, "outcome"), Json.list(json, "differences", Verification::difference));
    }

    private static Difference difference(JsonObject json) {
        return new Difference(
                Json.text(json, "place"),
                Json.text(json, "declared"),
                Json.text(json, "given"),
                Json.flag(json, "conflict"));
    }
}
