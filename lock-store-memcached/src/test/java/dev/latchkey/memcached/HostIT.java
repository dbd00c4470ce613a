package dev.latchkey.memcached;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.LockStorageException.Failure;
import dev.latchkey.servers.MemcachedServer;
import dev.latchkey.servers.PatientDsn;
import dev.latchkey.testkit.ServerAddress;
import dev.latchkey.testkit.TimeLimits;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.Scanner;
import net.spy.memcached.ConnectionFactoryBuilder.Protocol;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** B14: the host of a DSN may be unknown, or have another address later. */
class HostIT {

    private static final Duration LIMIT = TimeLimits.LIMIT;

    /** After that the clock is read again before a write. */
    private static final Duration LONGER_THAN_RIGHT = Duration.ofSeconds(3);

    /** Longer than a call takes, however slow all is. */
    private static final Duration LONG = Duration.ofMinutes(1);

    /** Nobody listens at this address of the machine's own network. */
    private static final String NOBODY = "127.0.0.77";

    /** Of the host, empty while it is unknown. */
    private volatile String address = "";

    @Test
    void givenAHostWithAnotherAddressLater_whenAsked_thenConnectedToThatOne() throws Exception {
        try (MemcachedServer server = MemcachedServer.start()) {
            address = NOBODY;
            try (MemcachedStore store =
                    store(server.address().port(), Duration.ofSeconds(3), host -> InetAddress.getByName(address))) {
                assertThatThrownBy(() -> store.save(exclusive(Key.of("r"))))
                        .isInstanceOfSatisfying(LockStorageException.class, HostIT::assertNotSent);

                address = server.address().host();

                Key later = Key.of("later");
                Awaitility.await()
                        .atMost(LIMIT)
                        .ignoreExceptionsInstanceOf(LockStorageException.class)
                        .untilAsserted(() -> granted(store.save(exclusive(later))));
            }
        }
    }

    @Test
    void givenAHostThatIsUnknownAtFirst_whenItIsKnown_thenTheStoreWorks() throws Exception {
        try (MemcachedServer server = MemcachedServer.start()) {
            try (MemcachedStore store = store(server.address().port(), LONG, this::resolveIfKnown)) {
                assertThatThrownBy(() -> store.save(exclusive(Key.of("r"))))
                        .isInstanceOfSatisfying(LockStorageException.class, HostIT::assertNotSent)
                        .hasMessageContaining("cache.example")
                        .hasMessageContaining("unknown");

                address = server.address().host();

                granted(store.save(exclusive(Key.of("r"))));
            }
        }
    }

    @Test
    void givenOneOfThreeHostsIsUnknown_whenCombined_thenTheOthersGrant() throws Exception {
        try (MemcachedServer one = MemcachedServer.start();
                MemcachedServer other = MemcachedServer.start();
                LockFactory locks = LockFactory.connect("combined:consensus(" + PatientDsn.memcached(one.dsn()) + ","
                        + PatientDsn.memcached(other.dsn()) + ",memcached://no-such-host.invalid)")) {
            Lock lock = locks.createLock("r", Duration.ofMinutes(1));

            assertThat(lock.acquire(LIMIT).isAcquired()).isTrue();
        }
    }

    /** A proxy has statistics of its own, if any, and no clock that counts. */
    @Test
    void givenAProxyTakesThePlaceOfTheServer_whenAsked_thenTheStoreGoesOnWithoutItsClock() throws Exception {
        try (MemcachedServer server = MemcachedServer.start();
                LateProxy proxy = new LateProxy(server.address());
                MemcachedStore store = Stores.patient(proxy.address());
                LockFactory locks = new LockFactory(store)) {
            Lock held = locks.createLock("held", Duration.ofMinutes(1)).acquire();

            proxy.answerStatistics("STAT version 1.6.18\r\nSTAT proxy_conn_requests 1\r\nEND\r\n");

            long start = System.nanoTime();
            Awaitility.await().atMost(LIMIT).until(() -> System.nanoTime() - start > LONGER_THAN_RIGHT.toNanos());
            assertThat(locks.createLock("later", Duration.ofMinutes(1)).tryAcquire())
                    .isTrue();
            assertThat(held.release()).isTrue();
        }
    }

    /** C25. */
    @Test
    void givenAServerThatWantsCredentials_whenAsked_thenDeniedInItsWords() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            Thread answering = new Thread(() -> refuseAll(server));
            answering.setDaemon(true);
            answering.start();
            try (MemcachedStore store = Stores.patient(new ServerAddress("127.0.0.1", server.getLocalPort()))) {
                assertThatThrownBy(() -> store.save(exclusive(Key.of("r"))))
                        .isInstanceOfSatisfying(
                                LockStorageException.class,
                                denied -> assertThat(denied.failure()).isEqualTo(Failure.DENIED))
                        .hasMessageContaining("unauthenticated");
            }
        }
    }

    /** As a server that was started with an authfile. */
    private static void refuseAll(ServerSocket server) {
        try {
            while (true) {
                Socket client = server.accept();
                Scanner lines = new Scanner(client.getInputStream(), StandardCharsets.US_ASCII);
                if (lines.hasNextLine()) {
                    client.getOutputStream()
                            .write("CLIENT_ERROR unauthenticated\r\n".getBytes(StandardCharsets.US_ASCII));
                }
            }
        } catch (IOException closed) {
            // The test is over.
        }
    }

    private InetAddress resolveIfKnown(String host) throws UnknownHostException {
        if (address.isEmpty()) {
            throw new UnknownHostException(host);
        }
        return InetAddress.getByName(address);
    }

    private static MemcachedStore store(int port, Duration timeout, OwnClient.Resolver resolver) {
        Dsn dsn = new Dsn("cache.example", port, Optional.empty(), Protocol.TEXT, timeout);
        return new MemcachedStore.Builder(new OwnClient(dsn, resolver))
                .commandTimeout(timeout)
                .build();
    }

    private static void assertNotSent(LockStorageException failure) {
        assertThat(failure.failure()).isEqualTo(Failure.NOT_SENT);
    }
}
