package dev.latchkey.chaos;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.InspectableStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.StoreProvider;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * One store under chaos: its servers and the register are started, processes take locks, faults strike; then all is well again,
 * the processes come to rest, and what they wrote down can be judged.
 *
 * @param workload what the processes do
 * @param faults what strikes
 * @param directory an empty one, for the logs
 */
record Trial(Workload workload, FaultPattern faults, Path directory) {

    /** A trial of {@code ./chaos}. */
    static Trial chaos(Workload workload, Duration length, long seed, FaultSchedule weather, Path directory) {
        return new Trial(workload, new TimedFaults(length, seed, weather, directory.resolve("faults")), directory);
    }

    /** A trial of {@code ./stress}. */
    static Trial stress(Workload workload, RapidFaults faults, Path directory) {
        return new Trial(workload, faults, directory);
    }

    static final int PLACES = 4;

    /** After a fault, and on a busy machine, a server may not answer for so long. */
    private static final Duration SILENT = Duration.ofSeconds(13);

    /**
     * Runs.
     *
     * @param backing the store, with its servers running
     * @return what happened
     * @throws IOException if a log cannot be written or read
     * @throws InterruptedException if interrupted
     */
    History run(StoreUnderTest backing) throws IOException, InterruptedException {
        Path logs = Files.createDirectory(directory.resolve("events"));
        try (EventLog log = new EventLog(logs.resolve("trial"));
                EventLog accesses = new EventLog(logs.resolve("register"));
                Register register = Register.open(accesses)) {
            Stalls.watch("trial", log);
            CpuStarvation.watch(log);
            work(backing, register.port(), logs, log);
            lookForLeftovers(backing, log);
        }
        return History.read(logs);
    }

    private void work(StoreUnderTest backing, int registerPort, Path logs, EventLog log)
            throws IOException, InterruptedException {
        List<WorkerSlot> places = new ArrayList<>();
        try {
            for (int i = 0; i < PLACES; i++) {
                places.add(new WorkerSlot("w" + i, backing, workload, registerPort, logs));
            }
            places.forEach(place -> place.worker().awaitReady());
            strike(backing, places, log);
            bringToRest(places, log);
        } finally {
            places.forEach(WorkerSlot::close);
        }
    }

    /** Watched while faults strike: who comes to rest is not to be kept from it by an observer that takes locks. */
    private void strike(StoreUnderTest backing, List<WorkerSlot> places, EventLog log)
            throws IOException, InterruptedException {
        List<ServerObserver> observers =
                backing.observers().stream().map(opening -> opening.apply(log)).toList();
        try {
            faults.strike(backing, places, log);
        } finally {
            observers.forEach(ServerObserver::close);
        }
    }

    private static void bringToRest(List<WorkerSlot> places, EventLog log) throws InterruptedException {
        places.forEach(place -> place.worker().finish());
        for (WorkerSlot place : places) {
            if (!place.worker().awaitRest()) {
                log.violated(Rule.CONDUCT, place.worker().name() + " did not come to rest, or ended by itself");
            }
        }
    }

    /** Of those who are gone, killed ones among them, nothing may be left once the longest lease is over. */
    private void lookForLeftovers(StoreUnderTest backing, EventLog log) throws InterruptedException {
        try (PersistingStore store = StoreProvider.connect(backing.directDsn());
                LockFactory locks = new LockFactory(store)) {
            for (String resource : workload.resources()) {
                if (!isHad(locks.createLock(resource), workload.longestRemains())) {
                    log.violated(Rule.LEFTOVERS, resource + " is not to be had by a newcomer");
                }
                store.capability(InspectableStore.class)
                        .ifPresent(look -> look.holders(resource)
                                .forEach(holder ->
                                        log.violated(Rule.LEFTOVERS, resource + " is still held: " + holder)));
            }
        }
        backing.leftovers().get().forEach(left -> log.violated(Rule.LEFTOVERS, left));
    }

    private static boolean isHad(Lock lock, Duration limit) throws InterruptedException {
        long began = System.nanoTime();
        while (true) {
            try {
                return lock.tryAcquire(limit) && lock.release();
            } catch (LockStorageException e) {
                if (System.nanoTime() - began > SILENT.toNanos()) {
                    throw e;
                }
            }
        }
    }
}
