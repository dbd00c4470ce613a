package dev.latchkey.etcd;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.Requests.shared;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.servers.EtcdServer;
import dev.latchkey.servers.PatientDsn;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Two callers wait with one key. */
class OneKeyTwiceIT {

    private static final Duration LONG_WAIT = Duration.ofMinutes(5);

    /** Its wait ended at once, as if the time were over. */
    @Test
    void givenAReaderAndAWriterOfOneKeyWait_whenItReadsBesideAnother_thenTheWriterWaitsForItsPromotion()
            throws Exception {
        try (EtcdServer server = EtcdServer.start();
                EtcdStore store = Stores.open(PatientDsn.etcd(server.dsn()))) {
            Key other = Key.of("report");
            Key key = Key.of("report");
            granted(store.save(shared(other)));
            CompletableFuture<Void> withdrawn = new CompletableFuture<>();
            BackgroundCall<Response> before = waiting(store, exclusive(Key.of("report")), withdrawn, 1);
            BackgroundCall<Response> reading = waiting(store, shared(key), new CompletableFuture<>(), 2);
            BackgroundCall<Response> writing = waiting(store, exclusive(key), new CompletableFuture<>(), 3);

            withdrawn.complete(null);

            assertThat(before.result()).isInstanceOf(Response.Conflicted.class);
            assertThat(granted(reading.result()).mode()).isEqualTo(LockMode.SHARED);
            assertThat(store.delete(other)).isTrue();
            assertThat(granted(writing.result()).mode()).isEqualTo(LockMode.EXCLUSIVE);
        }
    }

    private static BackgroundCall<Response> waiting(
            EtcdStore store, Request request, CompletableFuture<?> withdrawn, int waiters) {
        BackgroundCall<Response> call = BackgroundCall.start(() -> store.waitAndSave(request, LONG_WAIT, withdrawn));
        Awaitility.await()
                .atMost(TimeLimits.LIMIT)
                .until(() -> store.waiters(request.key().resource()).size() == waiters);
        return call;
    }
}
