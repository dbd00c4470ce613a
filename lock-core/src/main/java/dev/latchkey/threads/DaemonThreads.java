package dev.latchkey.threads;

import org.jspecify.annotations.Nullable;

/**
 * Makes threads that outlive what the thread does that happens to need them first. So they have none of its inheritable values,
 * as the identity of a user may be one, and the context class loader of the thread that made this object. Daemons, all of them.
 */
public final class DaemonThreads {

    /** From Java 19 on, a thread that inherits nothing has that of the system, which need not see the application. */
    private final @Nullable ClassLoader loader = Thread.currentThread().getContextClassLoader();

    /** Makes no thread yet. */
    public DaemonThreads() {}

    /**
     * Makes a thread, which is not started yet.
     *
     * @param task what it does
     * @param name its name
     * @return the thread
     */
    public Thread make(Runnable task, String name) {
        Thread thread = new Thread(null, task, name, 0, false);
        thread.setDaemon(true);
        thread.setContextClassLoader(loader);
        return thread;
    }
}
