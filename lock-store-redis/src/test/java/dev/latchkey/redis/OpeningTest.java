package dev.latchkey.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class OpeningTest {

    private static final Duration LIMIT = Duration.ofSeconds(30);

    /** B5: it is being opened at the server that was the master when that began. */
    @Test
    void givenItIsBeingOpened_whenAnotherIsNeeded_thenItIsReplacedOnceItIsThere() {
        AtomicInteger opened = new AtomicInteger();
        CompletableFuture<Void> slow = new CompletableFuture<>();
        Opening<Integer> opening = new Opening<>(
                () -> {
                    slow.join();
                    return opened.incrementAndGet();
                },
                ended -> {});
        CompletableFuture<Integer> first = opening.begin();
        CompletableFuture<Void> renewed = new CompletableFuture<>();

        opening.renew(() -> true, () -> renewed.complete(null));
        slow.complete(null);

        assertThat(first.join()).isEqualTo(1);
        Awaitility.await().atMost(LIMIT).until(renewed::isDone);
        assertThat(opening.there()).isEqualTo(2);
        opening.close(LIMIT);
    }
}
