package dev.latchkey;

import java.lang.ref.Cleaner;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Notices Locks that were garbage-collected while they held something that would not end by itself: a hold that the
 * factory renews, or one without a lease. One thread for all factories of the JVM, which does no I/O.
 */
final class Abandonment {

    private static final Set<String> OURS = Set.of(
            Abandonment.class.getName(),
            Lock.class.getName(),
            LockFactory.class.getName(),
            LockBuilder.class.getName());

    private static final Cleaner CLEANER = Cleaner.create(task -> {
        Thread thread = new Thread(task, "latchkey-cleaner");
        thread.setDaemon(true);
        return thread;
    });

    private Abandonment() {}

    /** Nothing given here may lead to the Lock itself, but for what its listeners captured. */
    static void watch(Lock lock, Ownership ownership) {
        StackWalker.StackFrame creation = caller();
        CLEANER.register(lock, () -> ownership.abandon(creation));
    }

    private static StackWalker.@Nullable StackFrame caller() {
        return StackWalker.getInstance()
                .walk(frames -> frames.filter(frame -> !OURS.contains(frame.getClassName()))
                        .findFirst()
                        .orElse(null));
    }
}
