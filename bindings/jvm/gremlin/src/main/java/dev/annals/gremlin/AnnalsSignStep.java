package dev.annals.gremlin;

import org.apache.tinkerpop.gremlin.process.traversal.Traversal;
import org.apache.tinkerpop.gremlin.process.traversal.Traverser;
import org.apache.tinkerpop.gremlin.process.traversal.step.util.AbstractStep;
import org.apache.tinkerpop.gremlin.structure.util.StringFactory;

/**
 * Signs the transaction of this thread before any step does anything: the first step waits until this one, the second,
 * asks it. It hands on what comes.
 */
final class AnnalsSignStep<S> extends AbstractStep<S, S> {
    private static final long serialVersionUID = 1;

    // Steps are serializable in name only: a traversal is sent as bytecode.
    private final transient Options options;
    private boolean isDone;

    AnnalsSignStep(Traversal.Admin<?, ?> traversal, Options options) {
        super(traversal);
        this.options = options;
    }

    @Override
    protected Traverser.Admin<S> processNextStart() {
        if (!isDone) {
            isDone = true;
            Session session = ((AnnalsGraph) getTraversal().getGraph().orElseThrow()).session();
            options.author().ifPresent(session::author);
            options.message().ifPresent(session::message);
        }
        return starts.next();
    }

    @Override
    public void reset() {
        super.reset();
        isDone = false;
    }

    @Override
    public String toString() {
        return StringFactory.stepString(this, options.author().orElse(""), options.message().orElse(""));
    }

    @Override
    public int hashCode() {
        return super.hashCode() ^ options.hashCode();
    }
}
