package dev.latchkey.testkit;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.spi.PersistingStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What is closed is gone: threads and, where {@code /proc} shows them, open files and sockets. */
public interface LeakContract extends StoreContract {

    /** Threads that come and go whatever a store does. */
    List<String> OF_THE_JVM =
            List.of("awaitility", "ForkJoinPool.commonPool", "CompletableFutureDelay", "process reaper", "junit-");

    @Test
    @RunsAlone
    @Tag("slow")
    default void givenStoresAreUsedAndClosed_whenCounted_thenNoThreadIsLeft(Fixture fixture) throws Exception {
        int stores = 5;
        useAndClose(fixture);
        Set<Thread> before = threads();

        for (int i = 0; i < stores; i++) {
            useAndClose(fixture);
        }

        Awaitility.await().atMost(TimeLimits.LIMIT).untilAsserted(() -> assertNoneIsLeft(stores, before));
    }

    @Test
    @RunsAlone
    @Tag("slow")
    default void givenStoresAreUsedAndClosed_whenCounted_thenNoFileIsLeftOpen(Fixture fixture) throws Exception {
        useAndClose(fixture);
        int before = openFiles().size();

        for (int i = 0; i < 5; i++) {
            useAndClose(fixture);
        }

        Awaitility.await()
                .atMost(TimeLimits.LIMIT)
                .untilAsserted(() -> assertThat(openFiles())
                        .as("open files, " + before + " before")
                        .hasSizeLessThanOrEqualTo(before));
    }

    @Test
    @RunsAlone
    @Tag("slow")
    default void givenManyResourcesWereHeld_whenAllAreReleased_thenNoFileOrThreadIsLeft(Fixture fixture)
            throws Exception {
        useMany(fixture, "warm-up", 10);
        int filesBefore = openFiles().size();
        Set<Thread> threadsBefore = threads();

        int resources = 200;
        useMany(fixture, "many", resources);

        Awaitility.await().atMost(TimeLimits.LIMIT).untilAsserted(() -> {
            // A store may open another connection meanwhile; what each of many leaves behind would be there many times.
            assertThat(openFiles()).hasSizeLessThan(filesBefore + resources);
            assertNoneIsLeft(resources, threadsBefore);
        });
    }

    private static void useAndClose(Fixture fixture) throws Exception {
        try (PersistingStore store = fixture.openSeparateStore()) {
            LockFactory locks = new LockFactory(store);
            Lock released = locks.createLock(fixture.resource(), LONG_TTL);
            assertThat(released.tryAcquire()).isTrue();
            assertThat(locks.createLock(fixture.resource(), LONG_TTL).tryAcquire(Duration.ofMillis(10)))
                    .isFalse();
            released.release();
            Lock refreshed = locks.lock(fixture.resource())
                    .ttl(LONG_TTL)
                    .autoRefresh()
                    .onLost(reason -> {})
                    .create();
            assertThat(refreshed.tryAcquire()).isTrue();
            BackgroundCall<Boolean> waiting = fixture.startWaiting(
                    () -> locks.createLock(fixture.resource(), LONG_TTL).tryAcquire(WaitingContract.LONG_WAIT));
            locks.close();
            assertThat(waiting.result()).isFalse();
        }
    }

    private static void useMany(Fixture fixture, String prefix, int count) {
        List<Lock> locks = Stream.iterate(0, i -> i + 1)
                .limit(count)
                .map(i -> fixture.locks().createLock(fixture.resource() + prefix + i, LONG_TTL))
                .toList();
        locks.forEach(lock -> assertThat(lock.tryAcquire()).isTrue());
        locks.forEach(lock -> assertThat(lock.release()).isTrue());
    }

    /** Other stores of this JVM may start a thread meanwhile; what each of many leaves behind would be there many times. */
    private static void assertNoneIsLeft(int many, Set<Thread> before) {
        Set<Thread> left = threads();
        left.removeAll(before);
        assertThat(left).as("threads that were not there before").hasSizeLessThan(many);
    }

    private static Set<Thread> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(Thread::isAlive)
                .filter(thread -> OF_THE_JVM.stream().noneMatch(thread.getName()::startsWith))
                .collect(Collectors.toSet());
    }

    /** Where the operating system does not show them, the test counts as not run rather than as passed. */
    private static List<String> openFiles() throws IOException {
        Path descriptors = Path.of("/proc/self/fd");
        Assumptions.assumeTrue(Files.isDirectory(descriptors), "open files are not counted: there is no /proc/self/fd");
        try (Stream<Path> open = Files.list(descriptors)) {
            return open.map(LeakContract::target).toList();
        }
    }

    private static String target(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString();
        } catch (IOException e) {
            return "closed meanwhile";
        }
    }
}
