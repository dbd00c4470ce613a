package dev.latchkey.chaos;

import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;

/** A thread of a {@link Worker} that works until it is told to stop, and writes down what it dies of. */
final class ActorThread extends Thread {

    /** What it does. */
    interface Work {

        /** Returns when it has been told to stop, and has finished what it had begun. */
        void run(BooleanSupplier isStopping) throws InterruptedException;
    }

    private final Work work;
    private final EventLog log;
    private volatile boolean stopping;

    ActorThread(String name, EventLog log, Work work) {
        super(name);
        this.work = work;
        this.log = log;
        setDaemon(true);
    }

    /** Has it finish what it has begun; does not wait for that. */
    void stopSoon() {
        stopping = true;
    }

    @Override
    public void run() {
        try {
            work.run(() -> stopping);
        } catch (InterruptedException | RuntimeException | Error e) {
            log.violated(Rule.CONDUCT, getName() + " " + e + " at " + List.of(e.getStackTrace()));
        }
    }

    /** Waits until it has stopped. If that takes too long, that is written down. */
    void awaitEnd(Duration limit) throws InterruptedException {
        join(limit.toMillis());
        if (isAlive()) {
            log.violated(
                    Rule.CONDUCT,
                    getName() + " is not granted a lock within " + limit.toSeconds() + " s though all is well: "
                            + List.of(getStackTrace()));
        }
    }
}
