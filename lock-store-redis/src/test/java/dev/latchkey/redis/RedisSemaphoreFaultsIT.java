package dev.latchkey.redis;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.LockFactory;
import dev.latchkey.semaphore.Permit;
import dev.latchkey.semaphore.Semaphore;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.FaultProxy;
import dev.latchkey.testkit.PermitStress;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Permits, while connections break, answers and messages are lost, and the server is silent. */
class RedisSemaphoreFaultsIT extends BehindAProxy {

    private static final int OPERATIONS = Integer.getInteger("latchkey.permits.operations", 2_000);
    private static final long SEED = Long.getLong("latchkey.permits.seed", 1);
    private static final String NAME = "permits under faults";
    private static final String KEY = "lock:{" + NAME + "}";

    /** After 5 s in the queue it would find out by itself. */
    private static final Duration SOON = Duration.ofSeconds(4);

    private final RedisKeys keys = new RedisKeys(server);

    /** Faults that are still to happen: not many at once, which would leave nothing undisturbed. */
    private final List<CompletableFuture<Void>> planned = new ArrayList<>();

    private Semaphore semaphore(LockFactory factory, int permits) {
        return semaphore(factory, NAME, permits);
    }

    private static Semaphore semaphore(LockFactory factory, String name, int permits) {
        return factory.semaphore(name, permits).ttl(LONG_TTL).create();
    }

    @Test
    void givenTheReplyToAnAcquireIsLost_whenItIsSentAgain_thenItHoldsOnce() {
        Semaphore behind = semaphore(locks, 3);
        assertThat(behind.tryAcquire(1).orElseThrow().release()).isTrue();
        CompletableFuture<Void> lost = proxy.loseReplyTo(KEY);

        Permit permit = behind.tryAcquire(2).orElseThrow();

        assertThat(lost).isDone();
        Semaphore seen = semaphore(rivals, 3);
        assertThat(seen.available()).isEqualTo(1);
        assertThat(permit.release()).isTrue();
        assertThat(seen.available()).isEqualTo(3);
    }

    @Test
    void givenTheReplyToAReleaseIsLost_thenThePermitsAreFreeAllTheSame() {
        Semaphore behind = semaphore(locks, 3);
        Permit permit = behind.tryAcquire(2).orElseThrow();
        CompletableFuture<Void> lost = proxy.loseReplyTo(KEY);

        permit.close();

        assertThat(lost).isDone();
        assertThat(semaphore(rivals, 3).available()).isEqualTo(3);
    }

    @Test
    void givenTheMessageOfAGrantIsLost_whenTheWaiterAsks_thenItHoldsThePermits() throws Exception {
        Semaphore rival = semaphore(rivals, 1);
        Permit permit = rival.acquire();
        BackgroundCall<Permit> waiting = BackgroundCall.start(semaphore(locks, 1)::acquire);
        Awaitility.await().until(() -> keys.listening().stream().anyMatch(waiter -> waiter.startsWith(KEY + ":s:q: ")));
        CompletableFuture<Void> lost = proxy.dropMessage(CHANNEL);

        assertThat(permit.release()).isTrue();

        assertThat(lost).succeedsWithin(TimeLimits.LIMIT);
        Permit next = waiting.result();
        assertThat(rival.available()).isZero();
        assertThat(next.release()).isTrue();
        assertThat(rival.available()).isEqualTo(1);
    }

    /** It waits for one permit, which others could have: of the numbers they know, its own is the smallest. */
    @Test
    void givenTheFirstInTheQueueIsDead_whenWhatComesFreeIsNotEnoughForIt_thenTheNextIsServed() throws Exception {
        assertThat(Rounds.below(SOON, this::timeToServeBehindTheDead)).isLessThan(SOON);
    }

