package dev.annals;

import com.google.gson.JsonElement;
import java.util.Map;
import java.util.TreeMap;

/**
 * A call that failed. A program decides by the kind, or by the class that each kind of the engine has; people read the
 * message: what was expected, what was found, what to do.
 *
 * <p>docs/errors.md lists the kinds with their meaning and remedy. A server adds kinds of its own, such as
 * {@code time-out} (no answer in time; a write may still take effect), which have this class. Kinds are stable,
 * messages may change.
 */
public class AnnalsException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** The kind. */
    private final String kind;

    /** Facts as a JSON object; empty if there are none. */
    private final String details;

    /**
     * Makes an exception. The native library calls this constructor.
     *
     * @param kind a name of docs/errors.md
     * @param message the text for people
     * @param details facts as a JSON object, or null
     */
    protected AnnalsException(String kind, String message, String details) {
        super(kind + ": " + message);
        this.kind = kind;
        this.details = details == null ? "" : details;
    }

    /**
     * The kind, a name of docs/errors.md such as {@code not-found}.
     *
     * @return the kind
     */
    public final String kind() {
        return kind;
    }

    /**
     * Says whether the same call may succeed if you repeat it on a fresh snapshot: kinds {@code conflict} and
     * {@code busy}. {@link Repository#transact(java.util.function.Consumer)} already repeats such calls.
     *
     * @return true for these kinds
     */
    public final boolean isRetryable() {
        return kind.equals("conflict") || kind.equals("busy");
    }

    /**
     * Facts about the failure, such as {@code latestVersion} of a {@code precondition-failed} or {@code operation}
     * (from 0), which names the operation of a transaction that was refused.
     *
     * @return the facts by name, as texts; whatever is no text, as JSON; may be empty
     */
    public final Map<String, String> details() {
        Map<String, String> facts = new TreeMap<>();
        if (!details.isEmpty()) {
            Json.object(Json.parse(details)).entrySet().forEach(fact -> {
                JsonElement value = fact.getValue();
                facts.put(fact.getKey(), value.isJsonPrimitive() ? value.getAsString() : value.toString());
            });
        }
        return facts;
    }

    static AnnalsException of(String kind, String message, Throwable cause) {
        AnnalsException error = of(kind, message, (String) null);
        error.initCause(cause);
        return error;
    }

    static AnnalsException invalid(String message) {
        return of("invalid-argument", message, (String) null);
    }

    static AnnalsException closed(String what) {
        return of("closed", "the " + what + " is closed; open another one", (String) null);
    }

    /** The same error in the class of its kind: native code makes only this class. */
    final AnnalsException exact() {
        if (getClass() != AnnalsException.class) {
            return this;
        }
        String text = getMessage().substring(kind.length() + 2);
        AnnalsException exact = of(kind, text, details.isEmpty() ? null : details);
        exact.setStackTrace(getStackTrace());
        return exact;
    }

    /** The exception of the class that the kind has. */
    static AnnalsException of(String kind, String message, String details) {
        return switch (kind) {
            case "conflict" -> new ConflictException(message, details);
            case "busy" -> new BusyException(message, details);
            case "unavailable" -> new UnavailableException(message, details);
            case "outcome-unknown" -> new OutcomeUnknownException(message, details);
            case "locked" -> new LockedException(message, details);
            case "read-only" -> new ReadOnlyException(message, details);
            case "not-writer" -> new NotWriterException(message, details);
            case "closed" -> new ClosedException(message, details);
            case "corrupted" -> new CorruptedException(message, details);
            case "gap" -> new GapException(message, details);
            case "newer-format" -> new NewerFormatException(message, details);
            case "not-found" -> new NotFoundException(message, details);
            case "already-exists" -> new AlreadyExistsException(message, details);
            case "deleted" -> new DeletedException(message, details);
            case "not-deleted" -> new NotDeletedException(message, details);
            case "precondition-failed" -> new PreconditionFailedException(message, details);
            case "invalid-argument" -> new InvalidArgumentException(message, details);
            case "invalid-expression" -> new InvalidExpressionException(message, details);
            case "invalid-page" -> new InvalidPageException(message, details);
            case "type-violation" -> new TypeViolationException(message, details);
            case "invalid-property" -> new InvalidPropertyException(message, details);
            case "missing-end" -> new MissingEndException(message, details);
            case "not-unique" -> new NotUniqueException(message, details);
            case "cardinality" -> new CardinalityException(message, details);
            case "wrong-type" -> new WrongTypeException(message, details);
            case "proxy-only" -> new ProxyOnlyException(message, details);
            case "not-home" -> new NotHomeException(message, details);
            case "home-conflict" -> new HomeConflictException(message, details);
            case "invalid-classification" -> new InvalidClassificationException(message, details);
            case "invalid-ends" -> new InvalidEndsException(message, details);
            case "status-not-allowed" -> new StatusNotAllowedException(message, details);
            case "refused" -> new RefusedException(message, details);
            case "future-instant" -> new FutureInstantException(message, details);
            case "digest-mismatch" -> new DigestMismatchException(message, details);
            case "too-large" -> new TooLargeException(message, details);
            case "cancelled" -> new CancelledException(message, details);
            case "no-room" -> new NoRoomException(message, details);
            case "io" -> new IoException(message, details);
            default -> new AnnalsException(kind, message, details);
        };
    }
}
