package dev.latchkey.cli;

/** Starts threads that do not keep the process alive. */
final class Threads {

    private Threads() {}

    static Thread startDaemon(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }
}
