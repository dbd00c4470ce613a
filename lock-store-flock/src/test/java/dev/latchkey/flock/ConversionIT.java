package dev.latchkey.flock;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.Requests.holding;
import static dev.latchkey.testkit.Requests.shared;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.Response;
import dev.latchkey.testkit.Reply;
import dev.latchkey.testkit.SecondProcess;
import dev.latchkey.testkit.Tally;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Promotions and demotions while other processes use the lock. */
class ConversionIT extends BesideAnotherProcess {

    @Test
    void givenAnotherProcessReads_whenPromoted_thenConflictAndBothReadStill() throws Exception {
        assertThat(remote.tryAcquireShared()).isTrue();
        Key reader = holding(key, store.save(shared(key)));

        assertThat(store.save(exclusive(reader))).isInstanceOf(Response.Conflicted.class);

        assertThat(store.find(key).orElseThrow().mode()).isEqualTo(LockMode.SHARED);
        assertThat(KernelView.heldHere(store.fileOf("report"))).containsExactly(LockMode.SHARED);
        assertThat(remote.isAcquired()).isTrue();
        assertThat(other.lock("report", TTL).tryAcquire()).isFalse();
        assertThat(remote.release()).isTrue();
        assertThat(other.lock("report", TTL).tryAcquire()).isFalse();
        assertThat(store.save(exclusive(reader))).isInstanceOf(Response.Granted.class);
    }

    @Test
    void givenAnotherProcessReads_whenPromotionWaits_thenPromotedOnceThatOneReleases() throws Exception {
        assertThat(remote.tryAcquireShared()).isTrue();
        Waiting promotion = Waiting.start(store, exclusive(holding(key, store.save(shared(key)))), LONG_WAIT);

        assertThat(remote.release()).isTrue();

        assertThat(granted(promotion.response()).fencingToken()).isPresent();
        assertThat(KernelView.heldHere(store.fileOf("report"))).containsExactly(LockMode.EXCLUSIVE);
        assertThat(remote.tryAcquireShared()).isFalse();
    }

    @Test
    void givenAnotherProcessReads_whenPromotionWaits_thenItLooksMoreAndMoreSeldom() throws Exception {
        assertThat(remote.tryAcquireShared()).isTrue();
        Key reader = holding(key, store.save(shared(key)));
        long before = writes();

        Response waited = store.waitAndSave(exclusive(reader), Duration.ofSeconds(2), new CompletableFuture<>());

        // Each look writes the mark: some ten until the pause has grown, then one in 25 to 50 ms.
        assertThat(waited).isInstanceOf(Response.Conflicted.class);
        assertThat(writes() - before).isLessThan(200);
    }

    /** How often this process has called write(2) and its like. */
    private static long writes() throws IOException {
        return Files.readAllLines(Path.of("/proc/self/io")).stream()
                .filter(line -> line.startsWith("syscw: "))
                .mapToLong(line -> Long.parseLong(line.substring("syscw: ".length())))
                .sum();
    }

    @Test
    void givenPromotionWaitsForAnotherProcess_whenBrokenOff_thenSharedStillAndTheOtherMayPromote() throws Exception {
        assertThat(remote.tryAcquireShared()).isTrue();
        Waiting promotion = Waiting.start(store, exclusive(holding(key, store.save(shared(key)))), LONG_WAIT);

        promotion.thread().interrupt();

        assertThatThrownBy(promotion::response).isInstanceOf(InterruptedException.class);
        assertThat(KernelView.heldHere(store.fileOf("report"))).containsExactly(LockMode.SHARED);
        Reply remotePromotion = remote.startAcquire(LONG_WAIT);
        remotePromotion.awaitWaiting();
        assertThat(store.delete(key)).isTrue();
        assertThat(remotePromotion.isYes()).isTrue();
    }

