package dev.latchkey.memcached;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.LockStorageException;
import dev.latchkey.servers.MemcachedServer;
import dev.latchkey.testkit.FaultProxy;
import dev.latchkey.testkit.ServerAddress;
import dev.latchkey.testkit.TimeLimits;
import java.net.InetAddress;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import net.spy.memcached.CachedData;
import net.spy.memcached.MemcachedClient;
import net.spy.memcached.internal.OperationFuture;
import net.spy.memcached.transcoders.Transcoder;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What the driver does wrong when a connection is lost, or its own thread is. */
@Tag("slow")
class ReplacedClientIT {

    private static final Duration LIMIT = TimeLimits.LIMIT;
    private static final Duration TIMEOUT = TimeLimits.scaled(Duration.ofMillis(500));

    /** More than the buffers of two sockets take, of which the second is not read. */
    private static final String LARGE_VALUE = "z".repeat(16_000_000);

    /** Two held: each answer went to the call after the one that it was meant for. */
    @Test
    void givenAPartOfAnOperationWasSent_whenTheConnectionIsLost_thenEachCallGetsItsOwnAnswer() throws Exception {
        try (MemcachedServer server = MemcachedServer.start("-I", "32m");
                FaultProxy proxy = FaultProxy.to(server.address())) {
            assertThat(server.call("set lock:held 0 0 5", "other")).containsExactly("STORED");
            OwnClient client = client(proxy.address(), LIMIT);
            ServerCalls link = new ServerCalls(client, LIMIT);
            Boolean isAdded = link.ask("first", driver -> driver.add("first", 0, "x", PlainText.PLAIN));
            assertThat(isAdded).isTrue();
            proxy.silence();
            var unused = link.send("large", driver -> driver.add("large", 0, LARGE_VALUE, PlainText.PLAIN));
            Awaitility.await().atMost(LIMIT).until(() -> hasBytesToWrite(client.client("held")));
            OperationFuture<Boolean> adding =
                    link.send("held", driver -> driver.add("lock:held", 0, "mine", PlainText.PLAIN));

            proxy.cut();
            proxy.heal();

            assertThat(link.await("held", adding)).isFalse();
            client.close();
        }
    }

    private static boolean hasBytesToWrite(MemcachedClient client) {
        return client.getNodeLocator().getAll().stream().anyMatch(node -> node.getBytesRemainingToWrite() > 0);
    }

    /** As if it had ended, for want of memory. */
    @Test
    void givenTheThreadOfTheDriverDoesNothingMore_whenAskedAgainAndAgain_thenAnotherClientIsAsked() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        try (MemcachedServer server = MemcachedServer.start()) {
            OwnClient client = client(server.address(), TIMEOUT);
            try (MemcachedStore store = store(client)) {
                awaitGranted(store, "first");
                MemcachedClient stuck = client.client("first");
                var unused = stuck.asyncGets("lock:first", new Endless(end));

                awaitGranted(store, "later");

                assertThat(client.client("later")).isNotSameAs(stuck);
            }
        } finally {
            end.countDown();
        }
    }

    /** What is given up stays in the queue of a client that has no connection. */
    @Test
    void givenAnOutage_whenItIsLong_thenTheClientIsReplacedAndTheNextOneConnects() throws Exception {
        try (MemcachedServer server = MemcachedServer.start()) {
            OwnClient client = client(server.address(), TIMEOUT);
            try (MemcachedStore store = store(client)) {
                awaitGranted(store, "first");
                MemcachedClient before = client.client("first");
                server.kill();

                Awaitility.await().atMost(LIMIT).until(() -> {
                    assertThatThrownBy(() -> store.save(exclusive(Key.of("outage"))))
                            .isInstanceOf(LockStorageException.class);
                    return client.client("first") != before;
                });

                server.restart();
                awaitGranted(store, "later");
            }
        }
    }

    private static void awaitGranted(MemcachedStore store, String resource) {
        Key key = Key.of(resource);
        Awaitility.await()
                .atMost(LIMIT)
                .ignoreExceptionsInstanceOf(LockStorageException.class)
                .untilAsserted(() -> granted(store.save(exclusive(key))));
    }

    private static OwnClient client(ServerAddress address, Duration timeout) {
        return new OwnClient(
                Dsn.parse("memcached://" + address + "?timeout=" + timeout.toMillis() + "ms"), InetAddress::getByName);
    }

    private static MemcachedStore store(OwnClient client) {
        return new MemcachedStore.Builder(client).commandTimeout(TIMEOUT).build();
    }

    /** Keeps the thread of the driver that decodes with it. */
    private record Endless(CountDownLatch end) implements Transcoder<String> {

        @Override
        public boolean asyncDecode(CachedData data) {
            return false;
        }

        @Override
        public CachedData encode(String text) {
            return PlainText.PLAIN.encode(text);
        }

        @Override
        public String decode(CachedData data) {
            try {
                end.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return PlainText.PLAIN.decode(data);
        }

        @Override
        public int getMaxSize() {
            return CachedData.MAX_SIZE;
        }
    }
}
