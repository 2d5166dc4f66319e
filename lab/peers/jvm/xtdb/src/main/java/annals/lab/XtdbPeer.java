package annals.lab;

import clojure.java.api.Clojure;
import clojure.lang.PersistentVector;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntToLongFunction;
import java.util.stream.IntStream;
import xtdb.api.HistoryOptions;
import xtdb.api.ICursor;
import xtdb.api.IXtdb;
import xtdb.api.IXtdbDatasource;
import xtdb.api.NodeConfiguration;
import xtdb.api.TransactionInstant;
import xtdb.api.XtdbDocument;
import xtdb.api.tx.Transaction;

/**
 * XTDB 1 with its log, documents and indexes in three RocksDB stores. A vertex is a document; its edges are references
 * in an attribute, `next`, `link` or `bulk`. Targets are read from the document, sources are found by a query. A commit
 * has ended when it is indexed, so that the next read sees it.
 * Plain: the log and the documents are synced after each write, because the default loses commits. `unsynced` is this
 * default. Tuned: one block cache for all stores.
 * Sources: <https://v1-docs.xtdb.com/storage/rocksdb/>, <https://v1-docs.xtdb.com/administration/configuring/>.
 */
public final class XtdbPeer implements Peer {
    /** First ids of the graphs, and of everything that `commit` makes. */
    static final long OUT = 0;
    static final long IN = 1L << 30;
    static final long BULK = 1L << 31;
    private static final long OTHERS = 1L << 40;

    private static final int BATCH = 1_000;
    private static final long TUNED_CACHE_BYTES = 512L << 20;
    private static final Duration INDEXED_WITHIN = Duration.ofMinutes(2);

    private final boolean isTuned;
    private final boolean isSynced;
    private final AtomicLong nextId = new AtomicLong(OTHERS);
    private long entity;
    IXtdb node;

    public XtdbPeer(String form) {
        switch (form) {
            case "", "tuned", "unsynced" -> { }
            default -> throw new IllegalArgumentException("xtdb has no form " + form);
        }
        isTuned = form.equals("tuned");
        isSynced = !form.equals("unsynced");
    }

    @Override
    public void open(Path folder) {
        node = IXtdb.startNode(configuration -> {
            if (isTuned) {
                configuration.with("xtdb.rocksdb/block-cache", cache -> {
                    cache.module("xtdb.rocksdb/->lru-block-cache");
                    cache.set("cache-size", TUNED_CACHE_BYTES);
                });
            }
            store(configuration, folder, "tx-log", isSynced);
            store(configuration, folder, "document-store", isSynced);
            // The indexes can be built again from the other two.
            store(configuration, folder, "index-store", false);
        });
    }

    private void store(NodeConfiguration.Builder configuration, Path folder, String name, boolean isStoreSynced) {
        configuration.with("xtdb/" + name, module -> module.with("kv-store", store -> {
            store.module("xtdb.rocksdb/->kv-store");
            store.set("db-dir", folder.resolve(name).toFile());
            store.set("sync?", isStoreSynced);
            if (isTuned) {
                store.set("block-cache", Clojure.read(":xtdb.rocksdb/block-cache"));
            }
        }));
    }

    @Override
    public void close() throws Exception {
        node.close();
    }

    @Override
    public Durability durability() {
        return isSynced ? Durability.SYNCED : Durability.UNSYNCED;
    }

    @Override
    public Map<String, String> settings() {
        Map<String, String> settings = new TreeMap<>();
        if (isSynced) {
            settings.put("tx-log sync?", "true");
            settings.put("document-store sync?", "true");
        }
        if (isTuned) {
            settings.put("block-cache cache-size", Long.toString(TUNED_CACHE_BYTES));
            settings.put("MALLOC_ARENA_MAX", String.valueOf(System.getenv("MALLOC_ARENA_MAX")));
        }
        return settings;
    }

    @Override
    public boolean isOffHeap() {
        return true;
    }

    @Override
    public Worker worker() {
        return new XtdbWorker(this);
    }

    long newId() {
        return nextId.getAndIncrement();
    }

    static XtdbDocument document(long id, String attribute, Object value) {
        return XtdbDocument.builder(id).put(attribute, value).build();
    }