    @Test
    void givenPromotionWaitsInAnotherProcess_whenPromotedHere_thenRefusedAtOnceAndSharedStill() throws Exception {
        assertThat(remote.tryAcquireShared()).isTrue();
        Key reader = holding(key, store.save(shared(key)));
        Reply remotePromotion = remote.startAcquire(LONG_WAIT);
        remotePromotion.awaitWaiting();

        Response waited = Waiting.start(store, exclusive(reader), LONG_WAIT).response();
        Response tried = store.save(exclusive(reader));

        assertThat(waited).isInstanceOf(Response.Refused.class);
        assertThat(tried).isInstanceOf(Response.Conflicted.class);
        assertThat(store.find(key)).isPresent();
        assertThat(remotePromotion.isDone()).isFalse();
        assertThat(store.delete(key)).isTrue();
        assertThat(remotePromotion.isYes()).isTrue();
    }

    @Test
    void givenARivalHammers_whenDemoted_thenNobodyWritesInBetween(@TempDir Path tallyDirectory) throws Exception {
        Reply hammering = other.increment(new Tally(tallyDirectory), "report", TTL, 100_000);
        for (int i = 0; i < 200; i++) {
            Key writer = Key.of("report");
            Response.Granted written =
                    granted(store.waitAndSave(exclusive(writer), LONG_WAIT, new CompletableFuture<>()));

            granted(store.save(shared(holding(writer, written))));

            assertThat(lastFencingToken()).isEqualTo(written.fencingToken().orElseThrow());
            assertThat(store.delete(writer)).isTrue();
        }
        assertThat(hammering.isDone()).isFalse();
    }

    @Test
    void givenARivalHammers_whenPromotionsAreRefused_thenNobodyWritesInBetween(@TempDir Path tallyDirectory)
            throws Exception {
        assertThat(remote.tryAcquireShared()).isTrue();
        try (SecondProcess rival = SecondProcess.connect(dsn())) {
            Key reader = holding(key, store.save(shared(key)));
            long before = lastFencingToken();
            Reply hammering = rival.increment(new Tally(tallyDirectory), "report", TTL, 100_000);
            hammering.awaitWaiting();
            for (int i = 0; i < 2_000; i++) {
                assertThat(store.save(exclusive(reader))).isInstanceOf(Response.Conflicted.class);
            }

            assertThat(lastFencingToken()).isEqualTo(before);
            assertThat(hammering.isDone()).isFalse();
        }
    }

    @Test
    void givenConvertersAndWriters_whenTheyRunAtOnce_thenTokensGrowAndNobodyStarves(@TempDir Path tallyDirectory)
            throws Exception {
        Tally tally = new Tally(tallyDirectory);
        Reply hammering = other.increment(tally, "report", TTL, 500);
        long last = 0;
        for (int i = 0; i < 200; i++) {
            Key converter = Key.of("report");
            Key reader = holding(converter, store.waitAndSave(shared(converter), LONG_WAIT, new CompletableFuture<>()));
            Response promoted = store.waitAndSave(exclusive(reader), LONG_WAIT, new CompletableFuture<>());
            long token = granted(promoted).fencingToken().orElseThrow();
            assertThat(token).isGreaterThan(last);
            tally.increment(granted(promoted).fencingToken());
            last = token;
            granted(store.save(shared(holding(reader, promoted))));
            assertThat(store.delete(converter)).isTrue();
        }

        assertThat(hammering.text()).isEqualTo("500");
        assertThat(tally.number()).isEqualTo(700);
        assertThat(tally.entries().stream().map(entry -> entry.fencingToken().orElseThrow()))
                .isSorted()
                .doesNotHaveDuplicates();
    }

    @Test
    void givenAConverterIsKilled_whenTheOthersGoOn_thenTheyAreNotHindered() throws Exception {
        assertThat(remote.tryAcquireShared()).isTrue();
        granted(store.save(shared(key)));
        Reply promotion = remote.startAcquire(LONG_WAIT);
        promotion.awaitWaiting();

        other.kill();

        Response promoted = store.save(exclusive(key));
        assertThat(promoted).isInstanceOf(Response.Granted.class);
        assertThat(store.delete(key)).isTrue();
        assertThat(store.save(exclusive(Key.of("report")))).isInstanceOf(Response.Granted.class);
    }
}
