package dev.latchkey.chaos;

import dev.latchkey.LockFactory;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** The thread of a {@link Worker} that takes the keys which other processes give away, and goes on with what they hold. */
final class Recipient extends Thread {

    private static final long PAUSE_MILLIS = 10;

    private final Actor actor;
    private final String process;
    private final LockFactory locks;
    private final KeyExchange keys;
    private final EventLog log;
    private volatile boolean stopping;

    Recipient(Actor actor, String process, LockFactory locks, KeyExchange keys, EventLog log) {
        super(actor.name());
        this.actor = actor;
        this.process = process;
        this.locks = locks;
        this.keys = keys;
        this.log = log;
        setDaemon(true);
    }

    void stopSoon() {
        stopping = true;
    }

    @Override
    public void run() {
        try {
            while (!stopping) {
                Optional<KeyExchange.Offer> given = keys.take(process);
                if (given.isPresent()) {
                    actor.receive(locks, given.get());
                } else {
                    TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
                }
            }
        } catch (InterruptedException | RuntimeException | Error e) {
            log.anomaly(getName() + " " + e + " at " + List.of(e.getStackTrace()));
        }
    }
}
