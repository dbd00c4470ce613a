package dev.latchkey.memcached;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.Requests.shared;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.servers.MemcachedServer;
import dev.latchkey.spi.Response;
import dev.latchkey.testkit.BackgroundCall;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Many readers of one resource, one after the other and at once. */
class ManyReadersIT {

    private static final Duration LONG = Duration.ofMinutes(5);
    private static final int READERS = 6;
    private static final int CYCLES = 40;

    /** B33: the item of 1,000 readers could not be read, for want of stack. */
    @Test
    void givenThousandsAreListed_whenAsked_thenTheItemIsReadWhateverTheStack() throws Exception {
        try (MemcachedServer server = MemcachedServer.start();
                MemcachedStore store = Stores.patient(server.address());
                LockFactory locks = new LockFactory(store)) {
            String item = written(5_000);
            assertThat(server.call("set lock:s 0 600 " + item.length(), item)).containsExactly("STORED");

            assertThat(locks.createLock("s", LONG).tryAcquireShared()).isTrue();

            assertThat(ItemState.read(item).map(ItemState::written)).hasValue(item);
        }
    }

    /** B33: beyond a bound a reader waits, as it would for a writer. */
    @Test
    void givenAsManyReadersAsMayBe_whenOneMoreComes_thenAConflictUntilOneHasLeft() {
        try (MemcachedServer server = MemcachedServer.start();
                MemcachedStore store = Stores.patient(server.address())) {
            Key last = Key.of("s");
            List<Key> readers = IntStream.range(1, ItemState.MOST_READERS)
                    .mapToObj(i -> Key.of("s"))
                    .toList();
            readers.forEach(key -> assertThat(
                            server.call("set lock:s~r" + OwnerHash.of(key).id() + " 0 600 8", "L1 0@- a"))
                    .containsExactly("STORED"));
            String item = "L1 S -"
                    + readers.stream()
                            .map(key -> " " + OwnerHash.of(key).id() + ":600")
                            .collect(Collectors.joining());
            assertThat(server.call("set lock:s 0 600 " + item.length(), item)).containsExactly("STORED");
            granted(store.save(shared(last)));

            assertThat(store.save(shared(Key.of("s")))).isInstanceOf(Response.Conflicted.class);

            assertThat(store.delete(last)).isTrue();
            granted(store.save(shared(Key.of("s"))));
            assertThat(store.save(exclusive(Key.of("s")))).isInstanceOf(Response.Conflicted.class);
        }
    }

    /**
     * B36: threads of one store spoilt each other's change again and again, until some failed. Each waits for its turn here
     * however busy the machine is: one that goes without may spoil one.
     */
    @Test
    void givenManyThreadsOfAStore_whenAllShareAgainAndAgain_thenNoChangeIsSpoilt() throws Exception {
        try (MemcachedServer server = MemcachedServer.start();
                MemcachedStore store = Stores.patient(server.address());
                LockFactory locks = new LockFactory(store)) {
            locks.createLock("warm-up").acquire().release();

            shareAtOnce(List.of(locks));

            assertThat(server.statistics()).containsEntry("cas_badval", "0");
        }
    }

    @Test
    void givenSeveralStores_whenAllShareAgainAndAgain_thenNoneFails() throws Exception {
        try (MemcachedServer server = MemcachedServer.start();
                MemcachedStore one = Stores.patient(server.address());
                MemcachedStore two = Stores.patient(server.address());
                MemcachedStore three = Stores.patient(server.address())) {
            shareAtOnce(Stream.of(one, two, three).map(LockFactory::new).toList());
        }
    }

    private static void shareAtOnce(List<LockFactory> stores) throws Exception {
        List<BackgroundCall<Optional<String>>> readers = new ArrayList<>();
        for (int i = 0; i < READERS; i++) {
            LockFactory locks = stores.get(i % stores.size());
            readers.add(BackgroundCall.start(() -> {
                for (int cycle = 0; cycle < CYCLES; cycle++) {
                    Lock lock = locks.createLock("s", LONG).acquireShared();
                    assertThat(lock.release()).isTrue();
                }
                return Optional.empty();
            }));
        }
        for (BackgroundCall<Optional<String>> reader : readers) {
            assertThat(reader.result()).isEmpty();
        }
    }

    private static String written(int readers) {
        return "L1 S -"
                + IntStream.range(0, readers)
                        .mapToObj(i -> String.format(" %022d:600", i))
                        .collect(Collectors.joining());
    }
}
