package dev.latchkey.chaos;

import dev.latchkey.LockException;
import dev.latchkey.LockFactory;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;

/**
 * The {@code main} of a process that takes locks, until its standard input says that the faults are over; then each of its
 * threads has to be granted a lock once more, and it ends.
 */
final class Worker {

    static final String DSN = "LATCHKEY_CHAOS_DSN";
    static final String READY = "ready ";

    /** How long it may take to be granted a lock when all is well again. */
    private static final Duration COMEBACK = Duration.ofSeconds(60);

    private static final int REPORT_MILLIS = 200;
    private static final int LOOK_FOR_KEYS_MILLIS = 10;

    private final String name;
    private final Workload workload;
    private final String dsn;
    private final EventLog log;
    private final KeyExchange keys;
    private final int registerPort;
    private final AtomicLong operations = new AtomicLong();

    private Worker(String[] args, String dsn, EventLog log) {
        this.name = args[0];
        this.dsn = dsn;
        this.log = log;
        this.registerPort = Integer.parseInt(args[2]);
        this.keys = new KeyExchange(Path.of(args[3]));
        this.workload = Workload.named(args[4]);
    }

    /**
     * Runs until a byte, or the end, of its input. Says when it is ready, and then again and again how many calls have asked the
     * store.
     *
     * @param args its name, its log, the port of the register, the directory of keys that are given away, and the workload
     * @throws Exception if it cannot go on
     */
    public static void main(String[] args) throws Exception {
        String dsn = Objects.requireNonNull(System.getenv(DSN), DSN);
        try (EventLog log = new EventLog(Path.of(args[1]));
                LockFactory locks = connect(dsn, args[0])) {
            new Worker(args, dsn, log).run(locks);
        }
        System.exit(0);
    }

    private void run(LockFactory locks) throws IOException, InterruptedException {
        List<ActorThread> actors = new ArrayList<>();
        for (int i = 0; i < workload.actors(); i++) {
            Actor actor = actor(i);
            actors.add(new ActorThread(actor.name(), log, isStopping -> takeLocks(actor, locks, isStopping)));
        }
        Actor recipient = actor(workload.actors());
        ActorThread receiving =
                new ActorThread(recipient.name(), log, isStopping -> takeKeys(recipient, locks, isStopping));
        System.out.println(READY + System.nanoTime());
        Stalls.watch(name, log);
        actors.forEach(Thread::start);
        receiving.start();
        Daemon.start("reporter", this::report);
        if (workload.isInterrupted()) {
            Daemon.start("interrupter", () -> interrupt(actors));
        }
        awaitInput();
        actors.forEach(ActorThread::stopSoon);
        for (ActorThread actor : actors) {
            actor.awaitEnd(COMEBACK);
        }
        receiving.stopSoon();
        receiving.join(COMEBACK.toMillis());
        System.out.println(operations.get());
    }

    private Actor actor(int number) {
        ActorContext context = new ActorContext(name + "." + number, workload, log, operations);
        return new Actor(context, workload.seat(name, number), new RegisterClient(registerPort), keys);
    }

    private void takeLocks(Actor actor, LockFactory locks, BooleanSupplier isStopping) throws InterruptedException {
        boolean last = false;
        while (!last || !cycle(actor, locks)) {
            last = isStopping.getAsBoolean();
            if (!last && actor.reconnects()) {
                reconnect(actor);
            } else if (!last) {
                var unused = cycle(actor, locks);
            }
        }
    }

    private boolean cycle(Actor actor, LockFactory locks) throws InterruptedException {
        boolean granted = actor.cycle(locks);
        if (workload.isInterrupted()) {
            // One that came too late for the wait it was meant for.
            var unused = Thread.interrupted();
        }
        return granted;
    }

    /** As a program does that opens what it needs each time. */
    private void reconnect(Actor actor) throws InterruptedException {
        try (LockFactory own = LockFactory.connect(dsn)) {
            var unused = cycle(actor, own);
        } catch (LockException e) {
            // Nobody answers now.
        }
    }

    /** Takes the keys which other processes give away, and goes on with what they hold. */
    private void takeKeys(Actor actor, LockFactory locks, BooleanSupplier isStopping) throws InterruptedException {
        while (!isStopping.getAsBoolean()) {
            Optional<KeyExchange.Offer> given = keys.take(name);
            if (given.isPresent()) {
                actor.receive(locks, given.get());
            } else {
                TimeUnit.MILLISECONDS.sleep(LOOK_FOR_KEYS_MILLIS);
            }
        }
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

    private void report() {
        while (pause(REPORT_MILLIS)) {
            System.out.println(operations.get());
        }
    }

    private void interrupt(List<ActorThread> actors) {
        SplittableRandom random = new SplittableRandom(name.hashCode());
        while (pause(random.nextInt(5, 200))) {
            actors.get(random.nextInt(actors.size())).interrupt();
        }
    }

    private static boolean pause(int millis) {
        try {
            TimeUnit.MILLISECONDS.sleep(millis);
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
