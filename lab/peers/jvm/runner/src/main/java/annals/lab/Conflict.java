package annals.lab;

/** The system has refused a transaction because of another one; it may succeed when it is repeated. */
public final class Conflict extends Exception {
    private static final long serialVersionUID = 1;

    public Conflict(Throwable cause) {
        // Without a stack trace: some systems refuse thousands of transactions in a second.
        super(String.valueOf(cause.getMessage()), cause, false, false);
    }
}
