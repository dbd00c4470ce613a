package dev.latchkey.memcached;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.Requests.holding;
import static dev.latchkey.testkit.Requests.shared;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.servers.MemcachedServer;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.Request;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A request that was given up as lost comes to the server after later ones: the network kept it, and another connection did not. */
class LateRequestIT {

    private static final Duration MIDDLING = Duration.ofSeconds(30);
    private static final Duration LIMIT = TimeLimits.LIMIT;
    private static final Duration LATE = Duration.ofMillis(1100);
    private static final Duration GIVEN_UP = Duration.ofSeconds(5);
    private static final Pattern TIME = Pattern.compile("STAT time (\\d+)");
    private static final Duration LONG = Duration.ofMinutes(5);

    @Test
    void givenARenewalOfAReader_whenItComesAfterALongerOne_thenTheLeaseIsAsTheReaderBelieves() throws Exception {
        try (MemcachedServer server = MemcachedServer.start();
                LateProxy proxy = new LateProxy(server.address());
                MemcachedStore store = Stores.patient(proxy.address());
                LockFactory locks = new LockFactory(store);
                MemcachedStore direct = Stores.patient(server.address());
                LockFactory others = new LockFactory(direct)) {
            Lock reader = locks.createLock("r", MIDDLING);
            assertThat(reader.tryAcquireShared()).isTrue();
            proxy.holdBack("(replace|cas) lock:r~r");
            assertThatThrownBy(reader::refresh).isInstanceOf(LockStorageException.class);
            reader.refresh(LONG);

            assertThat(proxy.deliver()).isEqualTo("EXISTS");

            assertThat(others.holders("r").get(0).remaining().orElseThrow()).isGreaterThan(LONG.minusMinutes(1));
            assertThat(reader.isAcquired()).isTrue();
        }
    }

    @Test
    void givenAPromotionOfAReader_whenTheRestOfItComesAfterADemotion_thenTheReaderKeepsWritersOut() throws Exception {
        try (MemcachedServer server = MemcachedServer.start();
                LateProxy proxy = new LateProxy(server.address());
                MemcachedStore store = Stores.patient(proxy.address());
                LockFactory locks = new LockFactory(store);
                MemcachedStore direct = Stores.patient(server.address());
                LockFactory others = new LockFactory(direct)) {
            Lock reader = locks.createLock("r", LONG);
            assertThat(reader.tryAcquireShared()).isTrue();
            proxy.holdBack("delete lock:r~r");
            try {
                assertThat(reader.tryAcquire()).isTrue();
            } catch (LockStorageException e) {
                assertThat(proxy.holdsBack()).isTrue();
            }
            assertThat(reader.tryAcquireShared()).isTrue();

            if (proxy.holdsBack()) {
                assertThat(proxy.deliver()).isEqualTo("DELETED");
            }

            assertThat(others.createLock("r", LONG).tryAcquire()).isFalse();
            assertThat(reader.isAcquired()).isTrue();
        }
    }

