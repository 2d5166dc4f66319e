package annals.lab;

import com.eclipsesource.json.JsonArray;
import com.eclipsesource.json.JsonObject;
import com.eclipsesource.json.JsonValue;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Answers the requests of the suites `threads` and `gremlin-server` by means of one system. */
final class Requests implements Answers {
    private static final int THREADS_MAX = 100_000;
    private static final double SECONDS_MAX = 86_400;
    private static final long VERTICES_MAX = 100_000_000;

    private final Peer peer;
    /** The folder of the open system, else null. */
    private Path folder;
    /** The first vertex of each thread of the last `commits` request; null for a thread without a commit. */
    private Object[] chains = {};
    /** The vertices of the loaded graphs; 0 before they are loaded. */
    private long bipartiteVertices;
    private long bulkVertices;

    Requests(Peer peer) {
        this.peer = peer;
    }

    @Override
    public JsonObject answer(JsonObject request) throws Exception {
        String what = text(request, "do");
        if (what.equals("open")) {
            return open(Path.of(text(request, "folder")));
        }
        if (folder == null) {
            throw new IllegalArgumentException(what + ": no system is open; send open first");
        }
        return switch (what) {
            case "commits" -> commits(plan(request));
            case "chains" -> chains(plan(request));
            case "bipartite-load" -> loadBipartite(whole(request, "vertices", 2, VERTICES_MAX));
            case "bipartite-check" ->
                checkBipartite(whole(request, "count", 1, VERTICES_MAX), whole(request, "stride", 1, VERTICES_MAX));
            case "bipartite" -> bipartite(plan(request));
            case "bulk" -> loadBulk(whole(request, "vertices", 1, VERTICES_MAX));
            case "two-hops-of" -> twoHopsOf(whole(request, "number", 0, VERTICES_MAX));
            case "two-hops" -> twoHops(plan(request));
            case "vertex" -> vertex(plan(request));
            case "history-put" -> putHistory(whole(request, "versions", 1, VERTICES_MAX));
            case "history-read" -> readHistory();
            case "reopen" -> reopen();
            case "count" -> count();
            case "memory" -> memory();
            case "close" -> close();
            default -> throw new IllegalArgumentException("do: no request has the name " + what);
        };
    }

    @Override
    public void leave() throws Exception {
        if (folder != null) {
            close();
        }
    }

    private JsonObject open(Path path) throws Exception {
        if (folder != null) {
            throw new IllegalArgumentException("open: " + folder + " is open already; send close first");
        }
        Files.createDirectories(path);
        try (Stream<Path> files = Files.list(path)) {
            if (files.findAny().isPresent()) {
                throw new IllegalArgumentException("open: " + path + " is not empty");
            }
        }
        peer.open(path);
        folder = path;
        chains = new Object[0];
        bipartiteVertices = 0;
        bulkVertices = 0;
        Map<String, String> settings = new TreeMap<>(peer.settings());
        String flags = ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
            .filter(flag -> flag.startsWith("-X") && !flag.contains("VMOutput"))
            .collect(Collectors.joining(" "));
        settings.put("java flags", flags);
        JsonObject listed = new JsonObject();
        settings.forEach(listed::add);
        return new JsonObject()
            .add("version", System.getProperty("lab.version", "unknown") + " on Java " + Runtime.version())
            .add("durability", peer.durability().text)
            .add("settings", listed);
    }

    private JsonObject commits(Loop.Plan plan) throws Exception {
        Object[] firsts = new Object[plan.threads()];
        long[] retries = new long[plan.threads()];
        // Cleared first: after an error there are no chains that could be walked.
        chains = new Object[0];
        JsonObject answer = Loop.run(plan, thread -> new Commits(peer.worker(), thread, firsts, retries));
        chains = firsts;
        return answer.add("retries", Arrays.stream(retries).sum());
    }

    private JsonObject chains(Loop.Plan plan) throws Exception {
        if (plan.threads() > chains.length) {
            throw new IllegalArgumentException(
                "chains: the last commits left " + chains.length + " chains, found " + plan.threads() + " threads");
        }
        long[] steps = new long[plan.threads()];
        JsonObject answer = Loop.run(plan, thread -> Walks.make(peer, thread, chains[thread], steps));
        JsonArray lengths = new JsonArray();
        Arrays.stream(steps).forEach(lengths::add);
        return answer.add("steps", lengths);
    }

    private JsonObject loadBipartite(long vertices) throws Exception {
        if (vertices % 2 != 0 || bipartiteVertices > 0) {
            throw new IllegalArgumentException("bipartite-load: expected an even number of vertices, once a folder");
        }
        JsonObject answer = timed(() -> peer.loadBipartite(vertices));
        bipartiteVertices = vertices;
        return answer;
    }

    /** Reads the degrees of the out-vertices and the in-vertices 0, `stride`, 2 · `stride` and so on, `count` of each. */
    private JsonObject checkBipartite(long count, long stride) throws Exception {
        expectLoaded(bipartiteVertices, "bipartite-load");
        long half = bipartiteVertices / 2;
        if ((count - 1) * stride >= half) {
            throw new IllegalArgumentException("bipartite-check: expected numbers below " + half);
        }
        Map<Long, Long> out = new TreeMap<>();
        Map<Long, Long> in = new TreeMap<>();
        try (Worker worker = peer.worker()) {
            for (long place = 0; place < count; place++) {
                out.merge(worker.outDegree(place * stride), 1L, Long::sum);
                in.merge(worker.inDegree(place * stride), 1L, Long::sum);
                if (place % Hops.TRANSACTION_LENGTH == 0) {
                    worker.renew();
                }
            }
        }
        JsonObject answer = peer.isCountQuick() ? count() : new JsonObject();
        return answer.add("out_degree", degrees(out)).add("in_degree", degrees(in));
    }