    /** Submits a transaction; returns when it is durable in the log. */
    private TransactionInstant submit(List<XtdbDocument> documents) {
        return node.submitTx(Transaction.buildTx(transaction -> documents.forEach(transaction::put)));
    }

    /** Commits documents; returns when they can be read. */
    void commit(List<XtdbDocument> documents) {
        await(submit(documents));
    }

    /** Commits a transaction; returns when its changes can be read. */
    TransactionInstant commit(Transaction transaction) {
        TransactionInstant submitted = node.submitTx(transaction);
        await(submitted);
        return submitted;
    }

    private void await(TransactionInstant transaction) {
        node.awaitTx(transaction, INDEXED_WITHIN);
        if (!node.hasTxCommitted(transaction)) {
            throw new IllegalStateException("transaction " + transaction + " was not committed");
        }
    }

    /** Makes the document of a number. */
    private interface Maker {
        XtdbDocument make(long number);
    }

    private void inBatches(long count, Maker maker) {
        List<XtdbDocument> batch = new ArrayList<>();
        TransactionInstant last = null;
        for (long number = 0; number < count; number++) {
            batch.add(maker.make(number));
            if (batch.size() == BATCH || number == count - 1) {
                last = submit(batch);
                batch.clear();
                // Now and then, so that the log does not run minutes ahead of the indexes.
                if (number % (20 * BATCH) == 20 * BATCH - 1) {
                    await(last);
                }
            }
        }
        await(last);
    }

    /** The references of a document: a vector of Clojure, since XTDB does not index the elements of a list of Java. */
    private static Object references(IntToLongFunction target) {
        return PersistentVector.create(IntStream.range(0, Graphs.DEGREE).mapToObj(target::applyAsLong).toList());
    }

    @Override
    public void loadBipartite(long vertices) {
        long half = vertices / 2;
        inBatches(half, number -> XtdbDocument.builder(IN + number).build());
        inBatches(half, number -> {
            return document(OUT + number, "link", references(edge -> IN + Graphs.bipartiteTarget(number, edge, half)));
        });
    }

    @Override
    public void loadBulk(long vertices) {
        inBatches(vertices, number -> {
            Object targets = references(edge -> BULK + Graphs.bulkTarget(number, edge, vertices));
            return XtdbDocument.builder(BULK + number).put("number", number).put("bulk", targets).build();
        });
    }

    @Override
    public Counts count() throws Exception {
        try (IXtdbDatasource snapshot = node.openDB()) {
            long edges = 0;
            for (String attribute : List.of("next", "link", "bulk")) {
                edges += length(snapshot, "{:find [from to] :where [[from :" + attribute + " to]]}");
            }
            return new Counts(length(snapshot, "{:find [vertex] :where [[vertex :xt/id]]}"), edges);
        }
    }

    private static long length(IXtdbDatasource snapshot, String query) throws Exception {
        long length = 0;
        try (ICursor<List<?>> rows = snapshot.openQuery(Clojure.read(query))) {
            for (; rows.hasNext(); rows.next()) {
                length++;
            }
        }
        return length;
    }

    /** It is a query that finds every document. */
    @Override
    public boolean isCountQuick() {
        return false;
    }

    @Override
    public void makeEntity() {
        entity = newId();
        commit(List.of(XtdbDocument.builder(entity).build()));
    }

    @Override
    public void putHistory(long versions) {
        for (long version = 1; version <= versions; version++) {
            commit(List.of(document(entity, "n", version)));
        }
    }

    @Override
    public long[] readHistory() {
        // With corrections: transactions of the same millisecond are corrections of each other to XTDB.
        HistoryOptions options = HistoryOptions.create(HistoryOptions.SortOrder.ASC)
            .withDocs(true)
            .withCorrections(true);
        Object document = Clojure.read(":xtdb.api/doc");
        Object value = Clojure.read(":n");
        return node.db().entityHistory(entity, options).stream()
            .map(version -> ((Map<?, ?>) version.get(document)).get(value))
            .filter(number -> number != null)
            .mapToLong(number -> (Long) number)
            .toArray();
    }
}
