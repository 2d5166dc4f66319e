package annals.lab;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.sqlite.SQLiteErrorCode;
import org.sqlite.SQLiteException;

/** The operations of one thread on SQLite, by prepared statements; reads share a transaction until `renew`. */
final class SqliteWorker implements Worker {
    /** Joins a vertex with what lies two hops away. */
    private static final String TWO_HOPS = " FROM edge near JOIN edge far ON far.source = near.target";

    private final SqlitePeer peer;
    private final Connection connection;
    private final PreparedStatement beginReading;
    private final PreparedStatement begin;
    private final PreparedStatement insertNode;
    private final PreparedStatement insertEdge;
    private final PreparedStatement commit;
    private final PreparedStatement rollback;
    private final PreparedStatement targets;
    private final PreparedStatement sources;
    private final PreparedStatement twoHops;
    private final List<Long> neighbours = new ArrayList<>();
    /** The id of the present out-vertex of the bipartite graph. */
    private long present;
    /** True while the transaction that reads share is open. */
    private boolean isReading;

    SqliteWorker(SqlitePeer peer) throws SQLException {
        this.peer = peer;
        connection = peer.connect();
        beginReading = connection.prepareStatement("BEGIN");
        // Immediate: a transaction that only asks for the write lock later may find it can never have it.
        begin = connection.prepareStatement("BEGIN IMMEDIATE");
        insertNode = connection.prepareStatement("INSERT INTO node (id) VALUES (?)");
        insertEdge = connection.prepareStatement("INSERT INTO edge (source, target) VALUES (?, ?)");
        commit = connection.prepareStatement("COMMIT");
        rollback = connection.prepareStatement("ROLLBACK");
        targets = connection.prepareStatement("SELECT target FROM edge WHERE source = ?");
        sources = connection.prepareStatement("SELECT source FROM edge WHERE target = ?");
        twoHops = connection.prepareStatement("SELECT near.target, far.target" + TWO_HOPS + " WHERE near.source = ?");
    }

    @Override
    public Object commit(Object previous) throws SQLException, Conflict {
        long id = peer.newId();
        peer.lock();
        try {
            begin.execute();
            try {
                insertNode.setLong(1, id);
                insertNode.executeUpdate();
                if (previous != null) {
                    insertEdge.setLong(1, (Long) previous);
                    insertEdge.setLong(2, id);
                    insertEdge.executeUpdate();
                }
                commit.execute();
            } catch (SQLException error) {
                rollback.execute();
                throw error;
            }
            return id;
        } catch (SQLiteException error) {
            // The lowest byte is the primary code.
            int code = error.getResultCode().code & 0xff;
            if (code == SQLiteErrorCode.SQLITE_BUSY.code || code == SQLiteErrorCode.SQLITE_LOCKED.code) {
                throw new Conflict(error);
            }
            throw error;
        } finally {
            peer.unlock();
        }
    }

    /** Begins the transaction that reads share, if there is none. */
    private void beginReading() throws SQLException {
        if (!isReading) {
            beginReading.execute();
            isReading = true;
        }
    }

    /** Fills `neighbours` with the ids that `statement` finds for `id`. */
    private void read(PreparedStatement statement, long id) throws SQLException {
        beginReading();
        neighbours.clear();
        statement.setLong(1, id);
        try (ResultSet rows = statement.executeQuery()) {
            while (rows.next()) {
                neighbours.add(rows.getLong(1));
            }
        }
    }

    @Override
    public long walk(Object first, long stepsMax) throws SQLException {
        long id = (Long) first;
        for (long steps = 0; steps < stepsMax; steps++) {
            read(targets, id);
            if (neighbours.isEmpty()) {
                return steps;
            }
            id = neighbours.get(0);
        }
        return stepsMax;
    }

    @Override
    public void enterBipartite(long number) {
        present = SqlitePeer.OUT + number;
    }

    @Override
    public void hopBipartite(SplittableRandom random) throws SQLException {
        read(targets, present);
        read(sources, neighbours.get(random.nextInt(neighbours.size())));
        present = neighbours.get(random.nextInt(neighbours.size()));
    }

    @Override
    public long outDegree(long number) throws SQLException {
        read(targets, SqlitePeer.OUT + number);
        return neighbours.size();
    }

    @Override
    public long inDegree(long number) throws SQLException {
        read(sources, SqlitePeer.IN + number);
        return neighbours.size();
    }

    @Override
    public long twoHops(long number) throws SQLException {
        long visits = 0;
        beginReading();
        twoHops.setLong(1, SqlitePeer.BULK + number);
        try (ResultSet rows = twoHops.executeQuery()) {
            while (rows.next()) {
                visits++;
            }
        }
        // The rows are the paths; the vertices one hop away are the first columns of every third row.
        return visits + visits / Graphs.DEGREE;
    }

    @Override
    public long[] twoHopsOf(long number) throws SQLException {
        List<Long> numbers = new ArrayList<>();
        try (PreparedStatement statement = connection.prepareStatement(
            "SELECT node.n" + TWO_HOPS + " JOIN node ON node.id = far.target WHERE near.source = ?")) {
            statement.setLong(1, SqlitePeer.BULK + number);
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    numbers.add(rows.getLong(1));
                }
            }
        }
        return numbers.stream().mapToLong(Long::longValue).toArray();
    }

    @Override
    public void renew() throws SQLException {
        if (isReading) {
            commit.execute();
            isReading = false;
        }
    }

    @Override
    public void close() throws SQLException {
        try {
            renew();
        } finally {
            connection.close();
        }
    }
}
