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
 * One attempt at several writes that belong together. Only what is written through {@link #in} or with {@link #session}
 * is part of it. Only the thread that runs the work may use it.
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
     * Returns the session for the application's own commands that belong to the transaction, including reads.
     *
     * @return empty if the work runs without a transaction
     */
    public Optional<ClientSession> session() {
        return Optional.ofNullable(session);
    }

    /**
     * Returns a view of a collection whose reads and writes are part of the transaction.
     *
     * @param collection a collection of the same client
     * @param <T> the type of the documents
     * @return the collection itself if the work runs without a transaction
     */
    public <T> VersionedCollection<T> in(VersionedCollection<T> collection) {
        return session == null ? collection : collection.in(session);
    }

    /**
     * Returns a view of a locked document whose writes are part of the transaction. The view neither renews nor releases
     * the lock: its {@link LockedDocument#close()} does nothing. Without a transaction, each write is separate, and the
     * methods that renew or release the lock work.
     *
     * @param held a document that was locked before the work started, because a transaction does not see later changes.
     *     Release it after the work, because a release waits for a transaction that has written the document
     * @param <T> the type of the documents
     * @return the view
     */
    public <T> LockedDocument<T> in(LockedDocument<T> held) {
        return session == null ? held.view() : held.in(session);
    }

    /**
     * Calls a hook in the first attempt only, and returns the same result in later attempts. Use it for effects that
     * others must not see twice, and for values that must stay the same.
     *
     * @param name a different name for each use in this work
     * @param hook the hook, which may return null. It must not write what belongs to the transaction, because such writes
     *     must be repeated
     * @param <V> the type of the result
     * @return the result of the hook
     */
    @SuppressWarnings("unchecked") // the name stands for one use
    public <V> V once(String name, Supplier<V> hook) {
        if (!made.containsKey(name)) {
            made.put(name, hook.get());
        }
        return (V) made.get(name);
    }

    /**
     * Adds a hook that is called after everything was committed, and not at all otherwise: for messages, caches, and
     * objects in memory.
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
