package dev.latchkey.chaos;

/** Threads that keep no process from ending. */
final class Daemon {

    private Daemon() {}

    static void start(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
    }
}