    private Duration timeToServeBehindTheDead() throws Exception {
        String name = UUID.randomUUID().toString();
        Semaphore rival = semaphore(rivals, name, 5);
        Permit kept = rival.acquire(2);
        Permit released = rival.acquire(1);
        BackgroundCall<Permit> unused = BackgroundCall.start(semaphore(locks, name, 2)::acquire);
        Awaitility.await().until(() -> listening(name) == 1);
        BackgroundCall<Permit> next = BackgroundCall.start(rival::acquire);
        Awaitility.await().until(() -> listening(name) == 2);
        long start = System.nanoTime();
        proxy.refuse();
        proxy.cut();
        Awaitility.await().until(() -> subscribers() == 1);

        assertThat(released.release()).isTrue();

        assertThat(next.result().release()).isTrue();
        Duration took = Duration.ofNanos(System.nanoTime() - start);
        assertThat(kept.release()).isTrue();
        proxy.heal();
        return took;
    }

    private long listening(String name) {
        return keys.listening().stream()
                .filter(waiter -> waiter.startsWith("lock:{" + name + "}:s:q: "))
                .count();
    }

    private long subscribers() {
        return server.call("PUBSUB", "CHANNELS", CHANNEL + "*") instanceof List<?> found ? found.size() : 0;
    }

    /** With -Dlatchkey.permits.operations=100000 and another -Dlatchkey.permits.seed, for longer. */
    @Test
    @Tag("slow")
    @Timeout(value = 3, unit = TimeUnit.HOURS)
    void givenFaultsOfAllKinds_whenStressed_thenNeverMoreAreHeldThanThereAreAndAllComeBack() throws Exception {
        try (FaultProxy second = FaultProxy.to(server.address());
                RedisStore store = open("redis://" + second.address() + "?timeout=1s");
                LockFactory others = new LockFactory(store)) {
            PermitStress stress = new PermitStress(
                    NAME, List.of(locks, others, rivals), OPERATIONS, TimeLimits.ttl(Duration.ofMillis(200)), SEED);
            List<BackgroundCall<Integer>> calls = stress.start();
            // One that lasts until it has met a call: those that follow are brief, and each may miss them.
            second.refuse();
            Awaitility.await()
                    .atMost(TimeLimits.LIMIT)
                    .pollInterval(Duration.ofMillis(1))
                    .until(() -> stress.failures() > 0);
            second.heal();
            Random random = new Random(SEED);
            while (calls.stream().anyMatch(call -> !call.isDone())) {
                disturb(random.nextBoolean() ? proxy : second, random);
                pause(random, 200);
            }
            proxy.heal();
            second.heal();
            int[] acquired = new int[3];
            for (int thread = 0; thread < calls.size(); thread++) {
                acquired[thread % acquired.length] += calls.get(thread).result();
            }
            assertThat(acquired).as("how often the threads of each factory").doesNotContain(0);

            assertThat(stress.history().violations()).isEmpty();
            assertThat(stress.history().size()).isGreaterThan(OPERATIONS / 10);
            assertThat(stress.failures()).as("calls that met a fault").isPositive();
        }
        Semaphore seen = semaphore(rivals, PermitStress.PERMITS);
        Awaitility.await().until(() -> seen.available() == PermitStress.PERMITS);
        assertThat(keys.withoutTtl()).isEmpty();
        assertThat(seen.acquire(PermitStress.PERMITS, TimeLimits.LIMIT).release())
                .isTrue();
        Awaitility.await().until(() -> keys.all().stream().noneMatch(key -> key.startsWith(KEY)));
    }

    private void disturb(FaultProxy network, Random random) throws InterruptedException {
        planned.removeIf(CompletableFuture::isDone);
        switch (random.nextInt(planned.isEmpty() ? 7 : 4)) {
            case 0 -> network.cut();
            case 1 -> {
                network.refuse();
                pause(random, 300);
                network.heal();
            }
            case 2 -> {
                network.silence();
                pause(random, 300);
                network.heal();
            }
            case 3 -> {
                network.delay(Duration.ofMillis(20));
                pause(random, 300);
                network.delay(Duration.ZERO);
            }
            case 4 -> planned.add(network.loseReplyTo(KEY));
            case 5 -> planned.add(network.loseRequest(KEY));
            default -> planned.add(network.dropMessage(CHANNEL));
        }
    }

    private static void pause(Random random, int mostMillis) throws InterruptedException {
        boolean unused = new CountDownLatch(1).await(random.nextInt(mostMillis), TimeUnit.MILLISECONDS);
    }
}
