package dev.latchkey.documents;

import com.mongodb.client.ClientSession;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One attempt at several writes that belong together. Only what is written through {@link #in} or with {@link #session} is
 * part of it. For the thread that runs the work.
 */
public final class UnitOfWork {

    private final @Nullable ClientSession session;
    private final Map<String, Object> made;
    private final List<Runnable> afterCommit = new ArrayList<>();

    /**
     * Begins an attempt.
     *
     * @param made what {@link #once} gave in earlier attempts
     */
    UnitOfWork(@Nullable ClientSession session, Map<String, Object> made) {
        this.session = session;
        this.made = made;
    }

    /** What attempts of the same work remember. */
    static Map<String, Object> memory() {
        return new HashMap<>();
    }

    /**
     * Returns the session for commands of the application's own that are to be part of the transaction, reads among them.
     *
     * @return empty if this is done without a transaction
     */
    public Optional<ClientSession> session() {
        return Optional.ofNullable(session);
    }

    /**
     * Makes a view of a collection whose reads and writes are part of the transaction.
     *
     * @param collection of the same client
     * @param <T> the documents
     * @return the collection itself if this is done without a transaction
     */
    public <T> VersionedCollection<T> in(VersionedCollection<T> collection) {
        return session == null ? collection : collection.in(session);
    }

    /**
     * Makes a view of a locked document whose writes are part of the transaction. Its lock is neither renewed nor released by
     * it: {@link LockedDocument#close()} does nothing there. Without a transaction each write is done for itself, and the lock
     * can be renewed or given up by the calls that say so.
     *
     * @param held locked before the work began, since a transaction does not see what came later; released after it, since a
     *     release waits for a transaction that has written the document
     * @param <T> the documents
     * @return the view
     */
    public <T> LockedDocument<T> in(LockedDocument<T> held) {
        return session == null ? held.view() : held.in(session);
    }

    /**
     * Does something in the first attempt only, and gives its result again in later ones: for hooks that others must not
     * see twice, and for values that must stay the same.
     *
     * @param name different for each use in this work
     * @param hook what to do, which may give null, without writes that are to be part of the transaction: those must be repeated
     * @param <V> what it gives
     * @return what the hook gave when it was called
     */
    @SuppressWarnings("unchecked") // the name stands for one use
    public <V> V once(String name, Supplier<V> hook) {
        if (!made.containsKey(name)) {
            made.put(name, hook.get());
        }
        return (V) made.get(name);
    }

    /**
     * Has something done when all is committed, and not at all if it is not: for messages, caches, objects in memory.
     *
     * @param hook called once, after the work, in the order of registration
     */
    public void afterCommit(Runnable hook) {
        afterCommit.add(hook);
    }

    /** Calls all of them, whatever each does. */
    void committed() {
        List<RuntimeException> failures = new ArrayList<>();
        for (Runnable hook : afterCommit) {
            try {
                hook.run();
            } catch (RuntimeException e) {
                failures.add(e);
            }
        }
        if (!failures.isEmpty()) {
            IllegalStateException failure = new IllegalStateException(
                    "all is committed, but what was to be done after it failed: do not repeat the work",
                    failures.get(0));
            failures.subList(1, failures.size()).forEach(failure::addSuppressed);
            throw failure;
        }
    }
}
