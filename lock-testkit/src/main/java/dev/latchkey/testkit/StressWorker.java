package dev.latchkey.testkit;

import dev.latchkey.LockFactory;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The {@code main} of a process of a {@link Stress}: threads that take locks at random until its standard input says so,
 * and one that interrupts them.
 */
final class StressWorker {

    static final String DSN = "LATCHKEY_TESTKIT_DSN";
    static final String DRAINED = "drained";

    private static final long DRAIN_MILLIS = Duration.ofSeconds(30).toMillis();

    private StressWorker() {}

    /**
     * Runs until a byte, or the end, of its input.
     *
     * @param args its name, the history, the number of threads and of resources
     * @throws Exception if it cannot go on
     */
    public static void main(String[] args) throws Exception {
        String dsn = Objects.requireNonNull(System.getenv(DSN), DSN);
        int threads = Integer.parseInt(args[2]);
        int resources = Integer.parseInt(args[3]);
        AtomicLong operations = new AtomicLong();
        try (HistoryLog log = new HistoryLog(Path.of(args[1]));
                LockFactory locks = LockFactory.connect(dsn)) {
            List<Actor> actors = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                String name = args[0] + "." + i;
                actors.add(new Actor(new StressActor(locks, log, name, resources, operations), name));
            }
            actors.forEach(Thread::start);
            daemon(() -> report(operations));
            daemon(() -> interrupt(actors, new SplittableRandom(args[0].hashCode())));
            awaitInput();
            actors.forEach(Actor::stopSoon);
            for (Actor actor : actors) {
                actor.join(DRAIN_MILLIS);
                if (actor.isAlive()) {
                    log.anomaly(actor.getName() + " hangs at " + List.of(actor.getStackTrace()));
                }
            }
        }
        System.out.println(DRAINED);
        System.exit(0);
    }

    private static void awaitInput() throws IOException {
        int first = System.in.read();
        if (first < 0) {
            // The process that runs the stress is gone.
            Runtime.getRuntime().halt(3);
        }
    }

    private static void daemon(Runnable work) {
        Thread thread = new Thread(work, "stress-helper");
        thread.setDaemon(true);
        thread.start();
    }

    private static void report(AtomicLong operations) {
        while (pause(200)) {
            System.out.println(operations.get());
        }
    }

    private static void interrupt(List<Actor> actors, SplittableRandom random) {
        while (pause(random.nextInt(5, 200))) {
            actors.get(random.nextInt(actors.size())).interrupt();
        }
    }

    private static boolean pause(int millis) {
        try {
            Thread.sleep(millis);
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private static final class Actor extends Thread {

        private final StressActor actor;
        private volatile boolean stopping;

        Actor(StressActor actor, String name) {
            super(name);
            this.actor = actor;
            setDaemon(true);
        }

        void stopSoon() {
            stopping = true;
        }

        @Override
        public void run() {
            while (!stopping) {
                actor.act();
                // An interrupt that came too late for the wait it was meant for.
                Thread.interrupted();
            }
        }
    }
}
