package dev.latchkey.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.LockStorageException;
import dev.latchkey.servers.EtcdServer;
import dev.latchkey.servers.PatientDsn;
import dev.latchkey.spi.Response;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.FaultProxy;
import dev.latchkey.testkit.Requests;
import dev.latchkey.testkit.TimeLimits;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.LeaseGrpc;
import io.etcd.jetcd.api.LeaseRevokeResponse;
import io.etcd.jetcd.api.TxnResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What ends a wait while something is under way: an interrupt, and the end of the store. */
class ClosingIT {

    private static final Duration LIMIT = TimeLimits.LIMIT;
    private static final Duration TTL = Duration.ofMinutes(5);

    private EtcdServer server;
    private AnswerProxy answers;
    private EtcdStore holders;

    @BeforeEach
    void start() {
        server = EtcdServer.start();
        answers = AnswerProxy.to(server.address());
        holders = Stores.open(PatientDsn.etcd(server.dsn()));
    }

    @AfterEach
    void stop() {
        holders.close();
        answers.close();
        server.close();
    }

    private static Response await(EtcdStore store, Key key) throws InterruptedException {
        return store.waitAndSave(Requests.exclusive(key, TTL), LIMIT, new CompletableFuture<Void>());
    }

    /** Otherwise the thread would go on as if nobody had interrupted it. */
    @Test
    void givenAGrantInDoubt_whenInterruptedAndTheServerIsAway_thenInDoubtAndStillInterrupted() throws Exception {
        try (FaultProxy network = FaultProxy.to(answers.address());
                EtcdStore store = Stores.open("etcd://" + network.address() + "?timeout="
                        + TimeLimits.ttl(Duration.ofSeconds(8)).toMillis() + "ms")) {
            // The first request opens the connection, and may take longer than others.
            Key other = Key.of("other");
            Awaitility.await()
                    .atMost(LIMIT)
                    .ignoreExceptionsInstanceOf(LockStorageException.class)
                    .until(() -> store.save(Requests.exclusive(other, TTL)) instanceof Response.Granted);
            Key held = Key.of("report");
            assertThat(await(holders, held)).isInstanceOf(Response.Granted.class);
            CompletableFuture<Thread> waiter = new CompletableFuture<>();
            BackgroundCall<Boolean> waiting = BackgroundCall.start(() -> {
                waiter.complete(Thread.currentThread());
                assertThatThrownBy(() -> await(store, Key.of("report")))
                        .isInstanceOfSatisfying(
                                LockStorageException.class,
                                failure ->
                                        assertThat(failure.failure()).isEqualTo(LockStorageException.Failure.IN_DOUBT));
                return Thread.interrupted();
            });
            Awaitility.await().atMost(LIMIT).until(() -> server.watchers() == 1);
            answers.<TxnResponse>change(KVGrpc.getTxnMethod(), answer -> {
                if (FaultIT.isGrantInLine(answer)) {
                    // In this order, so that it is interrupted when it learns that the request was not answered.
                    waiter.join().interrupt();
                    network.refuse();
                }
                return answer;
            });

            assertThat(holders.delete(held)).isTrue();

            assertThat(waiting.result()).as("interrupted").isTrue();
            // So that the end of the store need not wait for a server.
            network.heal();
        }
    }

