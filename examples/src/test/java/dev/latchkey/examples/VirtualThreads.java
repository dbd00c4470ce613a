package dev.latchkey.examples;

import dev.latchkey.Capability;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.semaphore.Permit;
import dev.latchkey.semaphore.Semaphore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

/** Works with locks on virtual threads, as a service with one for each request does, and prints which were pinned. Needs Java 21. */
final class VirtualThreads {

    private static final String PINNED = "jdk.VirtualThreadPinned";
    private static final int THREADS = 40;
    private static final int ROUNDS = 10;
    private static final Duration TTL = Duration.ofMinutes(5);
    private static final Duration WAIT = Duration.ofMinutes(2);

    private final LockFactory locks;
    private final AtomicInteger inside = new AtomicInteger();

    private VirtualThreads(LockFactory locks) {
        this.locks = locks;
    }

    /**
     * Works, and prints a line for each time that a thread was pinned, a line about the one that pins itself, and at last what was
     * done.
     *
     * @param arguments the DSN of a store, and a directory
     */
    public static void main(String[] arguments) throws Exception {
        try (Recording recording = new Recording();
                LockFactory locks = LockFactory.connect(arguments[0])) {
            recording.enable(PINNED).withThreshold(Duration.ZERO);
            recording.start();
            // The JVM pins who waits for a class that another thread initializes: afterwards that is over.
            int before = new VirtualThreads(locks).work();
            Instant start = Instant.now();
            int done = before + new VirtualThreads(locks).work() + pinOne();
            recording.stop();
            Path file = Files.createTempFile(Path.of(arguments[1]), "pinned", ".jfr");
            recording.dump(file);
            print(RecordingFile.readAllEvents(file).stream()
                    .filter(event -> event.getStartTime().isAfter(start))
                    .toList());
            System.out.println("done: " + done);
        }
    }

    private static void print(List<RecordedEvent> events) {
        List<String> pinned = events.stream()
                .filter(event -> event.getEventType().getName().equals(PINNED))
                .map(VirtualThreads::described)
                .toList();
        pinned.stream().filter(stack -> !isOfTheJvm(stack)).forEach(stack -> System.out.println("pinned: " + stack));
        System.out.println(
                "seen: " + pinned.stream().filter(VirtualThreads::pinsItself).count());
    }

    private static String described(RecordedEvent event) {
        String reason = event.hasField("pinnedReason") ? event.getString("pinnedReason") : "";
        return reason + " "
                + event.getStackTrace().getFrames().stream()
                        .map(frame -> frame.getMethod().getType().getName() + "."
                                + frame.getMethod().getName())
                        .collect(Collectors.joining(" < "));
    }

    /** The JVM itself pins who loads or initializes a class, or waits for another thread to do so. */
    private static boolean isOfTheJvm(String stack) {
        return stack.contains(".loadClass") || stack.contains("<clinit>") || stack.contains("initialization");
    }

    private static boolean pinsItself(String stack) {
        return stack.contains("PinsItself.<clinit>");
    }

    /** Not in the API that this is compiled for. */
    private static ExecutorService virtualThreads() throws ReflectiveOperationException {
        return (ExecutorService)
                Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
    }

    private int work() throws Exception {
        List<Future<Integer>> working = new ArrayList<>();
        ExecutorService threads = virtualThreads();
        for (int i = 0; i < THREADS; i++) {
            List<Callable<Integer>> kinds =
                    List.of(this::acquireAndRelease, this::acquireAsync, this::giveUp, this::acquirePermits);
            Callable<Integer> kind = kinds.get(i % kinds.size());
            working.add(threads.submit(() -> {
                int sum = 0;
                for (int round = 0; round < ROUNDS; round++) {
                    sum += kind.call();
                }
                return sum;
            }));
        }
        int sum = 0;
        for (Future<Integer> one : working) {
            sum += one.get();
        }
        threads.shutdown();
        return sum;
    }

    private int acquireAndRelease() throws InterruptedException {
        Lock lock = locks.lock("pinned").ttl(TTL).autoRefresh().create();
        try (lock) {
            lock.acquire(WAIT);
            checkAlone();
            lock.refresh();
        }
        return 1;
    }

    private int acquireAsync() {
        Lock lock = locks.createLock("pinned", TTL);
        CompletableFuture<Boolean> released = lock.acquireAsync(WAIT)
                .thenCompose(held -> {
                    checkAlone();
                    return held.refreshAsync();
                })
                .thenCompose(Lock::releaseAsync);
        return released.join() ? 1 : 0;
    }

    private int giveUp() throws InterruptedException {
        Lock lock = locks.createLock("pinned", TTL);
        if (lock.tryAcquire(Duration.ofMillis(5))) {
            checkAlone();
            lock.release();
        }
        CompletableFuture<Lock> cancelled = lock.acquireAsync(WAIT);
        LockSupport.parkNanos(1_000_000);
        if (!cancelled.cancel(true)) {
            lock.release();
        }
        return 1;
    }

    private int acquirePermits() throws InterruptedException {
        if (!locks.supports(Capability.SEMAPHORES)) {
            return 1;
        }
        Semaphore semaphore = locks.semaphore("pinned", 3).ttl(TTL).create();
        try (Permit permit = semaphore.acquire(2, WAIT)) {
            return permit.count() - 1;
        }
    }

    private void checkAlone() {
        if (inside.incrementAndGet() > 1) {
            throw new AssertionError("two are inside");
        }
        LockSupport.parkNanos(100_000);
        inside.decrementAndGet();
    }

    private static int pinOne() throws Exception {
        ExecutorService threads = virtualThreads();
        int mark = threads.submit(() -> PinsItself.MARK).get();
        threads.shutdown();
        return mark;
    }

    /** Shows that the recording sees pinned threads: nobody can leave a class initializer. */
    private static final class PinsItself {

        static final int MARK = marked();

        private static int marked() {
            LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
            return 0;
        }
    }
}
