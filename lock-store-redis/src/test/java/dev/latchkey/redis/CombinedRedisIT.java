package dev.latchkey.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.servers.PatientDsn;
import dev.latchkey.servers.RedisServer;
import dev.latchkey.spi.InspectableStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.StoreProvider;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.FaultProxy;
import dev.latchkey.testkit.Fixture;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Three servers, of which two must agree, and which are killed, frozen and emptied. */
class CombinedRedisIT {

    private static final Duration LONG_TTL = Fixture.LONG_TTL;
    private static final Duration RENEWED_TTL = TimeLimits.ttl(Duration.ofSeconds(6));
    private static final Duration SHORT_TTL = TimeLimits.ttl(Duration.ofSeconds(2));

    private final List<RedisServer> servers =
            Stream.generate(RedisServer::start).limit(3).toList();
    private final List<LockFactory> factories = new ArrayList<>();

    private LockFactory connect() {
        LockFactory factory = LockFactory.connect(dsn());
        factories.add(factory);
        return factory;
    }

    private String dsn() {
        return "combined:consensus("
                + servers.stream().map(server -> PatientDsn.redis(server.dsn())).collect(Collectors.joining(",")) + ")";
    }

    @AfterEach
    void end() {
        factories.forEach(LockFactory::close);
        servers.forEach(RedisServer::close);
    }

    @Test
    void givenOneServerIsKilledAndRestartedEmpty_whenUsed_thenItGoesOnAndTokensGrow() throws Exception {
        LockFactory locks = connect();
        LockFactory others = connect();
        Lock holder = locks.lock("x").ttl(RENEWED_TTL).autoRefresh().create();
        assertThat(holder.tryAcquire()).isTrue();
        long token = holder.fencingToken().orElseThrow();
        for (RedisServer server : servers) {
            server.kill();
            assertThat(others.createLock("x", LONG_TTL).tryAcquire()).isFalse();
            long between = cycle(locks);

            server.restartEmpty();

            awaitPart(server, holder);
            assertThat(others.createLock("x", LONG_TTL).tryAcquire()).isFalse();
            assertThat(cycle(others)).isGreaterThan(between);
            // The other client may still pause before it connects to this server again, and the next one is about to be
            // killed.
            Lock next = others.lock("next").ttl(RENEWED_TTL).autoRefresh().create();
            assertThat(next.tryAcquire()).isTrue();
            awaitPart(server, next);
            assertThat(next.release()).isTrue();
        }
        assertThat(holder.isExpired()).isFalse();
        assertThat(holder.fencingToken()).hasValue(token);
        assertThat(holder.release()).isTrue();
        Lock next = others.createLock("x", LONG_TTL).acquire(TimeLimits.LIMIT);
        assertThat(next.fencingToken().orElseThrow()).isGreaterThan(token);
    }

    /** Each is stopped for longer than the lease, so that its part of the hold ends there and must be made good. */
    @Test
    void givenOneServerIsStoppedPastTheLease_whenUsed_thenItGoesOnAndTheServerTakesPartAgain() throws Exception {
        LockFactory locks = connect();
        LockFactory others = connect();
        List<LossReason> losses = new CopyOnWriteArrayList<>();
        Lock holder = locks.lock("x")
                .ttl(RENEWED_TTL)
                .autoRefresh()
                .onLost(losses::add)
                .create();
        assertThat(holder.tryAcquire()).isTrue();
        long token = holder.fencingToken().orElseThrow();
        long last = cycle(locks);
        for (RedisServer server : servers) {
            server.freeze();
            Lock lease = locks.createLock("lease", RENEWED_TTL);
            assertThat(lease.tryAcquire()).isTrue();
            while (!lease.isExpired()) {
                long next = cycle(locks);
                assertThat(next).isGreaterThan(last);
                last = cycle(others);
                assertThat(last).isGreaterThan(next);
            }
            assertThat(others.createLock("x", LONG_TTL).tryAcquire()).isFalse();

            server.thaw();

            awaitRenewal(server, holder);
            Lock next = others.lock("next").ttl(RENEWED_TTL).autoRefresh().create();
            assertThat(next.tryAcquire()).isTrue();
            awaitPart(server, next);
            assertThat(next.release()).isTrue();
        }
        assertThat(holder.isExpired()).isFalse();
        assertThat(holder.fencingToken()).hasValue(token);
        assertThat(holder.release()).isTrue();
        Lock next = others.createLock("x", LONG_TTL).acquire(TimeLimits.LIMIT);
        assertThat(next.fencingToken().orElseThrow()).isGreaterThan(token);
        assertThat(losses).isEmpty();
    }

    private static void awaitPart(RedisServer server, Lock holder) {
        Awaitility.await("the hold to be on " + server.address())
                .atMost(TimeLimits.LIMIT)
                .until(() -> state(server, holder).contains(holder.key().token()));
    }

    /** What it held there before may be there still, although its time is over. */
    private static void awaitRenewal(RedisServer server, Lock holder) {
        String before = state(server, holder);
        Awaitility.await("the hold to be renewed on " + server.address())
                .atMost(TimeLimits.LIMIT)
                .until(
                        () -> state(server, holder),
                        now -> !now.equals(before) && now.contains(holder.key().token()));
    }

    private static String state(RedisServer server, Lock lock) {
        return String.valueOf(server.call("GET", "lock:{" + lock.key().resource() + "}"));
    }

