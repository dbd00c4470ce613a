package dev.latchkey;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;

/** Closes what is still open when the JVM exits, so that others need not wait for leases to end. */
final class ShutdownHook {

    /** A store that hangs must not keep the JVM from ending: its leases end by themselves. */
    private static final Duration LIMIT = Duration.ofSeconds(3);

    private static final Set<FactoryContext> OPEN =
            Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

    static {
        try {
            Runtime.getRuntime().addShutdownHook(new Thread(ShutdownHook::closeAll, "latchkey-exit"));
        } catch (IllegalStateException e) {
            // The JVM is on its way out already: what is taken now ends with its lease.
            OPEN.clear();
        }
    }

    private ShutdownHook() {}

    static void closes(FactoryContext context) {
        OPEN.add(context);
    }

    static void forgets(FactoryContext context) {
        OPEN.remove(context);
    }

    private static void closeAll() {
        Deadline end = Deadline.in(LIMIT);
        List<Thread> closing = List.copyOf(OPEN).stream()
                .filter(FactoryContext::isInUse)
                .map(ShutdownHook::startClosing)
                .toList();
        try {
            for (Thread thread : closing) {
                thread.join(Math.max(1, end.remaining().toMillis()));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static Thread startClosing(FactoryContext context) {
        Thread thread = new Thread(context::close, "latchkey-exit-release");
        thread.setDaemon(true);
        thread.start();
        return thread;
    }
}
