package annals.lab;

/** The system cannot do what a request asks for. */
public final class Skip extends Exception {
    private static final long serialVersionUID = 1;

    public Skip(String reason) {
        super(reason);
    }
}
