package dev.annals.gremlin;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.tinkerpop.gremlin.structure.T;
import org.apache.tinkerpop.gremlin.structure.Vertex;
import org.junit.Test;

/** One transaction of many threads, beside the transactions that each thread has. */
public class ThreadedTransactionTest {
    private static final int THREADS = 8;

    /** Runs a task in several threads, and throws the failure of any. */
    private static void inThreads(java.util.function.IntConsumer task) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        List<Future<?>> all = new ArrayList<>();
        for (int thread = 0; thread < THREADS; thread++) {
            int number = thread;
            all.add(threads.submit(() -> task.accept(number)));
        }
        for (Future<?> one : all) {
            one.get();
        }
        threads.shutdown();
    }

    @Test
    public void threadsShareItsChangesAndItsSnapshot() throws Exception {
        try (AnnalsGraph graph = AnnalsGraph.open()) {
            Vertex old = graph.addVertex(T.id, "old");
            graph.tx().commit();
            AnnalsGraph shared = graph.tx().createThreadedTx();
            graph.addVertex(T.id, "later");
            graph.tx().commit();
            Vertex hub = shared.addVertex(T.id, "hub");
            inThreads(number -> {
                assertFalse("its snapshot is older", shared.vertices("later").hasNext());
                for (int index = 0; index < 40; index++) {
                    Vertex mine = shared.addVertex(T.id, number + "-" + index);
                    mine.addEdge("to", hub);
                    // A Long has its class in a property of its own, which all keys share.
                    hub.property("k" + number + "-" + index, (long) index);
                    assertEquals((Long) (long) index, hub.value("k" + number + "-" + index));
                    assertEquals(1, shared.traversal().V(mine).out("to").toList().size());
                }
            });
            assertEquals(2L, (long) graph.traversal().V().count().next());
            assertEquals(THREADS * 40L + 2, (long) shared.traversal().V().count().next());
            ((AnnalsThreadedTransaction) shared.tx()).author("carl").message("together");
            shared.tx().commit();
            graph.tx().rollback();
            assertEquals(THREADS * 40, graph.traversal().V("hub").in("to").toList().size());
            Vertex found = graph.vertices("hub").next();
            assertEquals(THREADS * 40, found.keys().size());
            found.properties().forEachRemaining(one -> assertTrue(one.key(), one.value() instanceof Long));
            assertEquals("carl", graph.history(found).get(0).author());
            assertEquals("together", graph.history(found).get(0).message());
            assertEquals(1, graph.history(old).size());
        }
    }

    @Test
    public void oneIdIsAddedOnce() throws Exception {
        try (AnnalsGraph graph = AnnalsGraph.open()) {
            AnnalsGraph shared = graph.tx().createThreadedTx();
            java.util.concurrent.atomic.AtomicInteger refused = new java.util.concurrent.atomic.AtomicInteger();
            inThreads(number -> {
                for (int index = 0; index < 50; index++) {
                    try {
                        shared.addVertex(T.id, index);
                    } catch (IllegalArgumentException exists) {
                        refused.incrementAndGet();
                    }
                }
            });
            assertEquals(50 * (THREADS - 1), refused.get());
            shared.tx().commit();
            assertEquals(50L, (long) graph.traversal().V().count().next());
        }
    }

    @Test
    public void afterItsEndItIsRefused() {
        try (AnnalsGraph graph = AnnalsGraph.open()) {
            AnnalsGraph shared = graph.tx().createThreadedTx();
            assertTrue(shared.tx().isOpen());
            Vertex vertex = shared.addVertex(T.id, "a");
            shared.tx().commit();
            assertFalse(shared.tx().isOpen());
            RuntimeException over = assertThrows(IllegalStateException.class, shared::addVertex);
            assertTrue(over.getMessage(), over.getMessage().contains("createThreadedTx()"));
            assertThrows(IllegalStateException.class, () -> vertex.property("a", 1));
            assertThrows(IllegalStateException.class, () -> shared.tx().open());
            assertThrows(IllegalStateException.class, () -> shared.tx().commit());
            shared.tx().rollback();
            shared.close();
            assertEquals("the graph itself is open", 1L, (long) graph.traversal().V().count().next());

            AnnalsGraph closed = shared.tx().createThreadedTx();
            closed.addVertex();
            closed.close();
            assertFalse(closed.tx().isOpen());
            graph.tx().rollback();
            assertEquals(1L, (long) graph.traversal().V().count().next());
        }
    }

    @Test
    public void theLaterOfTwoThatChangeOneVertexFails() {
        try (AnnalsGraph graph = AnnalsGraph.open()) {
            graph.addVertex(T.id, "a");
            graph.tx().commit();
            AnnalsGraph shared = graph.tx().createThreadedTx();
            shared.vertices("a").next().property("n", 1);
            graph.vertices("a").next().property("n", 2);
            graph.tx().commit();
            RuntimeException lost = assertThrows(RuntimeException.class, () -> shared.tx().commit());
            assertTrue(lost.toString(), lost.getMessage().contains("changed at position"));
            assertFalse(shared.tx().isOpen());
        }
    }
}
