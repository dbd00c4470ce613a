package dev.latchkey.documents;

import java.util.List;

/**
 * Several documents that were locked together. Closing them releases all. Thread-safe.
 *
 * @param <T> the documents
 */
public final class LockedDocuments<T> implements AutoCloseable {

    private final List<LockedDocument<T>> all;

    LockedDocuments(List<LockedDocument<T>> all) {
        this.all = List.copyOf(all);
    }

    /**
     * Returns the documents.
     *
     * @return in the order in which they were asked for
     */
    public List<LockedDocument<T>> all() {
        return all;
    }

    /**
     * Begins all leases anew.
     *
     * @throws dev.latchkey.LockLostException if one is no longer held; others may be refreshed then
     */
    public void refresh() {
        all.forEach(LockedDocument::refresh);
    }

    /**
     * Gives up all locks.
     *
     * @throws dev.latchkey.LockLostException if somebody else took one after its lease; the others are given up all the same
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
