package dev.latchkey.spi;

import static dev.latchkey.TestLimit.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class ReleaseSubscriptionsTest {

    private static final String NOTHING = "";

    private final BlockingQueue<String> announced = new LinkedBlockingQueue<>();
    private final AtomicInteger connections = new AtomicInteger();
    private final ReleaseSubscriptions wakeups = new ReleaseSubscriptions("wakeups-test", this::listen);

    /** A backend that fails when it is told to. */
    private Optional<String> listen(ReleaseSubscriptions those) {
        connections.incrementAndGet();
        those.listening();
        while (those.isWanted()) {
            String name = heard();
            if (name.equals("failure")) {
                return Optional.of("planted");
            }
            if (name.equals("bug")) {
                throw new IllegalStateException("planted");
            }
            those.wake(name);
        }
        return Optional.empty();
    }

    private String heard() {
        try {
            return Optional.ofNullable(announced.poll(10, TimeUnit.MILLISECONDS))
                    .orElse(NOTHING);
        } catch (InterruptedException e) {
            return NOTHING;
        }
    }

    @AfterEach
    void close() {
        wakeups.close();
    }

    @Test
    void givenNobodyWatches_whenMade_thenNothingListens() {
        assertThat(connections).hasValue(0);
        assertThat(isListening()).isFalse();
    }

    @Test
    void givenTwoResources_whenOneIsAnnounced_thenItsWatchIsWoken() {
        try (ReleaseSubscription one = watching("one");
                ReleaseSubscription other = watching("other")) {
            // Whoever begins to listen wakes all once: that is over when it hears.
            announced.add("nobody");
            await().until(announced::isEmpty);
            CompletionStage<?> next = one.next();
            CompletionStage<?> otherNext = other.next();

            announced.add("one");

            await().until(() -> isDone(next));
            assertThat(isDone(otherNext)).isFalse();
            assertThat(connections).hasValue(1);
        }
    }

    @Test
    @Tag("slow")
    void givenWatched_whenTheBackendFails_thenAllAskByThemselvesAndItListensAgain() {
        try (ReleaseSubscription watch = watching("one")) {
            for (String failure : new String[] {"failure", "bug"}) {
                int before = connections.get();
                CompletionStage<?> next = watch.next();

                announced.add(failure);

                await().until(() -> isDone(next));
                await().until(() -> connections.get() > before && watch.isWatching());
            }
        }
    }

    @Test
    void givenWatched_whenClosed_thenWokenForTheLastTimeAndTheThreadEnds() {
        ReleaseSubscription watch = watching("one");
        CompletionStage<?> next = watch.next();

        wakeups.close();

        assertThat(isDone(next)).isTrue();
        assertThat(watch.isWatching()).isFalse();
        await().until(() -> !isListening());
        assertThat(wakeups.watch("two").isWatching()).isFalse();
        assertThat(isListening()).isFalse();
        watch.close();
        watch.close();
    }

    @Test
    void givenNever_whenAsked_thenItNeverTells() {
        try (ReleaseSubscription never = ReleaseSubscription.never()) {
            assertThat(never.isWatching()).isFalse();
            assertThat(isDone(never.next())).isFalse();
        }
    }

    private ReleaseSubscription watching(String name) {
        ReleaseSubscription watch = wakeups.watch(name);
        await().until(watch::isWatching);
        return watch;
    }

    private static boolean isDone(CompletionStage<?> stage) {
        return stage.toCompletableFuture().isDone();
    }

    private static boolean isListening() {
        return Thread.getAllStackTraces().keySet().stream()
                .anyMatch(thread -> thread.getName().equals("wakeups-test"));
    }

    private static ConditionFactory await() {
        return Awaitility.await().atMost(LIMIT);
    }
}
