package annals.lab;

import clojure.java.api.Clojure;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.SplittableRandom;
import xtdb.api.IXtdbDatasource;
import xtdb.api.XtdbDocument;

/** The operations of one thread on XTDB; reads share a snapshot. */
final class XtdbWorker implements Worker {
    private static final Object SOURCES = Clojure.read("{:find [from] :in [to] :where [[from :link to]]}");

    private final XtdbPeer peer;
    /** The snapshot that reads share; null between two of them. */
    private IXtdbDatasource snapshot;
    /** The id of the present out-vertex of the bipartite graph. */
    private long present;
    /** Holds what was visited, so that the compiler cannot leave a visit out. */
    private int visited;

    XtdbWorker(XtdbPeer peer) {
        this.peer = peer;
    }

    @Override
    public Object commit(Object previous) {
        long id = peer.newId();
        XtdbDocument vertex = XtdbDocument.builder(id).build();
        // A transaction of puts only has nothing that could conflict.
        if (previous == null) {
            peer.commit(List.of(vertex));
        } else {
            peer.commit(List.of(vertex, XtdbPeer.document((Long) previous, "next", id)));
        }
        return id;
    }

    private XtdbDocument entity(long id) {
        if (snapshot == null) {
            snapshot = peer.node.openDB();
        }
        return snapshot.entity(id);
    }

    @Override
    public long walk(Object first, long stepsMax) {
        long id = (Long) first;
        for (long steps = 0; steps < stepsMax; steps++) {
            Long next = (Long) entity(id).get("next");
            if (next == null) {
                return steps;
            }
            id = next;
        }
        return stepsMax;
    }

    @Override
    public void enterBipartite(long number) {
        present = XtdbPeer.OUT + number;
    }

    @Override
    public void hopBipartite(SplittableRandom random) {
        List<?> targets = references(present, "link");
        List<List<?>> sources = sources((Long) targets.get(random.nextInt(targets.size())));
        present = (Long) sources.get(random.nextInt(sources.size())).get(0);
    }

    private List<?> references(long id, String attribute) {
        return (List<?>) entity(id).get(attribute);
    }

    private List<List<?>> sources(long id) {
        if (snapshot == null) {
            snapshot = peer.node.openDB();
        }
        Collection<List<?>> rows = snapshot.query(SOURCES, id);
        return new ArrayList<>(rows);
    }

    @Override
    public long outDegree(long number) {
        return references(XtdbPeer.OUT + number, "link").size();
    }

    @Override
    public long inDegree(long number) {
        return sources(XtdbPeer.IN + number).size();
    }

    @Override
    public long twoHops(long number) {
        long visits = 0;
        for (Object near : references(XtdbPeer.BULK + number, "bulk")) {
            visits++;
            for (Object far : references((Long) near, "bulk")) {
                visited += entity((Long) far).getId().hashCode();
                visits++;
            }
        }
        return visits;
    }

    @Override
    public long[] twoHopsOf(long number) {
        List<Long> numbers = new ArrayList<>();
        for (Object near : references(XtdbPeer.BULK + number, "bulk")) {
            for (Object far : references((Long) near, "bulk")) {
                numbers.add((Long) entity((Long) far).get("number"));
            }
        }
        return numbers.stream().mapToLong(Long::longValue).toArray();
    }

    @Override
    public void renew() throws Exception {
        close();
    }

    @Override
    public void close() throws Exception {
        if (snapshot != null) {
            snapshot.close();
            snapshot = null;
        }
    }
}
