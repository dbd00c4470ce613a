package dev.latchkey.chaos;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.chaos.FaultKind.Lane;
import dev.latchkey.spi.InspectableStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.StoreProvider;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/**
 * One store under chaos: its servers and the register are started, processes take locks, faults strike; then all is well again,
 * the processes come to rest, and what they wrote down can be judged.
 *
 * @param length how long faults strike
 * @param seed of the faults
 * @param directory an empty one, for the logs
 * @param weather how faults and quiet times take turns
 */
record Trial(Duration length, long seed, Path directory, FaultSchedule weather) {

    static final int PLACES = 4;

    /** What a lease may take to end that nobody releases, whatever the store adds to it. */
    private static final Duration LONGEST_REMAINS = Actor.LONGEST_TTL.plusSeconds(10);

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
                places.add(new WorkerSlot("w" + i, backing, registerPort, logs));
            }
            places.forEach(place -> place.worker().awaitReady());
            strike(backing, places, log);
            bringToRest(places, log);
        } finally {
            places.forEach(WorkerSlot::close);
        }
    }

    private void strike(StoreUnderTest backing, List<WorkerSlot> places, EventLog log)
            throws IOException, InterruptedException {
        FaultInjector striker = new FaultInjector(backing, places, log);
        long began = System.nanoTime();
        List<CompletableFuture<Void>> lanes = new ArrayList<>();
        List<String> plan = new ArrayList<>();
        for (Lane lane : Lane.values()) {
            List<Fault> faults = Faults.draw(
                    seed,
                    lane,
                    backing.allFaults(),
                    places.size(),
                    backing.servers().size(),
                    length,
                    weather);
            faults.forEach(fault -> plan.add(fault.toString()));
            // The common pool has one thread where there are two processors.
            CompletableFuture<Void> strikes = CompletableFuture.runAsync(
                    () -> strikeAll(striker, faults, began), work -> new Thread(work, "lane " + lane).start());
            // The other lane may wait for a process that cannot begin now.
            lanes.add(strikes.whenComplete((done, failure) -> {
                if (failure != null) {
                    places.forEach(place -> place.worker().kill());
                }
            }));
        }
        Files.write(directory.resolve("faults"), plan);
        CompletableFuture.allOf(lanes.toArray(CompletableFuture[]::new)).join();
        long left = length.toNanos() - (System.nanoTime() - began);
        TimeUnit.NANOSECONDS.sleep(left);
    }

    private void strikeAll(FaultInjector striker, List<Fault> faults, long began) {
        try {
            striker.strikeAll(faults, began, length);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CompletionException(e);
        }
    }

    private static void bringToRest(List<WorkerSlot> places, EventLog log) throws InterruptedException {
        places.forEach(place -> place.worker().finish());
        for (WorkerSlot place : places) {
            if (!place.worker().awaitRest()) {
                log.anomaly(place.worker().name() + " did not come to rest, or ended by itself");
            }
        }
    }

    /** Of those who are gone, killed ones among them, nothing may be left once the longest lease is over. */
    private static void lookForLeftovers(StoreUnderTest backing, EventLog log) throws InterruptedException {
        try (PersistingStore store = StoreProvider.connect(backing.directDsn());
                LockFactory locks = new LockFactory(store)) {
            for (String resource : IntStream.range(0, Worker.RESOURCES)
                    .mapToObj(i -> Worker.RESOURCE + i)
                    .toList()) {
                if (!isHad(locks.createLock(resource))) {
                    log.left(resource + " is not to be had by a newcomer");
                }
                store.capability(InspectableStore.class)
                        .ifPresent(look -> look.holders(resource)
                                .forEach(holder -> log.left(resource + " is still held: " + holder)));
            }
        }
        backing.leftovers().get().forEach(log::left);
    }

    /** Servers that have just been struck, and a busy machine, may not answer at once. */
    private static boolean isHad(Lock lock) throws InterruptedException {
        long began = System.nanoTime();
        while (true) {
            try {
                return lock.tryAcquire(LONGEST_REMAINS) && lock.release();
            } catch (LockStorageException e) {
                if (System.nanoTime() - began > LONGEST_REMAINS.toNanos()) {
                    throw e;
                }
            }
        }
    }
}
