package dev.latchkey.redis;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.Requests.shared;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.spi.Holder;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Thousands of readers of one resource: what each costs the server must not grow with the others. */
class RedisManyReadersIT extends WithAStore {

    private static final String RESOURCE = "catalogue";
    private static final int READERS = 2_000;
    private static final Pattern MICROS = Pattern.compile("cmdstat_evalsha:.*usec_per_call=([0-9.]+)");

    private List<Lock> readers(int count, Duration ttl) {
        return IntStream.range(0, count)
                .mapToObj(i -> locks.createLock(RESOURCE, ttl))
                .peek(reader -> assertThat(reader.tryAcquireShared()).isTrue())
                .toList();
    }

    /** The lease of one may be over before its answer is here, which a Lock would not take for an acquire. */
    private void haveReadBriefly(int count) {
        for (int i = 0; i < count; i++) {
            granted(store.save(shared(Key.of(RESOURCE), Duration.ofMillis(100))));
        }
    }

    private long number(String command) {
        return Long.parseLong(String.valueOf(server.call(command, "lock:{" + RESOURCE + "}")));
    }

    /** Once somebody waits, a release reads all that is held. */
    @Test
    void givenThousandsOfReaders_whenNobodyWaits_thenAReleaseCostsTheServerAFractionOfWhatItCostsElse() {
        Deque<Lock> readers = new ArrayDeque<>(readers(READERS, LONG_TTL));

        double alone = microsOfARelease(readers);

        CompletableFuture<Lock> writing = Background.acquire(locks.createLock(RESOURCE, LONG_TTL));
        Awaitility.await().until(() -> keys.waiting().size() == 1);
        assertThat(alone).isLessThan(microsOfARelease(readers) / 3);
        readers.forEach(Lock::close);
        assertThat(writing.join().isAcquired()).isTrue();
    }

    /** The least of some rounds: a server that is kept from the processor makes one of them dear. */
    private double microsOfARelease(Deque<Lock> readers) {
        return IntStream.range(0, 5)
                .mapToDouble(round -> microsOfTwenty(readers))
                .min()
                .orElseThrow();
    }

    private double microsOfTwenty(Deque<Lock> readers) {
        server.call("CONFIG", "RESETSTAT");
        for (int i = 0; i < 20; i++) {
            assertThat(readers.remove().release()).isTrue();
        }
        Matcher scripts = MICROS.matcher(server.text("INFO", "commandstats"));
        assertThat(scripts.find()).isTrue();
        return Double.parseDouble(scripts.group(1));
    }

    @Test
    void givenManyReaders_whenAWriterWaits_thenTheLastToLeaveHandsOver() {
        List<Lock> readers = readers(100, LONG_TTL);
        CompletableFuture<Lock> writing = Background.acquire(locks.createLock(RESOURCE, LONG_TTL));
        Awaitility.await().until(() -> keys.waiting().size() == 1);
        assertThat(locks.createLock(RESOURCE, LONG_TTL).tryAcquireShared()).isFalse();

        readers.forEach(reader -> assertThat(reader.release()).isTrue());

        assertThat(writing.join().isAcquired()).isTrue();
        assertThat(writing.join().fencingToken()).isPresent();
    }

    @Test
    void givenManyReaders_whenOneReleasesTwice_thenTheOthersHold() {
        List<Lock> readers = readers(100, LONG_TTL);
        Lock one = readers.get(50);
        assertThat(one.release()).isTrue();
        assertThat(store.delete(one.key())).isFalse();
        assertThat(readers.get(51).isAcquired()).isTrue();
        assertThat(locks.holders(RESOURCE)).hasSize(99);

        assertThat(one.tryAcquireShared()).isTrue();

        assertThat(locks.holders(RESOURCE)).hasSize(100);
        assertThat(readers).allMatch(Lock::isAcquired);
    }

    @Test
    void givenManyReaders_whenOneIsRenewed_thenItsLeaseIsNewAndItsGrantIsNot() {
        List<Lock> readers = readers(100, LONG_TTL);
        long granted = System.nanoTime();
        Lock one = readers.get(50);

        one.refresh(LONG_TTL.multipliedBy(2));

        Duration held = Duration.ofNanos(System.nanoTime() - granted);
        List<Holder> holders = locks.holders(RESOURCE);
        assertThat(holders)
                .hasSize(100)
                .allSatisfy(each -> assertThat(each.held().orElseThrow()).isGreaterThanOrEqualTo(held))
                .filteredOn(each -> each.remaining().orElseThrow().compareTo(LONG_TTL) > 0)
                .hasSize(1);
        assertThat(number("PTTL")).isGreaterThan(LONG_TTL.multipliedBy(2).toMillis());
        one.refresh(LONG_TTL.dividedBy(2));
        assertThat(one.remainingLifetime().orElseThrow()).isLessThan(LONG_TTL);
        assertThat(readers).allMatch(Lock::isAcquired);
        assertThat(one.release()).isTrue();
    }

    /** The lease of the state follows the longest lease of a reader, whichever came last. */
    @Test
    void givenManyReaders_whenOneWithAShortLeaseComes_thenTheStateOutlastsTheOthers() {
        readers(100, LONG_TTL);
        long before = number("PTTL");

        haveReadBriefly(1);

        assertThat(number("PTTL")).isBetween(before - LONG_TTL.toMillis() / 2, before);
    }

    /** Crashed readers must not fill the server beside one that stays. */
    @Test
    void givenManyReadersCrashed_whenOthersComeAndGo_thenTheStateForgetsThem() {
        readers(1, LONG_TTL);
        long one = number("STRLEN");
        haveReadBriefly(200);

        Awaitility.await().pollDelay(Duration.ZERO).pollInterval(Duration.ZERO).until(() -> {
            readers(1, LONG_TTL).forEach(Lock::release);
            return number("STRLEN") <= 2 * one;
        });
    }
}
