package annals.lab;

import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import org.apache.tinkerpop.gremlin.process.traversal.dsl.graph.GraphTraversalSource;

/** The reads of one thread, each a traversal that goes to the server as bytecode, and a transaction there. */
final class ServerWorker implements Worker {
    private static final String BULK = "bulk";
    private static final String NUMBER = "number";

    private final GraphTraversalSource g;
    private final List<Object> ids;

    ServerWorker(GraphTraversalSource g, List<Object> ids) {
        this.g = g;
        this.ids = ids;
    }

    /** Its id, its label and its property, in the form that a driver without classes of the system can read. */
    @Override
    public void vertex(long number) {
        Object found = g.V(ids.get((int) number)).elementMap().next().get(NUMBER);
        if (!Objects.equals(found, number)) {
            throw new IllegalStateException("vertex: expected number " + number + ", found " + found);
        }
    }

    @Override
    public long twoHops(long number) {
        return Graphs.DEGREE + g.V(ids.get((int) number)).out(BULK).out(BULK).id().toList().size();
    }

    @Override
    public long[] twoHopsOf(long number) {
        List<Long> numbers = g.V(ids.get((int) number)).out(BULK).out(BULK).<Long>values(NUMBER).toList();
        return numbers.stream().mapToLong(Long::longValue).toArray();
    }

    @Override
    public void renew() {}

    @Override
    public void close() {}

    static Skip skip() {
        return new Skip("a system in Gremlin Server answers the requests of the suite `gremlin-server` only");
    }

    @Override
    public Object commit(Object previous) throws Skip {
        throw skip();
    }

    @Override
    public long walk(Object first, long stepsMax) throws Skip {
        throw skip();
    }

    @Override
    public void enterBipartite(long number) throws Skip {
        throw skip();
    }

    @Override
    public void hopBipartite(SplittableRandom random) throws Skip {
        throw skip();
    }

    @Override
    public long outDegree(long number) throws Skip {
        throw skip();
    }

    @Override
    public long inDegree(long number) throws Skip {
        throw skip();
    }
}
