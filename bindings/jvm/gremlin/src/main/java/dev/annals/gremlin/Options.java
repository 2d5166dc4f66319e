package dev.annals.gremlin;

import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.time.format.DateTimeParseException;
import java.util.Date;
import java.util.Map;
import java.util.Optional;
import org.apache.tinkerpop.gremlin.process.traversal.Traversal;
import org.apache.tinkerpop.gremlin.process.traversal.strategy.decoration.OptionsStrategy;
import org.apache.tinkerpop.gremlin.process.traversal.util.TraversalHelper;

/**
 * What {@code g.with(key, value)} says to Annals: {@code at} or {@code position}, which time the traversal reads;
 * {@code author} and {@code message}, which sign the transaction that it changes.
 */
record Options(Optional<Object> at, Optional<Object> position, Optional<String> author, Optional<String> message) {
    /**
     * The options of a traversal.
     *
     * <p>Errors: {@code IllegalArgumentException} for two times, and for a signature that is no text.
     */
    static Options of(Traversal.Admin<?, ?> traversal) {
        Map<String, Object> given = TraversalHelper.getRootTraversal(traversal)
                .getStrategies()
                .getStrategy(OptionsStrategy.class)
                .map(OptionsStrategy::getOptions)
                .orElse(Map.of());
        Options options = new Options(
                Optional.ofNullable(given.get("at")),
                Optional.ofNullable(given.get("position")),
                text(given, "author"),
                text(given, "message"));
        if (options.at.isPresent() && options.position.isPresent()) {
            throw new IllegalArgumentException("with: expected at or position, found both; give one");
        }
        return options;
    }

    private static Optional<String> text(Map<String, Object> given, String key) {
        Object value = given.get(key);
        if (value != null && !(value instanceof String)) {
            throw new IllegalArgumentException("with " + key + ": expected a text, found " + value);
        }
        return Optional.ofNullable((String) value);
    }

    /** Says whether the traversal reads the past. */
    boolean isOfPast() {
        return at.isPresent() || position.isPresent();
    }

    boolean isSigning() {
        return author.isPresent() || message.isPresent();
    }

    /** The graph that a traversal reads: of the past, if its options name a time. */
    static AnnalsGraph graphOf(Traversal.Admin<?, ?> traversal) {
        AnnalsGraph graph = (AnnalsGraph) traversal.getGraph().orElseThrow();
        Options options = of(traversal);
        // The cleaner of the Java API frees the snapshot once no element of it is left.
        if (options.position.isPresent()) {
            if (options.position.get() instanceof Number number) {
                return graph.asOf(number.longValue());
            }
            throw new IllegalArgumentException("with position: expected a number, found " + options.position.get());
        }
        return options.at.map(at -> graph.asOf(instant(at))).orElse(graph);
    }

    private static Instant instant(Object at) {
        if (at instanceof Instant instant) {
            return instant;
        }
        if (at instanceof OffsetDateTime time) {
            return time.toInstant();
        }
        if (at instanceof Date date) {
            return date.toInstant();
        }
        if (at instanceof String text) {
            try {
                return read(text);
            } catch (DateTimeParseException error) {
                throw new IllegalArgumentException("with at: expected " + FORMS + ", found " + text, error);
            }
        }
        throw new IllegalArgumentException(
                "with at: expected an Instant, an OffsetDateTime, a Date or a text such as " + FORMS + ", found " + at);
    }

    private static final String FORMS = "2026-11-27T12:00:00Z, 2026-11-27, 2026-11, 2026 (the start of a day, month or year"
            + " in UTC), now, today or yesterday";

    /** Reads a time as the command line does. */
    private static Instant read(String text) {
        LocalDate today = LocalDate.now(ZoneOffset.UTC);
        return switch (text) {
            case "now" -> Instant.now();
            case "today" -> start(today);
            case "yesterday" -> start(today.minusDays(1));
            default -> switch (text.length()) {
                case 4 -> start(Year.parse(text).atDay(1));
                case 7 -> start(YearMonth.parse(text).atDay(1));
                case 10 -> start(LocalDate.parse(text));
                default -> OffsetDateTime.parse(text).toInstant();
            };
        };
    }

    private static Instant start(LocalDate day) {
        return day.atStartOfDay().toInstant(ZoneOffset.UTC);
    }
}
