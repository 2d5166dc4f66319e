package dev.annals;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Runs every file of {@code scenarios/} through the Java API, over a connection and in this process. */
class ScenariosTest {
    static List<String> files() throws IOException {
        try (Stream<Path> files = Files.list(Places.workspace().resolve("scenarios"))) {
            List<String> names = files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".json"))
                    .sorted()
                    .toList();
            assertTrue(names.size() >= 15, () -> "expected at least 15 scenarios, found " + names.size());
            return names;
        }
    }

    @ParameterizedTest
    @MethodSource("files")
    void scenarioHoldsOverAConnection(String file, @TempDir Path folder) throws IOException {
        run(file, Way.CONNECTION, folder);
    }

    @ParameterizedTest
    @MethodSource("files")
    void scenarioHoldsInThisProcess(String file, @TempDir Path folder) throws IOException {
        run(file, Way.PROCESS, folder);
    }

    private static void run(String file, Way way, Path folder) throws IOException {
        try (Way.Opened opened = way.open(folder)) {
            run(file, new ScenarioDoor(opened.repository()));
        }
    }

    private static void run(String file, ScenarioDoor door) throws IOException {
        JsonObject scenario = Json.object(Json.parse(
                Files.readString(Places.workspace().resolve("scenarios").resolve(file))));
        Map<String, JsonElement> saved = new HashMap<>();
        int number = 0;
        for (JsonElement one : scenario.getAsJsonArray("steps")) {
            number++;
            JsonObject step = filled(one, saved).getAsJsonObject();
            String place = file + " step " + number + " " + step;
            if (step.has("pages")) {
                assertEquals(step.get("pages"), pages(door, step), place);
                continue;
            }
            JsonElement result = perform(door, step, place);
            if (step.has("save")) {
                JsonObject names = step.getAsJsonObject("save");
                names.keySet()
                        .forEach(name -> saved.put(
                                name,
                                result.getAsJsonObject().get(names.get(name).getAsString())));
            }
        }
    }

    private static JsonElement perform(ScenarioDoor door, JsonObject step, String place) {
        JsonElement result;
        try {
            result = door.perform(step);
        } catch (AnnalsException error) {
            if (!step.has("error")) {
                throw new AssertionError(place, error);
            }
            assertEquals(step.get("error").getAsString(), error.kind(), () -> place + ": " + error);
            return JsonNull.INSTANCE;
        }
        if (step.has("error")) {
            fail(place + ": expected an error, found " + result);
        }
        assertEquals(step.has("absent"), result.isJsonNull(), () -> place + ": found " + result);
        if (step.has("expect")) {
            Matching.difference(step.get("expect"), result)
                    .ifPresent(difference -> fail(place + ": " + difference + " in " + result));
        }
        return result;
    }

    /** The step with saved values in the place of texts like {@code {name}}. */
    private static JsonElement filled(JsonElement json, Map<String, JsonElement> saved) {
        if (json instanceof JsonPrimitive text && text.isString()) {
            String name = text.getAsString();
            boolean isPlace = name.startsWith("{") && name.endsWith("}");
            return isPlace ? saved.getOrDefault(name.substring(1, name.length() - 1), json) : json;
        }
        if (json instanceof JsonArray items) {
            JsonArray all = new JsonArray();
            items.forEach(item -> all.add(filled(item, saved)));
            return all;
        }
        if (json instanceof JsonObject members) {
            JsonObject all = new JsonObject();
            members.entrySet().forEach(member -> all.add(member.getKey(), filled(member.getValue(), saved)));
            return all;
        }
        return json;
    }

    /** Follows {@code next} to the end: the ids on each page. */
    private static JsonElement pages(ScenarioDoor door, JsonObject step) {
        JsonArray pages = new JsonArray();
        JsonObject next = step.deepCopy();
        while (true) {
            JsonObject page = door.perform(next).getAsJsonObject();
            JsonArray ids = new JsonArray();
            page.getAsJsonArray("items").forEach(item -> ids.add(id(item.getAsJsonObject())));
            pages.add(ids);
            if (page.get("next").isJsonNull()) {
                return pages;
            }
            next.add("after", page.get("next"));
        }
    }

    private static JsonElement id(JsonObject item) {
        for (String part : new String[] {"relationship", "entity"}) {
            if (item.has(part)) {
                return item.getAsJsonObject(part).get("id");
            }
        }
        return item.get("id");
    }
}
