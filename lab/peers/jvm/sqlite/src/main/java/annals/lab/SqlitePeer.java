package annals.lab;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/**
 * SQLite: a table of nodes and a table of edges, found by their ends. Each thread has a connection of its own. Ids are
 * given by the program: chains count up from 2^40, the graphs have ranges of their own below.
 * Plain: the defaults, that is a rollback journal and synchronous FULL. Tuned: a write-ahead log, still FULL, a larger
 * cache, mapped reads, and one lock of the program around all writes instead of waiting for SQLite's file lock.
 * Sources: <https://www.sqlite.org/wal.html>, <https://www.sqlite.org/pragma.html>, <https://www.sqlite.org/mmap.html>.
 */
public final class SqlitePeer implements Peer {
    /** First ids of the graphs, and of everything that `commit` makes. */
    static final long OUT = 0;
    static final long IN = 1L << 30;
    static final long BULK = 1L << 31;
    private static final long OTHERS = 1L << 40;

    private static final int BATCH = 10_000;
    private static final Map<String, String> TUNED = new LinkedHashMap<>();

    static {
        TUNED.put("journal_mode", "wal");
        // The default of SQLite is FULL; said once more, since a driver could change it.
        TUNED.put("synchronous", "full");
        TUNED.put("cache_size", "-65536");
        TUNED.put("mmap_size", "1073741824");
    }

    private final boolean isTuned;
    private final AtomicLong nextId = new AtomicLong(OTHERS);
    /** Held by a thread that writes, in the tuned form only. Not fair: handing it on in turn costs a third of the commits. */
    private final ReentrantLock writing = new ReentrantLock();
    private Path folder;
    private Connection main;
    private long entity;

    public SqlitePeer(String form) {
        isTuned = switch (form) {
            case "" -> false;
            case "tuned" -> true;
            default -> throw new IllegalArgumentException("sqlite has no form " + form);
        };
    }

    @Override
    public void open(Path path) throws SQLException {
        folder = path;
        main = connect();
        try (Statement statement = main.createStatement()) {
            statement.execute("CREATE TABLE IF NOT EXISTS node (id INTEGER PRIMARY KEY, n INTEGER)");
            statement.execute("CREATE TABLE IF NOT EXISTS edge (source INTEGER NOT NULL, target INTEGER NOT NULL)");
            createIndexes(statement);
            try (ResultSet rows = statement.executeQuery("SELECT coalesce(max(id), 0) FROM node")) {
                rows.next();
                nextId.set(Math.max(OTHERS, rows.getLong(1) + 1));
            }
        }
    }

    private static void createIndexes(Statement statement) throws SQLException {
        statement.execute("CREATE INDEX IF NOT EXISTS edge_source ON edge (source, target)");
        statement.execute("CREATE INDEX IF NOT EXISTS edge_target ON edge (target, source)");
    }

    /** A connection for one thread, with the settings of this form. */
    Connection connect() throws SQLException {
        Connection connection = DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("graph.db"));
        if (isTuned) {
            try (Statement statement = connection.createStatement()) {
                for (Map.Entry<String, String> setting : TUNED.entrySet()) {
                    statement.execute("PRAGMA " + setting.getKey() + " = " + setting.getValue());
                }
            }
        }
        return connection;
    }

    long newId() {
        return nextId.getAndIncrement();
    }

    /** Waits for its turn to write, in the tuned form. */
    void lock() {
        if (isTuned) {
            writing.lock();
        }
    }

    void unlock() {
        if (isTuned) {
            writing.unlock();
        }
    }

    @Override
    public void close() throws SQLException {
        main.close();
    }

    @Override
    public Durability durability() {
        return Durability.SYNCED;
    }

    @Override
    public Map<String, String> settings() {
        return isTuned ? TUNED : Map.of();
    }

    @Override
    public boolean isOffHeap() {
        return true;
    }

    @Override
    public Worker worker() throws SQLException {
        return new SqliteWorker(this);
    }

    @Override
    public void loadBipartite(long vertices) throws SQLException {
        long half = vertices / 2;
        inOneTransaction(() -> {
            addNodes(OUT, half, false);
            addNodes(IN, half, false);
            addEdges(OUT, half, IN, (number, edge) -> Graphs.bipartiteTarget(number, edge, half));
        });
    }

    @Override
    public void loadBulk(long vertices) throws SQLException {
        inOneTransaction(() -> {
            addNodes(BULK, vertices, true);
            addEdges(BULK, vertices, BULK, (number, edge) -> Graphs.bulkTarget(number, edge, vertices));
        });
    }

    /** Statements of one transaction. */
    private interface Statements {
        void run() throws SQLException;
    }

    /** The fastest way to load much: one transaction, prepared statements, and indexes that are created after the load. */
    private void inOneTransaction(Statements statements) throws SQLException {
        main.setAutoCommit(false);
        try (Statement statement = main.createStatement()) {
            statement.execute("DROP INDEX edge_source");
            statement.execute("DROP INDEX edge_target");
            statements.run();
            createIndexes(statement);
            main.commit();
        } catch (SQLException error) {
            main.rollback();
            throw error;
        } finally {
            main.setAutoCommit(true);
        }
    }

    /** Where an edge of a graph leads to. */
    private interface Target {
        long number(long number, int edge);
    }

    private void addNodes(long first, long count, boolean isNumbered) throws SQLException {
        try (PreparedStatement insert = main.prepareStatement("INSERT INTO node (id, n) VALUES (?, ?)")) {
            for (long number = 0; number < count; number++) {
                insert.setLong(1, first + number);
                insert.setObject(2, isNumbered ? number : null);
                addToBatch(insert, number);
            }
            insert.executeBatch();
        }
    }

    private void addEdges(long first, long count, long firstTarget, Target target) throws SQLException {
        try (PreparedStatement insert = main.prepareStatement("INSERT INTO edge (source, target) VALUES (?, ?)")) {
            for (long number = 0; number < count; number++) {
                for (int edge = 0; edge < Graphs.DEGREE; edge++) {
                    insert.setLong(1, first + number);
                    insert.setLong(2, firstTarget + target.number(number, edge));
                    addToBatch(insert, number);
                }
            }
            insert.executeBatch();
        }
    }

    private static void addToBatch(PreparedStatement insert, long number) throws SQLException {
        insert.addBatch();
        if (number % BATCH == BATCH - 1) {
            insert.executeBatch();
        }
    }

    @Override
    public Counts count() throws SQLException {
        try (Statement statement = main.createStatement();
            ResultSet rows = statement.executeQuery(
                "SELECT (SELECT count(*) FROM node), (SELECT count(*) FROM edge)")) {
            rows.next();
            return new Counts(rows.getLong(1), rows.getLong(2));
        }
    }

    @Override
    public void makeEntity() throws SQLException {
        entity = newId();
        try (PreparedStatement insert = main.prepareStatement("INSERT INTO node (id) VALUES (?)")) {
            insert.setLong(1, entity);
            insert.executeUpdate();
        }
    }

    @Override
    public void putHistory(long versions) throws SQLException {
        try (PreparedStatement update = main.prepareStatement("UPDATE node SET n = ? WHERE id = ?")) {
            for (long version = 1; version <= versions; version++) {
                update.setLong(1, version);
                update.setLong(2, entity);
                update.executeUpdate();
            }
        }
    }
}