    /** Its place would be before all others for as long as the lease of places lasts. */
    @Test
    void givenTheStoreIsBeingClosed_whenOneStepsIntoTheLine_thenItLeavesNoPlaceThere() throws Exception {
        assertThat(await(holders, Key.of("report"))).isInstanceOf(Response.Granted.class);
        EtcdStore store = Stores.open(answers.dsn() + "?timeout=60s");
        BackgroundCall<Response> first = BackgroundCall.start(() -> await(store, Key.of("report")));
        Awaitility.await().atMost(LIMIT).until(() -> server.watchers() == 1);
        CompletableFuture<Void> isInLine = new CompletableFuture<>();
        CompletableFuture<Void> isClosed = new CompletableFuture<>();
        answers.<TxnResponse>change(KVGrpc.getTxnMethod(), answer -> {
            if (isPlaceOf(answer)) {
                isInLine.complete(null);
                awaitEnd(isClosed);
            }
            return answer;
        });
        CompletableFuture<BackgroundCall<Response>> second = new CompletableFuture<>();
        answers.<LeaseRevokeResponse>change(LeaseGrpc.getLeaseRevokeMethod(), answer -> {
            BackgroundCall<Response> late = BackgroundCall.start(() -> await(store, Key.of("report")));
            second.complete(late);
            Awaitility.await().atMost(LIMIT).until(() -> isInLine.isDone() || late.isDone());
            return answer;
        });

        store.close();
        isClosed.complete(null);

        assertThat(places()).as("places in the line").doesNotContain("\"count\"");
        assertThatThrownBy(first::result).isInstanceOf(LockStorageException.class);
        assertThatThrownBy(second.join()::result).isInstanceOf(LockStorageException.class);
    }

    /** Its place belongs to the lease that is revoked, though it learns of it afterwards. */
    @Test
    void givenAPlaceIsPutBeforeTheStoreIsClosedAndKnownAfterwards_whenClosed_thenItIsGoneAndTheWaitFails()
            throws Exception {
        assertThat(await(holders, Key.of("report"))).isInstanceOf(Response.Granted.class);
        EtcdStore store = Stores.open(answers.dsn() + "?timeout=60s");
        BackgroundCall<Response> first = BackgroundCall.start(() -> await(store, Key.of("report")));
        Awaitility.await().atMost(LIMIT).until(() -> server.watchers() == 1);
        CompletableFuture<Void> isInLine = new CompletableFuture<>();
        CompletableFuture<Void> isRevoked = new CompletableFuture<>();
        answers.<TxnResponse>change(KVGrpc.getTxnMethod(), answer -> {
            if (isEntrance(answer)) {
                isInLine.complete(null);
                awaitEnd(isRevoked);
            }
            return answer;
        });
        BackgroundCall<Response> second = BackgroundCall.start(() -> await(store, Key.of("report")));
        awaitEnd(isInLine);
        assertThat(places()).as("places in the line").contains("\"count\":\"2\"");
        answers.<LeaseRevokeResponse>change(LeaseGrpc.getLeaseRevokeMethod(), answer -> {
            isRevoked.complete(null);
            Awaitility.await().atMost(LIMIT).until(second::isDone);
            return answer;
        });

        store.close();

        assertThat(places()).as("places in the line").doesNotContain("\"count\"");
        assertThatThrownBy(first::result).isInstanceOf(LockStorageException.class);
        assertThatThrownBy(second::result).isInstanceOf(LockStorageException.class);
    }

    /** The answer to one who tries and steps into the line by one request. */
    private static boolean isEntrance(TxnResponse answer) {
        return !answer.getSucceeded()
                && answer.getResponsesCount() == 1
                && answer.getResponses(0).getResponseTxn().getSucceeded();
    }

    /** The answer to one who steps into the line: what is before it was read, and the place put. */
    private static boolean isPlaceOf(TxnResponse answer) {
        return answer.getSucceeded()
                && answer.getResponsesCount() > 1
                && answer.getResponses(0).hasResponseRange()
                && answer.getResponses(answer.getResponsesCount() - 1).hasResponsePut();
    }

    private static void awaitEnd(CompletableFuture<Void> event) {
        event.orTimeout(LIMIT.toSeconds(), TimeUnit.SECONDS).join();
    }

    private String places() {
        return server.call(
                "kv/range",
                "{\"key\":\"%s\",\"range_end\":\"%s\",\"count_only\":true}"
                        .formatted(base64("latchkey/report/q/"), base64("latchkey/report/q0")));
    }

    private static String base64(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }
}
