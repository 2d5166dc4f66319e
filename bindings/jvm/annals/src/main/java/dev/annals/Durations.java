package dev.annals;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Durations in the form of docs/json.md: it also has weeks, which {@link Duration#parse} does not read, and one sign before
 * the whole, where {@link Duration#toString} has one before each part.
 */
final class Durations {
    private static final Pattern WEEKS = Pattern.compile("(-?)P(\\d+)W(.*)");

    private Durations() {}

    static String text(Duration duration) {
        // The smallest one has no opposite; the repository refuses it as too large in any form.
        boolean isNegative = duration.isNegative() && duration.getSeconds() != Long.MIN_VALUE;
        return isNegative ? "-" + duration.negated() : duration.toString();
    }

    static Duration parse(String text) {
        Matcher weeks = WEEKS.matcher(text);
        if (!weeks.matches()) {
            return Duration.parse(text);
        }
        Duration rest = weeks.group(3).isEmpty() ? Duration.ZERO : Duration.parse("P" + weeks.group(3));
        Duration whole = rest.plusDays(Math.multiplyExact(7, Long.parseLong(weeks.group(2))));
        return weeks.group(1).isEmpty() ? whole : whole.negated();
    }
}
