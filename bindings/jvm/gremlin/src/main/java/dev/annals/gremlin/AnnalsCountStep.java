package dev.annals.gremlin;

import dev.annals.Find;
import java.util.List;
import org.apache.tinkerpop.gremlin.process.traversal.Traverser;
import org.apache.tinkerpop.gremlin.process.traversal.step.map.CountGlobalStep;
import org.apache.tinkerpop.gremlin.process.traversal.step.util.AbstractStep;
import org.apache.tinkerpop.gremlin.process.traversal.step.util.HasContainer;
import org.apache.tinkerpop.gremlin.process.traversal.util.FastNoSuchElementException;
import org.apache.tinkerpop.gremlin.structure.util.StringFactory;

/** How many vertices or edges fulfil conditions: the repository counts them. */
final class AnnalsCountStep<S> extends AbstractStep<S, Long> {
    private static final long serialVersionUID = 1;

    private final boolean isOfVertices;
    // Steps are serializable in name only: a traversal is sent as bytecode.
    private final transient List<HasContainer> conditions;
    private boolean isDone;

    AnnalsCountStep(AnnalsGraphStep<?, ?> found, CountGlobalStep<?> count) {
        super(count.getTraversal());
        isOfVertices = found.isOfVertices();
        conditions = found.getHasContainers();
        count.getLabels().forEach(this::addLabel);
    }

    @Override
    protected Traverser.Admin<Long> processNextStart() {
        if (isDone) {
            throw FastNoSuchElementException.instance();
        }
        isDone = true;
        Find<?> find = isOfVertices ? Find.entities() : Find.relationships();
        Session session = Options.graphOf(getTraversal()).session();
        return generate(session.count(Pushed.narrowed(session, find, conditions)));
    }

    @SuppressWarnings({"unchecked", "rawtypes"}) // The traverser of a start has the class of its step's results.
    private Traverser.Admin<Long> generate(Long count) {
        return (Traverser.Admin<Long>) getTraversal().getTraverserGenerator().generate(count, (AbstractStep) this, 1L);
    }

    @Override
    public void reset() {
        super.reset();
        isDone = false;
    }

    @Override
    public String toString() {
        return StringFactory.stepString(this, isOfVertices ? "vertex" : "edge", conditions);
    }

    @Override
    public int hashCode() {
        return super.hashCode() ^ conditions.hashCode() ^ Boolean.hashCode(isOfVertices);
    }
}
