package dev.latchkey;

import java.lang.ref.Cleaner;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notices that a Lock was garbage-collected while it held something that does not end by itself: a hold that the factory
 * renews, or one without a lease. It is told, and nothing else: the work may still go on. One thread for all factories of the
 * JVM, which does no I/O.
 *
 * <p>What is held leads to the listeners of the user, and may so lead to the Lock: it is known here only while it is held.
 */
final class LeakDetector implements Runnable {

    private static final Logger log = LoggerFactory.getLogger(Lock.class);

    private static final Set<String> OURS = Set.of(
            LeakDetector.class.getName(),
            Lock.class.getName(),
            LockFactory.class.getName(),
            LockBuilder.class.getName());

    /** What is held by Locks that are gone: neither it nor its factory may be collected before it ends. */
    private static final Set<LockEngine> LEFT = ConcurrentHashMap.newKeySet();

    private static final Cleaner CLEANER = Cleaner.create(task -> {
        Thread thread = new Thread(task, "latchkey-cleaner");
        thread.setDaemon(true);
        return thread;
    });

    private final StackWalker.@Nullable StackFrame creation = caller();
    private @Nullable LockEngine held;

    private LeakDetector() {}

    static LeakDetector watch(Lock lock) {
        LeakDetector leakDetector = new LeakDetector();
        CLEANER.register(lock, leakDetector);
        return leakDetector;
    }

    synchronized void begins(LockEngine engine) {
        held = engine;
    }

    /** Forgets what is not held any more. */
    synchronized void mayHaveEnded() {
        if (held != null && held.state().hold().isEmpty()) {
            ends();
        }
    }

    /** What is held stays in the store, as its holder wants it. */
    synchronized void ends() {
        LockEngine ended = held;
        held = null;
        if (ended != null) {
            LEFT.remove(ended);
        }
    }

    /** The Lock is gone. */
    @Override
    public void run() {
        LockEngine left = leave();
        if (left != null) {
            log.warn(
                    "lock.abandoned resource={} kept: the Lock made at {} was garbage-collected while held; release it or close it",
                    LockException.shown(left.state().resource()),
                    creation);
        }
    }

    private synchronized @Nullable LockEngine leave() {
        LockEngine left = held;
        if (left == null || left.state().hold().isEmpty()) {
            return null;
        }
        LEFT.add(left);
        return left;
    }

    private static StackWalker.@Nullable StackFrame caller() {
        return StackWalker.getInstance()
                .walk(frames -> frames.filter(frame -> !OURS.contains(frame.getClassName()))
                        .findFirst()
                        .orElse(null));
    }
}
