package dev.latchkey.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.LockFactory;
import dev.latchkey.leader.LeaderElection;
import dev.latchkey.leader.Term;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Elections on sessions and nodes, where others have had two leaders, or none. */
class LeaderElectionIT extends BesideRivals {

    private static final String NAME = "dispatcher";
    private static final Duration PAUSE = Duration.ofMillis(500);

    private final BlockingQueue<Term> terms = new LinkedBlockingQueue<>();

    private LeaderElection.Builder builder(LockFactory factory) {
        return LeaderElection.builder(factory, NAME)
                .ttl(Duration.ofSeconds(3))
                .backoff(PAUSE, PAUSE)
                .onElected(term -> {
                    terms.add(term);
                    new CountDownLatch(1).await();
                });
    }

    private Term nextTerm() throws InterruptedException {
        return Optional.ofNullable(terms.poll(LIMIT.toSeconds(), TimeUnit.SECONDS))
                .orElseThrow(() -> new AssertionError("nobody was elected"));
    }

    /** Curator #692: the leader did not know that its node had been deleted, and went on beside the next one. */
    @Test
    void givenALeader_whenItsNodeIsDeletedByAnother_thenItsTermEndsAndItLeadsAgainLater() throws Exception {
        try (LeaderElection election = builder(locks).start()) {
            Term first = nextTerm();
            nodes.client().delete("/latchkey/" + NAME + "/" + nodes.line(NAME).get(0), -1);

            Awaitility.await().atMost(LIMIT).until(() -> !first.lasts());

            assertThat(nextTerm().number()).isGreaterThan(first.number());
            assertThat(election.isLeader()).isTrue();
        }
    }

    /** Curator #1211: the session ends under a connected leader, whose node is gone with it. */
    @Test
    void givenALeader_whenItsSessionExpires_thenItsTermEndsBeforeAnotherLeadsAndItStandsAgain() throws Exception {
        try (LeaderElection ann = builder(locks).start()) {
            Term first = nextTerm();
            CompletableFuture<Boolean> lastedBeside = new CompletableFuture<>();
            try (LeaderElection bob = LeaderElection.builder(rivals, NAME)
                    .onElected(term -> lastedBeside.complete(first.lasts()))
                    .backoff(PAUSE, PAUSE)
                    .start()) {
                awaitLine(NAME, 2);

                proxy.silence();

                assertThat(lastedBeside.get(LIMIT.toSeconds(), TimeUnit.SECONDS))
                        .isFalse();
                assertThat(first.lasts()).isFalse();
                proxy.heal();
                assertThat(nextTerm().number()).isGreaterThan(first.number());
                assertThat(bob.isLeader()).isFalse();
                assertThat(ann.isLeader()).isTrue();
            }
        }
    }

    /** The delete of the one, and the look of the other one when it hears of that; a sign of life may come in between. */
    @Test
    void givenAnotherStoreFollows_whenTheLeaderResigns_thenTwoRequestsAreTheReleaseAndTheGrant() throws Exception {
        LeaderElection.Builder ann =
                builder(locks).ttl(Duration.ofMinutes(5)).backoff(Duration.ofHours(1), Duration.ofHours(1));
        LeaderElection.Builder bob =
                builder(rivals).ttl(Duration.ofMinutes(5)).backoff(Duration.ofHours(1), Duration.ofHours(1));
        try (LeaderElection leader = ann.start()) {
            Term first = nextTerm();
            try (LeaderElection follower = bob.start()) {
                awaitLine(NAME, 2);
                Awaitility.await()
                        .atMost(LIMIT)
                        .until(() -> direct.sessions().forUse(NAME).waiting() == 1);
                awaitQuiet();
                long beganNanos = System.nanoTime();
                long before = server.packetsReceived();

                assertThat(leader.resign()).isTrue();

                assertThat(nextTerm().number()).isGreaterThan(first.number());
                assertThat(follower.isLeader()).isTrue();
                // Without the question itself. Two sessions have a sign of life each in three seconds at most.
                long packets = server.packetsReceived() - before - 1;
                long seconds = Duration.ofNanos(System.nanoTime() - beganNanos).toSeconds();
                assertThat(packets).isBetween(2L, 4L + 2 * seconds);
            }
        }
    }

    private static void awaitQuiet() {
        AtomicLong last = new AtomicLong();
        Awaitility.await().atMost(LIMIT).pollInterval(Duration.ofMillis(200)).until(() -> {
            long now = server.packetsReceived();
            return now - last.getAndSet(now) == 1;
        });
    }

    /** Curator #1161: two that were left over made and deleted their nodes in turn, for ever. */
    @Test
    void givenThreeStand_whenTheLeaderCloses_thenOneLeadsAndTheServerHasPeace() throws Exception {
        List<LeaderElection> elections = new ArrayList<>();
        try {
            for (int i = 1; i <= 3; i++) {
                elections.add(builder(i % 2 == 0 ? rivals : locks).start());
                awaitLine(NAME, i);
            }
            Term first = nextTerm();

            elections.get(0).close();

            assertThat(nextTerm().number()).isGreaterThan(first.number());
            awaitLine(NAME, 2);
            List<String> line = nodes.line(NAME);
            long beganNanos = System.nanoTime();
            long before = server.packetsReceived();
            Awaitility.await()
                    .pollInterval(Duration.ofSeconds(1))
                    .during(Duration.ofSeconds(3))
                    .atMost(LIMIT)
                    .until(() -> nodes.line(NAME).equals(line));
            // Of two sessions, a sign of life in three seconds at most; a look of the leader in a second, and those of
            // this test.
            long seconds = 1 + Duration.ofNanos(System.nanoTime() - beganNanos).toSeconds();
            assertThat(server.packetsReceived() - before).isLessThan(5 * seconds);
            assertThat(terms).isEmpty();
        } finally {
            elections.forEach(LeaderElection::close);
        }
        assertThat(nodes.line(NAME)).isEmpty();
    }
}
