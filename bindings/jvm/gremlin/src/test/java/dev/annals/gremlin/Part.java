package dev.annals.gremlin;

import org.junit.runner.Description;
import org.junit.runner.Runner;
import org.junit.runner.manipulation.Filter;
import org.junit.runner.manipulation.NoTestsRemainException;
import org.junit.runner.notification.RunNotifier;
import org.junit.runners.ParentRunner;
import org.junit.runners.model.InitializationError;

/**
 * The part of a suite that ANNALS_PART names, such as 1/4, by the names of its tests. Without it, a suite runs whole.
 *
 * <p>It wraps the suite, because TinkerPop's suites ask by their class whether a graph takes part.
 */
abstract class Part extends Runner {
    private final ParentRunner<?> suite;

    Part(ParentRunner<?> suite) throws InitializationError {
        this.suite = suite;
        String text = System.getenv("ANNALS_PART");
        if (text != null) {
            String[] numbers = text.split("/");
            try {
                suite.filter(new ByName(Integer.parseInt(numbers[0]), Integer.parseInt(numbers[1])));
            } catch (NoTestsRemainException error) {
                throw new InitializationError(error);
            }
        }
    }

    @Override
    public Description getDescription() {
        return suite.getDescription();
    }

    @Override
    public void run(RunNotifier notifier) {
        suite.run(notifier);
    }

    private static final class ByName extends Filter {
        private final int part;
        private final int parts;

        ByName(int part, int parts) {
            this.part = part;
            this.parts = parts;
        }

        @Override
        public boolean shouldRun(Description description) {
            return description.isTest()
                    ? Math.floorMod(description.getDisplayName().hashCode(), parts) == part
                    : description.getChildren().stream().anyMatch(this::shouldRun);
        }

        @Override
        public String describe() {
            return "part " + part + " of " + parts;
        }
    }
}
