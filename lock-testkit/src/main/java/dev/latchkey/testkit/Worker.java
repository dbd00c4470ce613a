package dev.latchkey.testkit;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.leader.LeaderElection;
import dev.latchkey.leader.Term;
import dev.latchkey.semaphore.Permit;
import dev.latchkey.semaphore.Semaphore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.StoreProvider;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The {@code main} of a {@link SecondProcess}: reads a command a line, runs each in a thread of its own, and answers with
 * one line. Ends, without releasing anything, when its standard input does.
 */
final class Worker {

    static final String ANSWER = "latchkey-worker ";
    static final String OK = "ok";
    static final String FAILED = "failed";

    private static final int INPUT_ENDED = 3;

    private final PrintStream out;
    private final Map<String, Lock> locksByName = new ConcurrentHashMap<>();
    private final Map<String, Semaphore> semaphores = new ConcurrentHashMap<>();
    private final Queue<Permit> permits = new ConcurrentLinkedQueue<>();
    private final Map<String, Thread> running = new ConcurrentHashMap<>();
    private final AtomicInteger names = new AtomicInteger();
    private volatile String dsn = "";
    private volatile @Nullable LockFactory connected;

    private Worker(PrintStream out) {
        this.out = out;
    }

    /**
     * Runs until the end of its input.
     *
     * @param args none
     * @throws IOException if its input cannot be read
     */
    public static void main(String[] args) throws IOException {
        // Whatever else prints to standard output must not be taken for an answer.
        PrintStream out = System.out;
        System.setOut(System.err);
        Worker worker = new Worker(out);
        try (BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = commands.readLine(); line != null; line = commands.readLine()) {
                worker.start(Wire.words(line));
            }
        }
        Runtime.getRuntime().halt(INPUT_ENDED);
    }

    private void start(List<String> words) {
        String number = words.get(0);
        List<String> command = words.subList(1, words.size());
        if (command.get(0).equals("exit")) {
            disconnect();
            System.exit(0);
        }
        Thread thread = new Thread(() -> answer(number, command), "command-" + number);
        thread.setDaemon(true);
        running.put(number, thread);
        thread.start();
    }

    private void answer(String number, List<String> command) {
        List<String> answer;
        try {
            answer = List.of(number, OK, run(command));
        } catch (Throwable e) {
            answer = List.of(number, FAILED, e.getClass().getSimpleName(), String.valueOf(e.getMessage()));
            e.printStackTrace();
        }
        running.remove(number);
        synchronized (out) {
            out.println(ANSWER + Wire.line(answer));
            out.flush();
        }
    }

    private String run(List<String> command) throws Exception {
        String first = command.size() > 1 ? command.get(1) : "";
        return switch (command.get(0)) {
            case "connect" -> connect(first);
            case "disconnect" -> disconnect();
            case "lock" -> keep(locks().createLock(first, Duration.parse(command.get(2))));
            case "stickyLock" ->
                keep(locks().lock(first)
                        .ttl(Duration.parse(command.get(2)))
                        .sticky(Duration.parse(command.get(3)))
                        .create());
            case "adopt" -> keep(locks().createLock(Key.deserialize(first), Duration.parse(command.get(2))));
            case "semaphore" ->
                keep(locks().semaphore(first, Integer.parseInt(command.get(2)))
                        .ttl(Duration.parse(command.get(3)))
                        .create());
            case "permits" -> permits(command, Objects.requireNonNull(semaphores.get(first)));
            case "waits" -> Boolean.toString(isParked(running.get(first)));
            case "increment" -> increment(command);
            case "incrementSets" -> incrementSets(command);
            case "lead" -> lead(first, Duration.parse(command.get(2)));
            case "countPermits" -> countPermits(command);
            case "lockFamilies", "editTree" -> act(command);
            default -> run(command, Objects.requireNonNull(locksByName.get(first), "no lock of that name"));
        };
    }

    private String connect(String dsn) {
        this.dsn = dsn;
        connected = LockFactory.connect(dsn);
        return Boolean.toString(true);
    }

    /** Leaves nothing for the next test to find. */
    private String disconnect() {
        LockFactory locks = connected;
        if (locks != null) {
            locks.close();
        }
        connected = null;
        locksByName.clear();
        semaphores.clear();
        permits.clear();
        return Boolean.toString(true);
    }

    private LockFactory locks() {
        return Objects.requireNonNull(connected, "not connected");
    }

    private static String run(List<String> command, Lock lock) throws InterruptedException {
        return switch (command.get(0)) {
            case "tryAcquire" -> Boolean.toString(lock.tryAcquire());
            case "tryAcquireShared" -> Boolean.toString(lock.tryAcquireShared());
            case "acquire" -> Boolean.toString(lock.tryAcquire(Duration.parse(command.get(2))));
            case "acquireShared" -> Boolean.toString(lock.tryAcquireShared(Duration.parse(command.get(2))));
            case "refresh" -> lock.refresh().toString();
            case "release" -> Boolean.toString(lock.release());
            case "isAcquired" -> Boolean.toString(lock.isAcquired());
            case "isExpired" -> Boolean.toString(lock.isExpired());
            case "fencingToken" ->
                lock.fencingToken().isPresent()
                        ? Long.toString(lock.fencingToken().getAsLong())
                        : "";
            case "key" -> lock.key().serialize();
            case "transferKey" -> lock.transferKey().serialize();
            default -> throw new IllegalArgumentException("unknown command " + command.get(0));
        };
    }

    /** It stands until this process is killed. */
    private String lead(String election, Duration ttl) throws Exception {
        CompletableFuture<Term> elected = new CompletableFuture<>();
        LeaderElection.builder(locks(), election)
                .ttl(ttl)
                .onElected(term -> {
                    elected.complete(term);
                    new CountDownLatch(1).await();
                })
                .start();
        return Long.toString(elected.get().number());
    }

    /** They are kept until this process is killed. */
    private String permits(List<String> command, Semaphore semaphore) throws InterruptedException {
        Optional<Permit> acquired =
                semaphore.tryAcquire(Integer.parseInt(command.get(2)), Duration.parse(command.get(3)));
        acquired.ifPresent(permits::add);
        return Boolean.toString(acquired.isPresent());
    }

    private String keep(Semaphore semaphore) {
        String name = "semaphore-" + names.incrementAndGet();
        semaphores.put(name, semaphore);
        return name;
    }

    private String keep(Lock lock) {
        String name = "lock-" + names.incrementAndGet();
        locksByName.put(name, lock);
        return name;
    }

    private String increment(List<String> command) throws Exception {
        Tally tally = new Tally(Path.of(command.get(1)));
        Duration ttl = Duration.parse(command.get(3));
        int times = Integer.parseInt(command.get(4));
        for (int i = 0; i < times; i++) {
            try (Lock lock = locks().createLock(command.get(2), ttl).acquire()) {
                tally.increment(lock.fencingToken());
            }
        }
        return Integer.toString(times);
    }

    /** Returns how many resources were held in all. */
    private String incrementSets(List<String> command) throws Exception {
        Path directory = Path.of(command.get(1));
        Duration ttl = Duration.parse(command.get(3));
        int times = Integer.parseInt(command.get(4));
        Random random = new Random(Integer.parseInt(command.get(5)));
        List<Integer> numbers = new ArrayList<>(IntStream.range(0, MultiLockContentionContract.RESOURCES)
                .boxed()
                .toList());
        long held = 0;
        for (int i = 0; i < times; i++) {
            Collections.shuffle(numbers, random);
            List<Integer> some = numbers.subList(0, 1 + random.nextInt(4));
            List<String> names =
                    some.stream().map(number -> command.get(2) + number).toList();
            try (Lock lock = locks().all(names).ttl(ttl).create().acquire()) {
                Map<String, Long> tokens = lock.fencingTokens();
                for (int number : some) {
                    new Tally(directory.resolve(Integer.toString(number)))
                            .increment(OptionalLong.of(Objects.requireNonNull(tokens.get(command.get(2) + number))));
                }
            }
            held += some.size();
        }
        return Long.toString(held);
    }

    /** Each process knows as many permits, or one less. */
    private String countPermits(List<String> command) throws Exception {
        PermitCount held = new PermitCount(Path.of(command.get(1)));
        int most = Integer.parseInt(command.get(3));
        Duration ttl = Duration.parse(command.get(4));
        int times = Integer.parseInt(command.get(5));
        Random random = new Random(Integer.parseInt(command.get(6)));
        for (int i = 0; i < times; i++) {
            int limit = most - random.nextInt(2);
            Semaphore semaphore =
                    locks().semaphore(command.get(2), limit).ttl(ttl).create();
            try (Permit permit = semaphore.acquire(1 + random.nextInt(limit))) {
                held.add(permit.count(), limit);
                LockSupport.parkNanos(random.nextInt(2_000_000));
                held.remove(permit.count());
            }
        }
        return Integer.toString(times);
    }

    /** Until this process is killed. */
    private String act(List<String> command) throws Exception {
        PersistingStore store = StoreProvider.connect(dsn);
        TreeActor actor = new TreeActor(
                store, command.get(1), Duration.parse(command.get(2)), Path.of(command.get(3)), command.get(4));
        int number = Integer.parseInt(command.get(5));
        if (command.get(0).equals("editTree")) {
            actor.edit(new Random(number));
        }
        actor.lockFamilies(number);
        return "";
    }

    private static boolean isParked(@Nullable Thread thread) {
        return thread != null && BackgroundCall.isParked(thread);
    }
}
