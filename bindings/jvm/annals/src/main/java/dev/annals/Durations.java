package dev.annals;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads durations in the form of docs/json.md, which also has weeks; {@link Duration#parse} has none. */
final class Durations {
    private static final Pattern WEEKS = Pattern.compile("(-?)P(\\d+)W(.*)");

    private Durations() {}

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
