package dev.latchkey.testkit;

/** A command failed in a {@link SecondProcess}. */
public final class RemoteFailure extends RuntimeException {

    private final String type;

    RemoteFailure(String type, String message) {
        super(type + ": " + message);
        this.type = type;
    }

    /**
     * Returns what was thrown there.
     *
     * @return the simple name of the exception's class, for instance {@code LockLostException}
     */
    public String type() {
        return type;
    }
}
