package dev.latchkey;

/** Thrown when a key cannot be serialized because its hold is bound to this process. */
public final class UnserializableKeyException extends LockException {

    /**
     * Creates an exception for a key that cannot be serialized.
     *
     * @param resource the name of what the lock protects
     * @param reason what binds the hold to this process, in the words of the store
     */
    public UnserializableKeyException(String resource, String reason) {
        super(resource, "its key cannot be serialized: " + reason, null);
    }
}
