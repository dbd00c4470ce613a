package dev.latchkey.chaos;

import dev.latchkey.chaos.FaultKind.Lane;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

/**
 * Faults for a certain time, in storms and calms, drawn beforehand. Those of different lanes strike at the same time.
 *
 * @param length how long faults strike
 * @param seed of the faults
 * @param weather how faults and quiet times take turns
 * @param plan a file for what was drawn
 */
record TimedFaults(Duration length, long seed, FaultSchedule weather, Path plan) implements FaultPattern {

    @Override
    public void strike(StoreUnderTest store, List<WorkerSlot> places, EventLog log)
            throws IOException, InterruptedException {
        FaultInjector injector = new FaultInjector(store, places, log);
        long began = System.nanoTime();
        List<CompletableFuture<Void>> lanes = new ArrayList<>();
        List<String> drawn = new ArrayList<>();
        for (Lane lane : Lane.values()) {
            int servers = store.servers().size();
            List<Fault> faults = Faults.draw(seed, lane, store.allFaults(), places.size(), servers, length, weather);
            faults.forEach(fault -> drawn.add(fault.toString()));
            // The common pool has one thread where there are two processors.
            CompletableFuture<Void> strikes = CompletableFuture.runAsync(
                    () -> strikeAll(injector, faults, began), work -> new Thread(work, "lane " + lane).start());
            // The other lane may wait for a process that cannot begin now.
            lanes.add(strikes.whenComplete((done, failure) -> {
                if (failure != null) {
                    places.forEach(place -> place.worker().kill());
                }
            }));
        }
        Files.write(plan, drawn);
        CompletableFuture.allOf(lanes.toArray(CompletableFuture[]::new)).join();
        long left = length.toNanos() - (System.nanoTime() - began);
        TimeUnit.NANOSECONDS.sleep(left);
    }

    private void strikeAll(FaultInjector injector, List<Fault> faults, long began) {
        try {
            injector.strikeAll(faults, began, length);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CompletionException(e);
        }
    }

    @Override
    public String toString() {
        return "%d s, seed %d".formatted(length.toSeconds(), seed);
    }
}
