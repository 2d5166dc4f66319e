package dev.annals.gremlin;

import org.apache.tinkerpop.gremlin.jsr223.AbstractGremlinPlugin;
import org.apache.tinkerpop.gremlin.jsr223.DefaultImportCustomizer;

/** Imports the classes of Annals in the console and in Gremlin Server. */
public final class AnnalsPlugin extends AbstractGremlinPlugin {
    private static final String NAME = "dev.annals.gremlin";

    /** The plugin, as TinkerPop makes it. */
    public AnnalsPlugin() {
        super(
                NAME,
                DefaultImportCustomizer.build()
                        .addClassImports(AnnalsGraph.class, AnnalsTransaction.class)
                        .create());
    }

    /**
     * The plugin, as Gremlin Server asks for it.
     *
     * @return a plugin
     */
    public static AnnalsPlugin instance() {
        return new AnnalsPlugin();
    }
}
