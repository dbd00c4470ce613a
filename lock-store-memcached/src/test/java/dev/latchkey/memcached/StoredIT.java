package dev.latchkey.memcached;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.shared;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.servers.MemcachedServer;
import dev.latchkey.spi.LocalProcess;
import dev.latchkey.spi.Response;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import net.spy.memcached.ConnectionFactoryBuilder;
import net.spy.memcached.MemcachedClient;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What stands on the server, what does not, and what a store is made from. */
class StoredIT {

    private static MemcachedServer server;

    @BeforeAll
    static void start() {
        server = MemcachedServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Test
    void givenHeld_whenItsItemIsRead_thenItHasTheHolderButNoToken() throws Exception {
        try (MemcachedStore store = Stores.patient(server.address());
                LockFactory locks = new LockFactory(store)) {
            Lock lock = locks.createLock("report").acquire();

            List<String> item = server.call("get lock:report");

            assertThat(item).hasSize(3);
            assertThat(item.get(1))
                    .startsWith("L1 X ")
                    .endsWith(" " + LocalProcess.description())
                    .doesNotContain(lock.key().token());
            assertThat(lock.release()).isTrue();
            assertThat(server.call("get lock:report")).containsExactly("END");
        }
    }

    @Test
    void givenReaders_whenTheirItemIsRead_thenItListsThemWithoutTokens() throws Exception {
        try (MemcachedStore store = Stores.patient(server.address());
                LockFactory locks = new LockFactory(store)) {
            Lock one = locks.createLock("catalogue").acquireShared();
            Lock other = locks.createLock("catalogue").acquireShared();

            String item = server.call("get lock:catalogue").get(1);

            assertThat(item)
                    .startsWith("L1 S - ")
                    .contains(
                            OwnerHash.of(one.key()).id(),
                            OwnerHash.of(other.key()).id())
                    .doesNotContain(one.key().token(), other.key().token());
            String sign = server.call(
                            "get lock:catalogue~r" + OwnerHash.of(one.key()).id())
                    .get(1);
            assertThat(sign).startsWith("L1 ").endsWith(LocalProcess.description());
        }
    }

    @Test
    void givenADsnWithAPrefix_whenHeld_thenTheItemIsNamedByIt() {
        try (LockFactory locks = LockFactory.connect(server.dsn() + "?prefix=billing%3A")) {
            Lock lock = locks.createLock("report");

            Awaitility.await()
                    .ignoreExceptionsInstanceOf(LockStorageException.class)
                    .until(lock::tryAcquire);

            assertThat(server.call("get billing:report")).hasSize(3);
        }
    }

    @Test
    void givenAForeignValue_whenAsked_thenAStorageFailureAndItIsAsItWas() throws Exception {
        try (MemcachedStore store = Stores.patient(server.address());
                LockFactory locks = new LockFactory(store)) {
            assertThat(server.call("set lock:foreign 0 0 5", "hello")).containsExactly("STORED");
            Lock lock = locks.createLock("foreign");

            assertThatThrownBy(lock::tryAcquire)
                    .isInstanceOf(LockStorageException.class)
                    .hasMessageContaining("lock:foreign")
                    .hasMessageContaining("prefix");
            assertThatThrownBy(lock::tryAcquireShared).isInstanceOf(LockStorageException.class);

            assertThat(server.call("get lock:foreign")).contains("hello");
        }
    }

    @Test
    void givenAServerWithoutCas_whenSharedOrReleased_thenAStorageFailureThatSaysSo() throws Exception {
        try (MemcachedServer without = MemcachedServer.start("-C");
                MemcachedStore store = Stores.patient(without.address());
                LockFactory locks = new LockFactory(store)) {
            // A release needs CAS; so does an acquire that was answered late, as on a busy machine.
            assertThatThrownBy(() -> locks.createLock("r").acquire().release())
                    .isInstanceOf(LockStorageException.class)
                    .hasMessageContaining("-C");
        }
    }

    @Test
    void givenMoreThanThirtyDays_whenAsked_thenIllegalArgumentAndTheLongestIsKept() {
        try (MemcachedStore store = Stores.patient(server.address())) {
            Duration longest = Duration.ofDays(30).minusSeconds(3);
            Key key = Key.of("long");

            assertThatThrownBy(() -> store.save(exclusive(Key.of("long"), longest.plusMillis(1))))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("30 days");
            assertThatThrownBy(() -> store.save(shared(Key.of("long"), Duration.ofDays(3_000))))
                    .isInstanceOf(IllegalArgumentException.class);

            assertThat(store.save(exclusive(key, longest))).isInstanceOf(Response.Granted.class);
            assertThat(store.find(key).orElseThrow().lease().ttl()).isBetween(longest.minusSeconds(60), longest);
            assertThat(store.holders("long").get(0).remaining().orElseThrow()).isGreaterThan(Duration.ofDays(29));
            assertThat(store.delete(key)).isTrue();
        }
    }

    @Test
    void givenAClientOfTheCaller_whenTheStoreIsClosed_thenTheClientWorks() throws Exception {
        // Longer than a call takes, however slow all is.
        Duration limit = Duration.ofMinutes(1);
        MemcachedClient client = new MemcachedClient(
                new ConnectionFactoryBuilder().setOpTimeout(limit.toMillis()).build(),
                List.of(new InetSocketAddress(
                        server.address().host(), server.address().port())));
        try {
            MemcachedStore store = MemcachedStore.builder(client)
                    .keyPrefix("mine:")
                    .commandTimeout(limit)
                    .build();
            Key key = Key.of("r");
            assertThat(store.save(exclusive(key))).isInstanceOf(Response.Granted.class);

            store.close();

            assertThat(client.get("mine:r", PlainText.PLAIN)).startsWith("L1 X ");
        } finally {
            client.shutdown();
        }
    }

    @Test
    void givenAClientOfSeveralServers_whenAStoreIsMade_thenIllegalArgument() throws Exception {
        MemcachedClient client = new MemcachedClient(
                new InetSocketAddress(server.address().host(), server.address().port()),
                new InetSocketAddress(server.address().host(), server.address().port() + 1));
        try {
            assertThatThrownBy(() -> MemcachedStore.builder(client))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("CombinedStore");
        } finally {
            client.shutdown();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "memcached://one:11211,two:11211",
                "memcached://user:secret@localhost",
                "memcached://user:12?secret@localhost",
                "memcached://",
                "memcached:localhost",
                "memcached://localhost/path",
                "memcached://localhost?protocol=meta",
                "memcached://localhost?prefix=with%20blank",
                "memcached://localhost?timeout=5",
                "memcached://localhost?weight=1"
            })
    void givenABadDsn_whenOpened_thenIllegalArgumentWithoutThePassword(String dsn) {
        assertThatThrownBy(() -> LockFactory.connect(dsn))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageNotContaining("secret");
    }
}
