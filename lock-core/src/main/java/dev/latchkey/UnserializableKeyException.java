package dev.latchkey;

/** The key cannot travel: its hold is bound to this process. */
public final class UnserializableKeyException extends LockException {

    /**
     * Says which key cannot travel, and why.
     *
     * @param resource what the lock protects
     * @param reason what binds the hold to this process, as the store says it
     */
    public UnserializableKeyException(String resource, String reason) {
        super(resource, "its key cannot be serialized: " + reason, null);
    }
}
