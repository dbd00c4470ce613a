package dev.latchkey.spring;

import dev.latchkey.LockConflictedException;
import dev.latchkey.LockFactory;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Runs work under a lock as {@link Locked} does: acquires, runs, and releases after the transaction.
 *
 * <pre>{@code
 * Report report = locks.call("report:" + id, () -> render(id));
 * }</pre>
 *
 * <p>Thread-safe. A bean of this type is configured by the properties {@code latchkey.*}.
 */
public final class LockTemplate {

    private final Acquirer acquirer;
    private final String prefix;
    private final LockSettings settings;

    /**
     * Makes a template over a factory that stays the caller's.
     *
     * @param factory where locks are made
     * @param prefix put before each key, with a colon; empty for none
     * @param ttl of each lease, which is renewed at every third of it while the work runs
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
         * @throws X as it likes
         */
        T call() throws X;
    }

    /** Work without a result. */
    @FunctionalInterface
    public interface Run<X extends Throwable> {
        /**
         * Does the work.
         *
         * @throws X as it likes
         */
        void run() throws X;
    }

    /**
     * Waits for the lock as long as it takes, and runs work under it.
     *
     * @param key what to lock
     * @param work what to run
     * @param <T> what it returns
     * @param <X> what it throws
     * @return its result
     * @throws X if it throws that
     * @throws LockConflictedException if the thread was interrupted while it waited; its flag is set then
     * @throws dev.latchkey.LockLostException if the lock was lost before the work had ended
     * @throws dev.latchkey.LockStorageException if the store failed, and the work was not begun
     */
    public <T extends @Nullable Object, X extends Throwable> T call(String key, Call<T, X> work) throws X {
        LockedWork<T, X> locked = new LockedWork<>(acquirer, resource(key), settings);
        return locked.run(work, () -> {
            throw new IllegalStateException("it waits, and is never skipped");
        });
    }

    /**
     * Waits for the lock as long as it takes, and runs work under it.
     *
     * @param key what to lock
     * @param work what to run
     * @param <X> what it throws
     * @throws X as {@link #call}
     */
    public <X extends Throwable> void run(String key, Run<X> work) throws X {
        boolean unused = this.<Boolean, X>call(key, () -> {
            work.run();
            return true;
        });
    }

    /**
     * Runs work under the lock unless another holds it.
     *
     * @param key what to lock
     * @param work what to run
     * @param <X> what it throws
     * @return whether it has run
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
