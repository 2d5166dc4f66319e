package dev.annals.gremlin;

import com.google.inject.AbstractModule;
import com.google.inject.Guice;
import com.google.inject.Stage;
import io.cucumber.guice.CucumberModules;
import io.cucumber.junit.Cucumber;
import io.cucumber.junit.CucumberOptions;
import org.apache.tinkerpop.gremlin.features.AbstractGuiceFactory;
import org.apache.tinkerpop.gremlin.features.World;
import org.junit.runner.RunWith;
import org.junit.runners.model.InitializationError;

/** The scenarios of TinkerPop in Gherkin. The tags that are left out are features that docs/gremlin.md explains. */
@RunWith(FeaturesTest.Chosen.class)
@CucumberOptions(
        tags = "not @GraphComputerOnly and not @MultiProperties and not @MetaProperties and not @UserSuppliedVertexPropertyIds "
                + "and not @TinkerServiceRegistry and not @InsertionOrderingRequired and not @AllowNullPropertyValues",
        glue = {"org.apache.tinkerpop.gremlin.features"},
        objectFactory = FeaturesTest.Factory.class,
        features = {"classpath:/org/apache/tinkerpop/gremlin/test/features"},
        plugin = {"summary"})
public class FeaturesTest {
    /** The scenarios, or the part of them that is chosen. */
    public static final class Chosen extends Part {
        public Chosen(Class<?> test) throws InitializationError {
            super(new Cucumber(test));
        }
    }

    /** Binds the world of Annals. */
    public static final class Factory extends AbstractGuiceFactory {
        public Factory() {
            super(Guice.createInjector(Stage.PRODUCTION, CucumberModules.createScenarioModule(), new Bindings()));
        }
    }

    private static final class Bindings extends AbstractModule {
        @Override
        protected void configure() {
            bind(World.class).to(AnnalsWorld.class);
        }
    }
}