    /** The members count by their clocks, and still agree without being asked a second time. */
    @Test
    void givenNobodyElse_whenTakenAgainAndAgain_thenOneRoundTripEachWay() throws Exception {
        LockFactory locks = connect();
        for (int i = 0; i < 20; i++) {
            assertThat(cycle(locks)).isPositive();
        }
        long before = commands();

        for (int i = 0; i < 100; i++) {
            assertThat(cycle(locks)).isPositive();
        }

        // Two a member, and a second phase now and then where a request was under way for longer than others.
        assertThat(commands() - before).isBetween(400L, 750L);
    }

    private long commands() {
        return servers.stream()
                .flatMap(server -> server.text("INFO", "commandstats").lines())
                .filter(line -> line.startsWith("cmdstat_evalsha:"))
                .mapToLong(line -> Long.parseLong(line.substring(line.indexOf("calls=") + 6, line.indexOf(','))))
                .sum();
    }

    private static long cycle(LockFactory locks) throws InterruptedException {
        try (Lock lock = locks.createLock("cycle", LONG_TTL).acquire(TimeLimits.LIMIT)) {
            return lock.fencingToken().orElseThrow();
        }
    }

    @Test
    void givenTwoServersAreDown_whenAsked_thenAFailureInTimeAndItRecovers() throws Exception {
        LockFactory locks = connect();
        long token = cycle(locks);
        servers.get(0).kill();
        servers.get(1).kill();

        assertThatThrownBy(() -> locks.createLock("cycle", LONG_TTL).tryAcquire())
                .isInstanceOf(LockStorageException.class)
                .hasMessageContaining("too few of the 3 members");
        try (PersistingStore store = StoreProvider.connect(dsn())) {
            assertThatThrownBy(() -> store.capability(InspectableStore.class)
                            .orElseThrow()
                            .holders("cycle"))
                    .isInstanceOf(LockStorageException.class);
        }

        servers.get(0).restartEmpty();
        Awaitility.await()
                .atMost(TimeLimits.LIMIT)
                .ignoreException(LockStorageException.class)
                .until(() -> cycle(locks) > token);
    }

    @Test
    void givenTwoServersAreStopped_whenAsked_thenAFailureInTimeAndItRecovers() throws Exception {
        LockFactory locks = connect();
        long token = cycle(locks);
        servers.get(1).freeze();
        servers.get(2).freeze();
        long start = System.nanoTime();

        assertThatThrownBy(() -> locks.createLock("stopped", SHORT_TTL).tryAcquire())
                .isInstanceOf(LockStorageException.class)
                .hasMessageContaining("too few of the 3 members");

        // The member timeout is 5 s, once for the request and once for giving back what may come of it.
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(TimeLimits.scaled(Duration.ofSeconds(20)));
        servers.get(1).thaw();
        long next = Awaitility.await()
                .atMost(TimeLimits.LIMIT)
                .ignoreException(LockStorageException.class)
                .until(() -> cycle(locks), any -> true);
        assertThat(next).isGreaterThan(token);
        servers.get(2).thaw();
        assertThat(locks.createLock("stopped", LONG_TTL).tryAcquire(TimeLimits.LIMIT))
                .isTrue();
    }

    @Test
    void givenTwoServersAreFrozen_whenTheLeaseEnds_thenTheHolderKnowsBeforeARivalHolds() throws Exception {
        LockFactory locks = connect();
        LockFactory others = connect();
        assertThat(cycle(others)).isPositive();
        Lock holder = locks.lock("x").ttl(SHORT_TTL).autoRefresh().create();
        assertThat(holder.tryAcquire()).isTrue();
        servers.get(0).freeze();
        servers.get(2).freeze();
        Awaitility.await().atMost(TimeLimits.LIMIT).until(holder::isExpired);
        BackgroundCall<Boolean> rival = BackgroundCall.start(() -> {
            while (true) {
                try {
                    others.createLock("x", LONG_TTL).acquire();
                    return holder.isExpired();
                } catch (LockStorageException e) {
                    // Two members are frozen still.
                    Thread.onSpinWait();
                }
            }
        });

        servers.get(0).thaw();
        servers.get(2).thaw();

        assertThat(rival.result()).isTrue();
    }

    @Test
    void givenTheHolderIsCutOff_whenARivalHolds_thenTheHolderKnew() throws Exception {
        try (FaultProxy one = FaultProxy.to(servers.get(0).address());
                FaultProxy other = FaultProxy.to(servers.get(1).address())) {
            String dsn = "combined:consensus("
                    + Stream.of(
                                    "redis://" + one.address(),
                                    "redis://" + other.address(),
                                    servers.get(2).dsn())
                            .map(PatientDsn::redis)
                            .collect(Collectors.joining(","))
                    + ")";
            try (LockFactory cut = LockFactory.connect(dsn)) {
                LockFactory others = connect();
                for (int i = 0; i < 3; i++) {
                    Lock holder = cut.lock("x").ttl(SHORT_TTL).autoRefresh().create();
                    assertThat(holder.tryAcquire(TimeLimits.LIMIT)).isTrue();
                    BackgroundCall<Boolean> rival = BackgroundCall.start(() -> {
                        try (Lock lock = others.createLock("x", LONG_TTL).acquire()) {
                            return holder.isExpired() && lock.isAcquired();
                        }
                    });

                    one.refuse();
                    other.refuse();

                    assertThat(rival.result()).isTrue();
                    one.heal();
                    other.heal();
                    Awaitility.await()
                            .atMost(TimeLimits.LIMIT)
                            .ignoreException(LockStorageException.class)
                            .until(() -> cycle(cut) > 0);
                }
            }
        }
    }
}
