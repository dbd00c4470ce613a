package dev.latchkey.cli;

/** Creates threads that do not keep the process alive. */
final class Threads {

    private Threads() {}

    static Thread startDaemon(String name, Runnable task) {
        Thread thread = daemon(name, task);
        thread.start();
        return thread;
    }

    static Thread daemon(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        return thread;
    }
}
