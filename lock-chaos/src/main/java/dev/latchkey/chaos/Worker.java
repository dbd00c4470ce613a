package dev.latchkey.chaos;

import dev.latchkey.LockException;
import dev.latchkey.LockFactory;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * The {@code main} of a process that takes locks, until its standard input says that the faults are over; then each of its
 * threads has to be granted a lock once more, and it ends.
 */
final class Worker {

    static final String DSN = "LATCHKEY_CHAOS_DSN";
    static final String READY = "ready ";
    /** What the names of all resources begin with. */
    static final String RESOURCE = "account-";

    /** Sought by two threads of each process. */
    static final int CROWDED = 4;
    /** Sought by one thread of two processes: mostly nobody waits, as for most locks of most programs. */
    static final int LONELY = 8;

    static final int RESOURCES = CROWDED + LONELY;
    static final int ACTORS = 2 * CROWDED + LONELY / 2;

    /** How long it may take to be granted a lock when all is well again. */
    private static final Duration COMEBACK = Duration.ofSeconds(60);

    private Worker() {}

    /**
     * Runs until a byte, or the end, of its input.
     *
     * @param args its name, its log, the port of the register, and the directory of keys that are given away
     * @throws Exception if it cannot go on
     */
    public static void main(String[] args) throws Exception {
        String dsn = Objects.requireNonNull(System.getenv(DSN), DSN);
        try (EventLog log = new EventLog(Path.of(args[1]));
                LockFactory locks = connect(dsn, args[0])) {
            List<Life> lives = new ArrayList<>();
            KeyExchange keys = new KeyExchange(Path.of(args[3]));
            for (int i = 0; i < ACTORS; i++) {
                RegisterClient register = new RegisterClient(Integer.parseInt(args[2]));
                lives.add(new Life(actor(args[0], i, log, register, keys), locks, dsn, log));
            }
            RegisterClient register = new RegisterClient(Integer.parseInt(args[2]));
            Recipient recipient = new Recipient(actor(args[0], ACTORS, log, register, keys), args[0], locks, keys, log);
            System.out.println(READY + System.nanoTime());
            Stalls.watch(args[0], log);
            lives.forEach(Thread::start);
            recipient.start();
            awaitInput();
            lives.forEach(Life::stopSoon);
            for (Life life : lives) {
                life.join(COMEBACK.toMillis());
                if (life.isAlive()) {
                    log.anomaly(life.getName() + " is not granted a lock within " + COMEBACK.toSeconds()
                            + " s though all is well: " + List.of(life.getStackTrace()));
                }
            }
            recipient.stopSoon();
            recipient.join(COMEBACK.toMillis());
        }
        System.exit(0);
    }

    private static Actor actor(String process, int number, EventLog log, RegisterClient register, KeyExchange keys) {
        boolean isCrowded = number < 2 * CROWDED;
        int resource = isCrowded ? number % CROWDED : CROWDED + lonely(process, number - 2 * CROWDED);
        Duration pause = isCrowded ? Duration.ofMillis(30) : Duration.ofMillis(200);
        Actor.Habit habit = resource % 2 == 0 ? Actor.Habit.KEEPS_ITS_MODE : Actor.Habit.CHANGES_ITS_MODE;
        return new Actor(process + "." + number, RESOURCE + resource, pause, habit, log, register, keys);
    }

    /** Every other process seeks the same ones. */
    private static int lonely(String process, int number) {
        int half = LONELY / 2;
        return number + half * (WorkerSlot.number(process) % 2);
    }

    /** Has all been used once, so that no wait begins with the loading of classes; the server may be away meanwhile. */
    private static LockFactory connect(String dsn, String name) throws InterruptedException {
        while (true) {
            LockFactory locks = null;
            try {
                locks = LockFactory.connect(dsn);
                locks.createLock("start of " + name, Duration.ofSeconds(1))
                        .acquire()
                        .close();
                return locks;
            } catch (LockException e) {
                if (locks != null) {
                    locks.close();
                }
                TimeUnit.MILLISECONDS.sleep(100);
            }
        }
    }

    private static void awaitInput() throws IOException {
        if (System.in.read() < 0) {
            // The process that runs the trial is gone.
            Runtime.getRuntime().halt(3);
        }
    }

    private static final class Life extends Thread {

        private final Actor actor;
        private final LockFactory locks;
        private final String dsn;
        private final EventLog log;
        private volatile boolean stopping;

        Life(Actor actor, LockFactory locks, String dsn, EventLog log) {
            super(actor.name());
            this.actor = actor;
            this.locks = locks;
            this.dsn = dsn;
            this.log = log;
            setDaemon(true);
        }

        void stopSoon() {
            stopping = true;
        }

        @Override
        public void run() {
            try {
                boolean last = false;
                while (!last || !actor.cycle(locks)) {
                    last = stopping;
                    if (!last && actor.draw(50) == 0) {
                        reconnect();
                    } else if (!last) {
                        var unused = actor.cycle(locks);
                    }
                }
            } catch (InterruptedException | RuntimeException | Error e) {
                log.anomaly(getName() + " " + e + " at " + List.of(e.getStackTrace()));
            }
        }

        /** As a program does that opens what it needs each time. */
        private void reconnect() throws InterruptedException {
            try (LockFactory own = LockFactory.connect(dsn)) {
                var unused = actor.cycle(own);
            } catch (LockException e) {
                // Nobody answers now.
            }
        }
    }
}
