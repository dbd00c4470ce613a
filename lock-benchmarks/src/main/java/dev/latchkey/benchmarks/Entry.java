package dev.latchkey.benchmarks;

import dev.latchkey.benchmarks.ContenderProcess.CutException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A contender in a table: its JVMs, and what they have done so far. */
final class Entry implements AutoCloseable {

    private static final Duration START = Duration.ofSeconds(60);

    /** How many turns are compared with as many before, and how much faster they are while a JVM still warms up. */
    private static final int COMPARED = 4;

    private static final double WARM = 1.05;

    private final Contender contender;
    private final Effort effort;
    private final Path witness = newWitness();
    private final List<ContenderProcess> processes = new ArrayList<>();
    private final List<MeasuredTurn> turns = new ArrayList<>();
    private final List<Double> warmUps = new ArrayList<>();
    private boolean isWarm;
    private @Nullable String cut;

    Entry(Contender contender, Effort effort) {
        this.contender = contender;
        this.effort = effort;
    }

    /**
     * Starts its JVMs and warms each by itself, since those that share a processor, and a lock, keep each other cold; then
     * all of them together.
     */
    void start(Contest contest, Table table, String address) {
        try {
            for (int i = 0; i < table.processes(); i++) {
                ContenderProcess process = ContenderProcess.start(contest, contender, table, address, witness);
                processes.add(process);
                process.awaitReady(START);
                long cycles = table.warmUps() * effort.warmUpCycles() / table.threads() * table.stride();
                var unused = turn(List.of(process), effort.warmUp().multipliedBy(table.warmUps()), cycles);
            }
            if (table.processes() > 1) {
                var unused = turn(processes, effort.warmUp(), Long.MAX_VALUE);
            }
        } catch (CutException e) {
            cut("warming up: " + e.getMessage());
        }
    }

    /** Takes a turn that does not count. */
    void warmUp(Meter meter, MachineSpeed machineSpeed) {
        take(meter, machineSpeed).ifPresent(turn -> warmUps.add(turn.cyclesPerRoundTrip()));
        int done = warmUps.size();
        isWarm |=
                done >= 2 * COMPARED && sum(done - COMPARED, done) <= WARM * sum(done - 2 * COMPARED, done - COMPARED);
    }

    /**
     * Whether it once took turns that do not count and were no faster than those before, or is out of the race. It stays warm
     * though later ones are faster: of many contenders one always is, by chance.
     */
    boolean isWarm() {
        return isWarm || cut != null;
    }

    private double sum(int from, int to) {
        return warmUps.subList(from, to).stream()
                .mapToDouble(Double::doubleValue)
                .sum();
    }

    /** Takes turns that do not count while the profiler looks on, in its first JVM. */
    void profile(Path file) {
        if (cut != null) {
            return;
        }
        try {
            ContenderProcess first = processes.get(0);
            first.profile("start,event=ctimer,interval=500us");
            for (int i = 0; i < effort.turns(); i++) {
                var unused = turn(processes, effort.turn(), Long.MAX_VALUE);
            }
            first.profile("stop,file=" + file + ",flamegraph,title=" + contender.title());
        } catch (CutException e) {
            cut("profiled: " + e.getMessage());
        }
    }

    void turn(Meter meter, MachineSpeed machineSpeed) {
        take(meter, machineSpeed).ifPresent(turns::add);
    }

    /** Has the turns so far be more warming up. */
    void discardTurns() {
        turns.clear();
    }

    private Optional<MeasuredTurn> take(Meter meter, MachineSpeed machineSpeed) {
        if (cut != null) {
            return Optional.empty();
        }
        try {
            double speed = machineSpeed.read();
            Meter.Reading before = meter.read();
            List<ContenderProcess.Turn> done = turn(processes, effort.turn(), Long.MAX_VALUE);
            return Optional.of(
                    MeasuredTurn.of(speed, done, effort.turn(), meter.read().since(before)));
        } catch (CutException e) {
            cut("turn " + (turns.size() + 1) + ": " + e.getMessage());
            return Optional.empty();
        }
    }

    private List<ContenderProcess.Turn> turn(List<ContenderProcess> taking, Duration length, long mostCycles)
            throws CutException {
        long from = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(20);
        taking.forEach(process -> process.begin(from, from + length.toNanos(), mostCycles));
        List<ContenderProcess.Turn> done = new ArrayList<>();
        for (ContenderProcess process : taking) {
            done.add(process.end(length.plus(effort.patience())));
        }
        return done;
    }

    private void cut(String reason) {
        cut = reason;
        System.err.println("benchmark: " + contender.title() + " is out of the race; " + reason);
        processes.forEach(ContenderProcess::close);
    }

    Figures.Row row() {
        return new Figures.Row(
                contender.title(), contender.role(), contender.mode(), contender.without(), List.copyOf(turns), cut);
    }

    private static Path newWitness() {
        try {
            Path file = Files.createTempFile("latchkey-witness", null);
            return Files.write(file, new byte[Witness.BYTES]);
        } catch (IOException e) {
            throw new UncheckedIOException("no file for the witness", e);
        }
    }

    @Override
    public void close() {
        processes.forEach(ContenderProcess::close);
        try {
            Files.delete(witness);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot delete the witness's file", e);
        }
    }
}
