package dev.annals.egeria;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import dev.annals.Kind;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.odpi.openmetadata.frameworks.connectors.ffdc.ConnectorCheckedException;

/** What the event mapper does when it, the repository, or Egeria fails. */
@Timeout(120)
class EventMapperTest {
    @TempDir
    Path folder;

    private final List<String> events = new CopyOnWriteArrayList<>();
    private final List<String> lines = new CopyOnWriteArrayList<>();
    private volatile Predicate<String> refused = event -> false;
    private LocalServer server;
    private AnnalsEventMapper mapper;

    @BeforeEach
    void begin() throws Exception {
        server = LocalServer.annals(Map.of("folder", folder.resolve("repository").toString()));
    }

    @AfterEach
    void end() throws Exception {
        if (mapper != null) {
            mapper.disconnect();
        }
        server.close();
    }

    private Path state() {
        return folder.resolve("state");
    }

    private void start(Map<String, Object> settings) throws Exception {
        mapper = server.eventMapper(
                settings,
                event -> {
                    if (refused.test(event)) {
                        throw new NullPointerException("Egeria has no " + event);
                    }
                    events.add(event);
                },
                lines::add);
        mapper.start();
    }

    private void start() throws Exception {
        start(Map.of("state", state().toString()));
    }

    private void stop() throws Exception {
        mapper.disconnect();
        mapper = null;
    }

    private void write(JsonObject... operations) {
        server.real().store().commit("ada", "", Arrays.asList(operations));
    }

    private static JsonObject create(String id) {
        return Changes.create(Kind.ENTITY, id, "GlossaryTerm", null);
    }

    private static JsonObject delete(String id) {
        return Changes.on("delete", Kind.ENTITY, id);
    }

    private static JsonObject purge(String id) {
        return Changes.on("purge", Kind.ENTITY, id);
    }

    /** Declares the types of Egeria, which wait for the first instance. */
    private void declare() throws Exception {
        server.collection.addEntity(
                LocalServer.USER, server.type("GlossaryTerm").getGUID(), null, List.of(), null);
    }

    private static void await(List<String> found, Predicate<String> expected) throws InterruptedException {
        for (int attempt = 0; attempt < 300; attempt++) {
            if (found.stream().anyMatch(expected)) {
                return;
            }
            Thread.sleep(100);
        }
        throw new AssertionError("expected one more within 30 s, found " + found);
    }

    private void awaitEvent(String event) throws InterruptedException {
        await(events, event::equals);
    }

    private void awaitLine(String part) throws InterruptedException {
        await(lines, line -> line.contains(part));
    }

    @Test
    void purges_are_sent_after_a_restart() throws Exception {
        declare();
        start();
        write(create("down"), create("up"), create("restored"));
        write(delete("down"), delete("up"), delete("restored"));
        awaitEvent("deleted restored");
        stop();
        write(purge("down"));
        write(Changes.restoreAlone(Kind.ENTITY, "restored"));
        start();
        awaitEvent("purged GlossaryTerm down");
        write(purge("up"));
        awaitEvent("purged GlossaryTerm up");
        assertEquals(List.of(), lines);
    }

    @Test
    void purges_are_sent_after_a_lost_connection_also_without_a_state_file() throws Exception {
        declare();
        start(Map.of());
        write(create("a"));
        write(delete("a"));
        awaitEvent("deleted a");
        server.real().disconnect();
        server.real().start();
        write(purge("a"));
        awaitEvent("purged GlossaryTerm a");
        assertEquals(List.of("new a", "deleted a", "purged GlossaryTerm a"), events);
    }

    @Test
    void a_position_that_is_known_stays_while_the_repository_does_not_open() throws Exception {
        declare();
        start();
        write(create("a"));
        awaitEvent("new a");
        stop();
        write(create("meanwhile"));
        server.real().disconnect();
        start();
        awaitLine("not started");
        server.real().start();
        awaitEvent("new meanwhile");
    }

    @Test
    void an_exception_of_egeria_is_a_line_and_the_thread_goes_on() throws Exception {
        declare();
        int[] failures = {0};
        refused = event -> event.equals("new a") && ++failures[0] < 3;
        start();
        write(create("a"));
        write(create("b"));
        awaitEvent("new b");
        assertEquals(List.of("new a", "new b"), events);
        awaitLine("Egeria has no new a");
    }

    @Test
    void events_that_always_fail_keep_back_no_others() throws Exception {
        declare();
        refused = "new bad"::equals;
        start();
        write(create("bad"), create("good"));
        write(create("later"));
        awaitEvent("new later");
        assertEquals(List.of("new good", "new later"), events);
        awaitLine("cannot be sent");
        stop();
        start();
        write(create("last"));
        awaitEvent("new last");
        assertEquals(List.of("new good", "new later", "new last"), events);
    }

    @Test
    void a_damaged_state_file_is_a_line_and_events_begin_at_the_present() throws Exception {
        declare();
        for (String damaged : List.of("", "17 or so", "-1")) {
            events.clear();
            lines.clear();
            Files.writeString(state(), damaged);
            start();
            awaitLine("holds no position");
            write(create("after " + damaged));
            awaitEvent("new after " + damaged);
            assertEquals(1, events.size());
            stop();
            assertTrue(Files.readString(state()).strip().matches("[0-9]+"));
        }
    }

    @Test
    void a_position_beyond_the_end_of_the_repository_is_a_line_and_events_go_on_at_its_end() throws Exception {
        declare();
        Files.writeString(state(), "1000\n");
        start();
        awaitLine("probably restored from a backup");
        awaitLine("1000");
        write(create("a"));
        awaitEvent("new a");
        assertEquals(List.of("new a"), events);
        assertFalse(Files.readString(state()).startsWith("1000"));
    }

    @Test
    void an_unknown_property_is_refused_at_the_start() {
        ConnectorCheckedException refusal =
                assertThrows(ConnectorCheckedException.class, () -> start(Map.of("stat", "x")));
        assertTrue(refusal.getMessage().contains("expected state; found stat"), refusal.getMessage());
        mapper = null;
    }
}
