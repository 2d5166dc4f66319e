package dev.annals.gremlin;

import org.junit.runner.Description;
import org.junit.runner.manipulation.Filter;
import org.junit.runner.manipulation.NoTestsRemainException;
import org.junit.runners.ParentRunner;
import org.junit.runners.model.InitializationError;

/** The part of a suite that ANNALS_PART names, such as 1/4, by the names of its tests. Without it, a suite runs whole. */
final class Part extends Filter {
    private final int part;
    private final int parts;

    private Part(int part, int parts) {
        this.part = part;
        this.parts = parts;
    }

    static void choose(ParentRunner<?> suite) throws InitializationError {
        String text = System.getenv("ANNALS_PART");
        if (text == null) {
            return;
        }
        String[] numbers = text.split("/");
        try {
            suite.filter(new Part(Integer.parseInt(numbers[0]), Integer.parseInt(numbers[1])));
        } catch (NoTestsRemainException error) {
            throw new InitializationError(error);
        }
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
