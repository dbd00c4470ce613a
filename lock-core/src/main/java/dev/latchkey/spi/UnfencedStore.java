package dev.latchkey.spi;

/**
 * A store whose holds never have a fencing token. If it has no leases either ({@link ExpiringStore}), a
 * {@link dev.latchkey.combined.CombinedStore} refuses it as a member: after the part of a hold has ended there, neither a
 * number nor a time tells what the old holder still writes from what the new one does.
 */
public interface UnfencedStore extends PersistingStore {

    /**
     * Returns what to use where fencing tokens are needed.
     *
     * @return the end of the sentence "For fencing tokens, use …"
     */
    String alternative();
}