    private static JsonObject degrees(Map<Long, Long> counts) {
        JsonObject degrees = new JsonObject();
        counts.forEach((degree, count) -> degrees.add(degree.toString(), count));
        return degrees;
    }

    private JsonObject bipartite(Loop.Plan plan) throws Exception {
        expectLoaded(bipartiteVertices, "bipartite-load");
        return Loop.run(plan, thread -> Hops.bipartite(peer.worker(), thread, bipartiteVertices / 2));
    }

    private JsonObject loadBulk(long vertices) throws Exception {
        if (bulkVertices > 0) {
            throw new IllegalArgumentException("bulk: the bulk graph is loaded once a folder");
        }
        JsonObject answer = timed(() -> peer.loadBulk(vertices));
        bulkVertices = vertices;
        return answer;
    }

    private JsonObject twoHopsOf(long number) throws Exception {
        expectLoaded(bulkVertices, "bulk");
        if (number >= bulkVertices) {
            throw new IllegalArgumentException("number: expected less than " + bulkVertices + ", found " + number);
        }
        JsonArray numbers = new JsonArray();
        try (Worker worker = peer.worker()) {
            Arrays.stream(worker.twoHopsOf(number)).sorted().forEach(numbers::add);
        }
        return new JsonObject().add("numbers", numbers);
    }

    private JsonObject twoHops(Loop.Plan plan) throws Exception {
        expectLoaded(bulkVertices, "bulk");
        return Loop.run(plan, thread -> Hops.twoHops(peer.worker(), thread, bulkVertices));
    }

    private JsonObject vertex(Loop.Plan plan) throws Exception {
        expectLoaded(bulkVertices, "bulk");
        return Loop.run(plan, thread -> Hops.vertex(peer.worker(), thread, bulkVertices));
    }

    private JsonObject putHistory(long versions) throws Exception {
        peer.makeEntity();
        return timed(() -> peer.putHistory(versions));
    }

    private JsonObject readHistory() throws Exception {
        JsonArray values = new JsonArray();
        long begin = System.nanoTime();
        long[] read = peer.readHistory();
        double seconds = (System.nanoTime() - begin) / 1e9;
        Arrays.stream(read).forEach(values::add);
        return new JsonObject().add("seconds", seconds).add("values", values);
    }

    private JsonObject reopen() throws Exception {
        if (peer.isMemoryOnly()) {
            throw new Skip("the system keeps nothing in its folder");
        }
        Path path = folder;
        // Order: a system that fails between the two is closed, not open.
        folder = null;
        JsonObject answer = timed(() -> {
            peer.close();
            peer.open(path);
        });
        folder = path;
        return answer;
    }

    private JsonObject count() throws Exception {
        Peer.Counts counts = peer.count();
        return new JsonObject().add("vertices", counts.vertices()).add("edges", counts.edges());
    }

    private JsonObject memory() throws Exception {
        // Twice: what the first collection hands to finalizers and cleaners, the second one frees.
        System.gc();
        Thread.sleep(100);
        System.gc();
        if (peer.isOffHeap()) {
            throw new Skip("most of its memory is outside the heap of Java; the table of costs has the memory of its processes");
        }
        long used = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
        return new JsonObject().add("live_bytes", used);
    }

    private JsonObject close() throws Exception {
        folder = null;
        peer.close();
        return new JsonObject();
    }

    /** Something that takes time. */
    private interface Work {
        void run() throws Exception;
    }

    private static JsonObject timed(Work work) throws Exception {
        long begin = System.nanoTime();
        work.run();
        return new JsonObject().add("seconds", (System.nanoTime() - begin) / 1e9);
    }

    private static void expectLoaded(long vertices, String request) {
        if (vertices == 0) {
            throw new IllegalArgumentException("the graph is not loaded; send " + request + " first");
        }
    }

    private static Loop.Plan plan(JsonObject request) {
        double rate = request.get("rate") == null ? 0 : number(request, "rate", 1e-3, 1e9);
        int threads = (int) whole(request, "threads", 1, THREADS_MAX);
        return new Loop.Plan(threads, number(request, "seconds", 1e-3, SECONDS_MAX), rate);
    }

    private static String text(JsonObject request, String name) {
        JsonValue value = request.get(name);
        if (value == null || !value.isString()) {
            throw new IllegalArgumentException(name + ": expected a text, found " + value);
        }
        return value.asString();
    }

    private static double number(JsonObject request, String name, double least, double most) {
        JsonValue value = request.get(name);
        if (value == null || !value.isNumber() || !(value.asDouble() >= least && value.asDouble() <= most)) {
            List<Double> bounds = List.of(least, most);
            throw new IllegalArgumentException(name + ": expected a number within " + bounds + ", found " + value);
        }
        return value.asDouble();
    }

    private static long whole(JsonObject request, String name, long least, long most) {
        JsonValue value = request.get(name);
        boolean isWhole = value != null && value.isNumber() && value.asDouble() == Math.rint(value.asDouble());
        if (!isWhole || value.asDouble() < least || value.asDouble() > most) {
            throw new IllegalArgumentException(
                name + ": expected a whole number from " + least + " to " + most + ", found " + value);
        }
        return (long) value.asDouble();
    }
}
