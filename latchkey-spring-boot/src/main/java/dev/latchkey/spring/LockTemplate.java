package dev.latchkey.spring;

import dev.latchkey.LockConflictedException;
import dev.latchkey.LockFactory;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Runs work under a lock, in the same way as {@link Locked}: the lock is acquired before the work, renewed while it runs, and
 * released after the work and its transaction have ended.
 *
 * <pre>{@code
 * Report report = locks.call("report:" + id, () -> render(id));
 * }</pre>
 *
 * <p>The auto-configured bean uses the properties {@code latchkey.*}.
 *
 * <p>Thread-safe.
 */
public final class LockTemplate {

    private final Acquirer acquirer;
    private final String prefix;
    private final LockSettings settings;

    /**
     * Creates a template over a factory that the caller owns. Before a commit, the store of the factory is asked whether the
     * lock is still held.
     *
     * @param factory the factory that creates the locks
     * @param prefix the prefix of each key, which is followed by a colon; empty for no prefix
     * @param ttl the TTL of each lease, which is renewed after each third of it while the work runs
     */
    public LockTemplate(LockFactory factory, String prefix, Duration ttl) {
        this(new Acquirer(() -> factory, () -> CommitCheck.BY_THE_STORE), prefix, ttl);
    }

    LockTemplate(Acquirer acquirer, String prefix, Duration ttl) {
        this.acquirer = acquirer;
        this.prefix = Objects.requireNonNull(prefix, "prefix");
        this.settings = LockSettings.waiting(ttl);
    }

    /** Work with a result. */
    @FunctionalInterface
    public interface Call<T extends @Nullable Object, X extends Throwable> {
        /**
         * Does the work.
         *
         * @return its result
         * @throws X if the work fails
         */
        T call() throws X;
    }

    /** Work without a result. */
    @FunctionalInterface
    public interface Run<X extends Throwable> {
        /**
         * Does the work.
         *
         * @throws X if the work fails
         */
        void run() throws X;
    }

    /**
     * Waits for the lock without a limit, and runs work under it.
     *
     * @param key the key of the lock
     * @param work the work
     * @param <T> the type of the result
     * @param <X> the type of the exception that the work throws
     * @return the result of the work
     * @throws X if the work throws it
     * @throws LockConflictedException if the thread was interrupted while it waited; its interrupt flag stays set
     * @throws IllegalStateException if the result may go on after the release, such as a {@code CompletableFuture} that is
     *     not done, or if this thread holds the lock in shared mode
     * @throws dev.latchkey.LockLostException if the lock was lost before the work had ended
     * @throws dev.latchkey.LockStorageException if the store failed: before the work, or when it was asked before a commit,
     *     which is then rolled back; the work may have run in part
     * @throws IllegalArgumentException if the key is empty, too long or not valid Unicode
     */
    public <T extends @Nullable Object, X extends Throwable> T call(String key, Call<T, X> work) throws X {
        LockedWork<T, X> locked = new LockedWork<>(acquirer, resource(key), settings);
        return locked.run(work, () -> {
            throw new IllegalStateException("it waits, and is never skipped");
        });
    }

    /**
     * Waits for the lock without a limit, and runs work without a result under it.
     *
     * @param key the key of the lock
     * @param work the work
     * @param <X> the type of the exception that the work throws
     * @throws X as {@link #call}
     */
    public <X extends Throwable> void run(String key, Run<X> work) throws X {
        boolean unused = this.<Boolean, X>call(key, () -> {
            work.run();
            return true;
        });
    }

    /**
     * Runs work under the lock, unless another holder has it.
     *
     * @param key the key of the lock
     * @param work the work
     * @param <X> the type of the exception that the work throws
     * @return whether the work was run
     * @throws X as {@link #call}
     */
    public <X extends Throwable> boolean tryRun(String key, Run<X> work) throws X {
        LockedWork<Boolean, X> locked = new LockedWork<>(acquirer, resource(key), settings.skipping());
        return locked.run(
                () -> {
                    work.run();
                    return true;
                },
                () -> false);
    }

    private String resource(String key) {
        if (key.isEmpty()) {
            throw new IllegalArgumentException("the key is empty: all calls would share one lock");
        }
        return prefix.isEmpty() ? key : prefix + ":" + key;
    }
}
