package dev.latchkey.documents;

import java.util.List;

/**
 * Several documents that were locked together. Closing this object releases all of them. Thread-safe.
 *
 * @param <T> the type of the documents
 */
public final class LockedDocuments<T> implements AutoCloseable {

    private final List<LockedDocument<T>> all;

    LockedDocuments(List<LockedDocument<T>> all) {
        this.all = List.copyOf(all);
    }

    /**
     * Returns the documents.
     *
     * @return the documents in the requested order
     */
    public List<LockedDocument<T>> all() {
        return all;
    }

    /**
     * Starts all leases again.
     *
     * @throws dev.latchkey.LockLostException if a lock is no longer held; others may have been refreshed
     */
    public void refresh() {
        all.forEach(LockedDocument::refresh);
    }

    /**
     * Releases all locks.
     *
     * @throws dev.latchkey.LockLostException if a lock was lost and no call has reported it; the other locks are released
     *     nevertheless
     */
    @Override
    public void close() {
        RuntimeException first = null;
        for (LockedDocument<T> one : all) {
            try {
                one.close();
            } catch (RuntimeException e) {
                if (first == null) {
                    first = e;
                } else {
                    first.addSuppressed(e);
                }
            }
        }
        if (first != null) {
            throw first;
        }
    }
}
