package dev.latchkey.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.servers.PatientDsn;
import dev.latchkey.testkit.Fixture;
import dev.latchkey.testkit.RemoteFailure;
import dev.latchkey.testkit.RemoteLock;
import dev.latchkey.testkit.Reply;
import dev.latchkey.testkit.SecondProcess;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The holder and the next in line are killed, or frozen for longer than their leases; whoever waits behind them gets it. */
class RedisProcessFaultsIT extends OnOneServer {

    /** Both are struck, in this order. */
    enum Order {
        HOLDER_THEN_WAITER,
        WAITER_THEN_HOLDER
    }

    private static final Duration TTL = TimeLimits.ttl(Duration.ofSeconds(4));
    private static final Duration LONG_WAIT = TTL.multipliedBy(8).plus(TimeLimits.LIMIT);
    private static final String RESOURCE = "report";

    private LockFactory locks;
    private SecondProcess holding;
    private SecondProcess waiting;
    private RemoteLock holder;
    private RemoteLock waiter;
    private Reply waiterReply;
    private long firstToken;

    @BeforeEach
    void holdAndWait() {
        String dsn = PatientDsn.redis(server.dsn());
        locks = LockFactory.connect(dsn);
        List<SecondProcess> processes = SecondProcess.connect(dsn, 2);
        holding = processes.get(0);
        waiting = processes.get(1);
        holder = holding.lock(RESOURCE, TTL);
        waiter = waiting.lock(RESOURCE, TTL);
        Reply holderReply;
        // Both wait before the lease of the one begins: however long it takes until the other waits, that lease is not
        // over.
        try (Lock first = locks.createLock(RESOURCE, Fixture.LONG_TTL)) {
            assertThat(first.tryAcquire()).isTrue();
            holderReply = holder.startAcquire(LONG_WAIT);
            awaitListening(1, holderReply);
            waiterReply = waiter.startAcquire(LONG_WAIT);
            awaitListening(2, waiterReply);
        }
        assertThat(holderReply.isYes()).isTrue();
        firstToken = holder.fencingToken().orElseThrow();
    }

    private static void awaitListening(int count, Reply last) {
        Awaitility.await()
                .atMost(TimeLimits.LIMIT)
                .until(() -> new RedisKeys(server).listening().size() == count);
        last.awaitWaiting();
    }

    @AfterEach
    void end() {
        locks.close();
        holding.close();
        waiting.close();
    }

    private void strike(Order order, Consumer<SecondProcess> fault) {
        fault.accept(order == Order.HOLDER_THEN_WAITER ? holding : waiting);
        fault.accept(order == Order.HOLDER_THEN_WAITER ? waiting : holding);
    }

    @ParameterizedTest
    @EnumSource
    void givenHolderAndNextAreKilled_whenTheLeaseEnds_thenTheOneBehindGetsIt(Order order) throws Exception {
        strike(order, SecondProcess::kill);
        Lock behind = locks.createLock(RESOURCE, Duration.ofSeconds(30));

        assertThat(behind.tryAcquire(TTL.multipliedBy(8))).isTrue();

        assertThat(behind.fencingToken().orElseThrow()).isGreaterThan(firstToken);
        assertThat(behind.release()).isTrue();
        new Aftermath(server, RESOURCE).check(firstToken, TTL);
    }

    @ParameterizedTest
    @EnumSource
    void givenHolderAndNextAreFrozen_whenTheOneBehindGetsIt_thenTheyKnowWhenTheyGoOn(Order order) throws Exception {
        strike(order, SecondProcess::freeze);
        Lock behind = locks.createLock(RESOURCE, Duration.ofSeconds(30));
        assertThat(behind.tryAcquire(TTL.multipliedBy(8))).isTrue();
        long secondToken = behind.fencingToken().orElseThrow();
        assertThat(secondToken).isGreaterThan(firstToken);

        holding.thaw();
        waiting.thaw();

        assertThat(holder.isExpired()).isTrue();
        assertThatThrownBy(holder::refresh).isInstanceOf(RemoteFailure.class).hasMessageContaining("LockLostException");
        assertThat(holder.release()).isFalse();
        assertThat(waiter.isAcquired()).isFalse();
        assertThat(behind.isAcquired()).isTrue();
        assertThat(behind.release()).isTrue();
        assertThat(waiterReply.isYes()).isTrue();
        long thirdToken = waiter.fencingToken().orElseThrow();
        assertThat(thirdToken).isGreaterThan(secondToken);
        assertThat(waiter.release()).isTrue();
        new Aftermath(server, RESOURCE).check(thirdToken, TTL);
    }

    @ParameterizedTest
    @EnumSource
    void givenOneIsKilledAndTheOtherFrozen_whenTheLeasesEnd_thenTheOneBehindGetsIt(Order order) throws Exception {
        boolean holderIsKilled = order == Order.HOLDER_THEN_WAITER;
        (holderIsKilled ? holding : waiting).kill();
        SecondProcess frozen = holderIsKilled ? waiting : holding;
        frozen.freeze();
        Lock behind = locks.createLock(RESOURCE, Duration.ofSeconds(30));

        assertThat(behind.tryAcquire(TTL.multipliedBy(8))).isTrue();

        long token = behind.fencingToken().orElseThrow();
        assertThat(token).isGreaterThan(firstToken);
        frozen.kill();
        assertThat(behind.release()).isTrue();
        new Aftermath(server, RESOURCE).check(token, TTL);
    }
}