    /** Two processes use one key, as where one has passed it on to the other. */
    @Test
    void givenAReaderLeft_whenTheRestOfItsReleaseComesAfterItsKeyReadsAgain_thenItKeepsWritersOut() throws Exception {
        try (MemcachedServer server = MemcachedServer.start();
                LateProxy proxy = new LateProxy(server.address());
                MemcachedStore store = Stores.patient(proxy.address());
                LockFactory locks = new LockFactory(store);
                MemcachedStore direct = Stores.patient(server.address());
                LockFactory others = new LockFactory(direct)) {
            Key key = Key.of("r");
            Lock left = locks.createLock(key, LONG);
            assertThat(left.tryAcquireShared()).isTrue();
            proxy.holdBack("(delete|cas) lock:r~r");
            assertThatThrownBy(left::release).isInstanceOf(LockStorageException.class);
            Lock reader = others.createLock(key, LONG);
            assertThat(reader.tryAcquireShared()).isTrue();

            String answer = proxy.deliver();

            assertThat(others.createLock("r", LONG).tryAcquire()).isFalse();
            assertThat(reader.isAcquired()).isTrue();
            assertThat(answer).isEqualTo("EXISTS");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void givenADemotion_whenItsFirstStepComesAfterALongerLease_thenTheLeaseIsAsTheReaderBelieves(boolean wasReader)
            throws Exception {
        try (MemcachedServer server = MemcachedServer.start();
                LateProxy proxy = new LateProxy(server.address());
                MemcachedStore store = Stores.patient(proxy.address());
                MemcachedStore direct = Stores.patient(server.address())) {
            Key key = Key.of("r");
            Key before = wasReader ? holding(key, store.save(shared(key, MIDDLING))) : key;
            Request demotion = shared(holding(key, store.save(exclusive(before, MIDDLING))), MIDDLING);
            proxy.holdBack("(set|add) lock:r~r");
            assertThatThrownBy(() -> store.save(demotion)).isInstanceOf(LockStorageException.class);
            Key reads = holding(key, store.save(demotion));
            granted(store.refresh(shared(reads, LONG)));

            assertThat(proxy.deliver()).isEqualTo("NOT_STORED");

            Holder holder = direct.holders("r").get(0);
            assertThat(holder.mode()).isEqualTo(LockMode.SHARED);
            assertThat(holder.remaining().orElseThrow()).isGreaterThan(LONG.minusMinutes(1));
        }
    }

    /** Nothing was known of the server's clock before. */
    @Test
    void givenTheFirstReadingOfTheClockWasLate_whenAcquired_thenOnlyAfterTheServerHasSetItsClock() throws Exception {
        try (MemcachedServer server = MemcachedServer.start();
                LateProxy proxy = new LateProxy(server.address());
                MemcachedStore store = Stores.patient(proxy.address());
                LockFactory locks = new LockFactory(store)) {
            proxy.holdBackAnswer("STAT time");
            BackgroundCall<Boolean> asking =
                    BackgroundCall.start(() -> locks.createLock("r", MIDDLING).tryAcquire());
            await().atMost(LIMIT).until(proxy::holdsAnswerBack);
            long held = System.nanoTime();
            await().atMost(LIMIT).until(() -> System.nanoTime() - held > LATE.toNanos());

            proxy.letAnswerGo();

            assertThat(asking.result()).isTrue();
            String before = proxy.transcript().split("add lock:r", 2)[0];
            assertThat(TIME.matcher(before).results().map(time -> time.group(1)).distinct())
                    .hasSizeGreaterThan(1);
        }
    }

    /** The driver answers then as if the server had no statistics, as a proxy may. */
    @Test
    void givenTheConnectionBreaksAtTheFirstReading_whenAcquired_thenTheClockIsReadAgainBefore() throws Exception {
        try (MemcachedServer server = MemcachedServer.start();
                LateProxy proxy = new LateProxy(server.address());
                MemcachedStore store = Stores.patient(proxy.address());
                LockFactory locks = new LockFactory(store)) {
            proxy.holdBack("stats");

            assertThat(locks.createLock("r", MIDDLING).tryAcquire()).isTrue();

            assertThat(proxy.holdsBack()).isTrue();
            assertThat(proxy.transcript().split("add lock:r", 2)[0]).containsPattern(TIME);
        }
    }

    /** The server may have been stopped since then, and the next reading is quick. */
    @Test
    void givenTheFirstReadingOfTheClockWasGivenUp_whenAcquired_thenOnlyAfterTheServerHasSetItsClock() throws Exception {
        try (MemcachedServer server = MemcachedServer.start();
                LateProxy proxy = new LateProxy(server.address());
                MemcachedStore store = Stores.open(proxy.address(), GIVEN_UP);
                LockFactory locks = new LockFactory(store)) {
            Lock lock = locks.createLock("r", MIDDLING);
            proxy.holdBackAnswer("STAT time");
            assertThatThrownBy(lock::tryAcquire).isInstanceOf(LockStorageException.class);
            int asked = proxy.transcript().length();

            proxy.letAnswerGo();

            assertThat(lock.tryAcquire()).isTrue();
            String before = proxy.transcript().substring(asked).split("add lock:r", 2)[0];
            assertThat(TIME.matcher(before).results().map(time -> time.group(1)).distinct())
                    .hasSizeGreaterThan(1);
        }
    }

    /** The list of the readers that stay is stored again. */
    @Test
    void givenAReceivedKeyOfAReader_whenAStoreReleasesItFirst_thenItReadsTheClockBefore() throws Exception {
        try (MemcachedServer server = MemcachedServer.start();
                LateProxy proxy = new LateProxy(server.address());
                MemcachedStore sender = Stores.patient(server.address());
                MemcachedStore receiver = Stores.patient(proxy.address())) {
            Key leaves = Key.of("r");
            granted(sender.save(shared(leaves)));
            granted(sender.save(shared(Key.of("r"))));

            assertThat(receiver.delete(leaves)).isTrue();

            assertThat(proxy.transcript().split("cas lock:r", 2)[0]).containsPattern(TIME);
        }
    }
}
