package dev.latchkey.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * Several processes take locks at random, while processes are killed and frozen, connections go wrong, and the server has
 * faults of its own; then everybody lets go, and the {@link History} is judged.
 *
 * <pre>{@code
 * Stress stress = new Stress(server.address(), address -> "redis://" + address, directory);
 * stress.fault("script flush", 3, () -> server.call("SCRIPT", "FLUSH"));
 * History history = stress.run(100_000, seed);
 * assertThat(history.violations()).isEmpty();
 * }</pre>
 *
 * <p>Not thread-safe.
 */
public final class Stress {

    /** A fault; it is over when it returns, except for its effects. */
    public interface Fault {

        /**
         * Does the damage.
         *
         * @throws Exception if that cannot be done, which ends the run
         */
        void strike() throws Exception;
    }

    private record Chance(String name, int weight, Fault fault) {}

    private static final int PROCESSES = 4;
    private static final Duration STUCK = Duration.ofSeconds(60);

    private final Path directory;
    private final List<StressProcess> processes = new ArrayList<>();
    private final List<Chance> chances = new ArrayList<>();
    private final Map<String, Integer> struck = new TreeMap<>();
    private SplittableRandom random = new SplittableRandom();

    /**
     * Prepares a run.
     *
     * @param server what the processes connect to, each through a {@link FaultProxy}
     * @param dsn makes of an address what a store connects to
     * @param directory an empty one, for the history
     */
    public Stress(ServerAddress server, Function<ServerAddress, String> dsn, Path directory) {
        this.directory = directory;
        for (int i = 0; i < PROCESSES; i++) {
            processes.add(new StressProcess("p" + i, FaultProxy.to(server), dsn, directory));
        }
        fault("kill", 1, () -> anyProcess().replace());
        fault("freeze", 8, () -> anyProcess().freeze(random.nextInt(50, 900)));
        fault("cut", 4, () -> anyProxy().cut());
        fault("refuse", 1, this::refuse);
        fault("silence", 3, this::silence);
        fault("delay", 2, this::delay);
    }

    /**
     * Adds a fault.
     *
     * @param name for the report
     * @param weight how likely it is, beside the freezing of a process with 8 and its death with 1
     * @param fault what happens
     * @return this
     */
    public Stress fault(String name, int weight, Fault fault) {
        chances.add(new Chance(name, weight, fault));
        return this;
    }

    /**
     * Adds a fault that strikes a certain message, on the connection of a process chosen at random.
     *
     * @param name for the report
     * @param weight how likely it is
     * @param trap what happens to the next such message
     * @return this
     */
    public Stress messageFault(String name, int weight, Function<FaultProxy, CompletableFuture<Void>> trap) {
        return fault(name, weight, () -> {
            var unused = trap.apply(anyProxy());
        });
    }

    /**
     * Has the processes find what is in a directory before all else that is on their class path, as a defect that is planted to
     * try the judge.
     *
     * @param classes a directory with classes or resources
     * @return this
     */
    public Stress findsFirst(Path classes) {
        processes.forEach(process -> process.findFirst(classes));
        return this;
    }

    private FaultProxy anyProxy() {
        return anyProcess().proxy();
    }

    /**
     * Runs until that many operations are done, and waits until all processes have come to rest.
     *
     * @param operations calls of a Lock that ask the store
     * @param seed of the faults
     * @return what the processes believed, judged
     * @throws Exception if a fault cannot be done or the history not be read
     */
    public History run(long operations, long seed) throws Exception {
        random = new SplittableRandom(seed);
        try {
            processes.forEach(StressProcess::start);
            long lastProgress = System.nanoTime();
            long done = 0;
            while (done < operations) {
                strikeAny();
                long now =
                        processes.stream().mapToLong(StressProcess::operations).sum();
                if (now > done) {
                    done = now;
                    lastProgress = System.nanoTime();
                }
                if (System.nanoTime() - lastProgress > STUCK.toNanos()) {
                    throw new AssertionError("no operation for " + STUCK + ", " + done + " before");
                }
            }
            processes.forEach(process -> process.proxy().heal());
            processes.forEach(process -> process.proxy().delay(Duration.ZERO));
            processes.forEach(StressProcess::drain);
        } finally {
            processes.forEach(StressProcess::close);
        }
        return History.read(directory);
    }

    /**
     * Counts what happened.
     *
     * @return how often each fault struck
     */
    public Map<String, Integer> faults() {
        return Map.copyOf(struck);
    }

    /**
     * Counts what was done.
     *
     * @return operations of all processes, without the last ones of those that were killed
     */
    public long operations() {
        return processes.stream().mapToLong(StressProcess::operations).sum();
    }

    private void strikeAny() throws Exception {
        pause(random.nextInt(20, 250));
        int weights = chances.stream().mapToInt(Chance::weight).sum();
        int drawn = random.nextInt(weights);
        for (Chance chance : chances) {
            drawn -= chance.weight();
            if (drawn < 0) {
                chance.fault().strike();
                struck.merge(chance.name(), 1, Integer::sum);
                return;
            }
        }
    }

    private StressProcess anyProcess() {
        return processes.get(random.nextInt(processes.size()));
    }

    private void refuse() {
        FaultProxy proxy = anyProxy();
        proxy.refuse();
        pause(random.nextInt(50, 500));
        proxy.heal();
    }

    private void silence() {
        FaultProxy proxy = anyProxy();
        proxy.silence();
        pause(random.nextInt(50, 900));
        proxy.heal();
    }

    private void delay() {
        FaultProxy proxy = anyProxy();
        proxy.delay(Duration.ofMillis(random.nextInt(1, 30)));
        pause(random.nextInt(50, 500));
        proxy.delay(Duration.ZERO);
    }

    /** Faults come at times of their own; nothing is waited for. */
    static void pause(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new UncheckedIOException(new IOException("the stress was interrupted", e));
        }
    }
}
