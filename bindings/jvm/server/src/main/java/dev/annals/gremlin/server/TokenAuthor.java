package dev.annals.gremlin.server;

import dev.annals.gremlin.AnnalsTransaction;
import java.util.Optional;
import org.apache.tinkerpop.gremlin.process.traversal.Traversal;
import org.apache.tinkerpop.gremlin.process.traversal.TraversalStrategy;
import org.apache.tinkerpop.gremlin.process.traversal.strategy.AbstractTraversalStrategy;
import org.apache.tinkerpop.gremlin.process.traversal.strategy.decoration.OptionsStrategy;

/**
 * Signs each transaction with the name of the token by which its client logged in, and refuses another author. Without
 * tokens it does nothing.
 *
 * <p>A traversal of a driver gets one with its name. A text is not a traversal yet when it arrives: there the name is that of
 * the request that this thread evaluates.
 */
final class TokenAuthor extends AbstractTraversalStrategy<TraversalStrategy.FinalizationStrategy>
        implements TraversalStrategy.FinalizationStrategy {
    /** For the traversals of texts. */
    static final TokenAuthor OF_THREAD = new TokenAuthor(null);

    /** The argument of a request with the name. {@link RequestCheck} writes it, whatever the client sent. */
    static final String ARGUMENT = "annals.author";

    private static final long serialVersionUID = 1L;
    private static final ThreadLocal<String> NAMES = new ThreadLocal<>();

    private final String name;

    TokenAuthor(String name) {
        this.name = name;
    }

    /** What this thread evaluates from now on comes from a client of this name; of none if it is empty. */
    static void ofThread(String name) {
        NAMES.set(name);
    }

    @Override
    public void apply(Traversal.Admin<?, ?> traversal) {
        String signs = name == null ? NAMES.get() : name;
        if (signs == null || signs.isEmpty() || !traversal.isRoot()) {
            return;
        }
        Optional<Object> stated = traversal.getStrategies()
                .getStrategy(OptionsStrategy.class)
                .map(given -> given.getOptions().get("author"));
        if (stated.isPresent() && !stated.get().equals(signs)) {
            throw new IllegalArgumentException(
                    "with author: expected " + signs + ", the name of the token, or nothing, found " + stated.get());
        }
        ((AnnalsTransaction) traversal.getGraph().orElseThrow().tx()).author(signs);
    }
}
