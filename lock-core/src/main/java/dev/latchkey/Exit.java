package dev.latchkey;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;

/** Closes what is still open when the JVM exits, so that others need not wait for leases to end. */
final class Exit {

    /** A store that hangs must not keep the JVM from ending: its leases end by themselves. */
    private static final Duration LIMIT = Duration.ofSeconds(3);

    private static final Set<Backend> OPEN =
            Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

    static {
        try {
            Runtime.getRuntime().addShutdownHook(new Thread(Exit::closeAll, "latchkey-exit"));
        } catch (IllegalStateException e) {
            // The JVM is on its way out already: what is taken now ends with its lease.
            OPEN.clear();
        }
    }

    private Exit() {}

    static void closes(Backend backend) {
        OPEN.add(backend);
    }

    static void forgets(Backend backend) {
        OPEN.remove(backend);
    }

    private static void closeAll() {
        Deadline end = Deadline.in(LIMIT);
        List<Thread> closing = List.copyOf(OPEN).stream()
                .filter(Backend::isInUse)
                .map(Exit::startClosing)
                .toList();
        try {
            for (Thread thread : closing) {
                thread.join(Math.max(1, end.remaining().toMillis()));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static Thread startClosing(Backend backend) {
        Thread thread = new Thread(backend::close, "latchkey-exit-release");
        thread.setDaemon(true);
        thread.start();
        return thread;
    }
}
