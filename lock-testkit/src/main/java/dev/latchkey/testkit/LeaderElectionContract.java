package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.leader.Leader;
import dev.latchkey.leader.LeaderElection;
import dev.latchkey.leader.Term;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.ForceReleaseStore;
import dev.latchkey.testkit.FaultyStore.Operation;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Never two leaders who both believe that they lead, and always somebody who leads in the end: for every store with fencing
 * tokens that shows its holders. No store has to join it: an election uses what other contracts have shown.
 */
public interface LeaderElectionContract extends StoreContract {

    /**
     * Returns how many terms follow one another while leaders resign, return, fail and are forced out at random.
     *
     * @return 30 unless overridden
     */
    default int randomTerms() {
        return 30;
    }

    @Test
    default void givenNobodyLeads_whenOneStands_thenItLeadsWithTheTokenOfItsHoldAsNumber(Fixture fixture) {
        try (Candidates candidates = new Candidates(fixture.resource(), Fixture.LONG_TTL)) {
            LeaderElection ann = candidates.stand(fixture.store(), "ann");

            Belief term = candidates.awaitTermAfter(0);

            assertThat(ann.isLeader()).isTrue();
            assertThat(ann.term().map(Term::number)).hasValue(term.number());
            assertThat(ann.leader().orElseThrow().fencingToken()).hasValue(term.number());
        }
    }

    @Test
    default void givenALeader_whenAnotherStands_thenItFollowsAndSeesWhoLeads(Fixture fixture) {
        try (Candidates candidates = new Candidates(fixture.resource(), Fixture.LONG_TTL)) {
            LeaderElection ann = candidates.stand(fixture.store(), "ann");
            long number = candidates.awaitTermAfter(0).number();

            LeaderElection bob = candidates.stand(fixture.store(), "bob");

            assertThat(bob.leader().orElseThrow().fencingToken()).hasValue(number);
            assertThat(bob.isLeader()).isFalse();
            assertThat(bob.resign()).isFalse();
            assertThat(ann.isLeader()).isTrue();
        }
    }

    @Test
    default void givenAnotherFollows_whenTheLeaderResigns_thenTheOtherLeadsWithAGreaterNumber(Fixture fixture) {
        try (Candidates candidates = new Candidates(fixture.resource(), Fixture.LONG_TTL)) {
            LeaderElection ann = candidates.stand(fixture.store(), "ann");
            Belief first = candidates.awaitTermAfter(0);
            LeaderElection bob = candidates.stand(fixture.store(), "bob");

            long resigned = System.nanoTime();
            assertThat(ann.resign()).isTrue();

            assertThat(ann.isLeader()).isFalse();
            assertThat(ann.resign()).isFalse();
            Belief second = candidates.awaitTermOfAnother(first, resigned);
            assertThat(second.who()).isEqualTo("bob");
            assertThat(bob.resign()).isTrue();
            assertThat(candidates.awaitTermAfter(second.number()).number()).isGreaterThan(second.number());
            candidates.check();
        }
    }

    @Test
    default void givenALeader_whenItsCallbackFails_thenAnotherLeads(Fixture fixture) {
        // Ann pauses, but bob may stand still for longer before he looks: not each time.
        Stream<String> next =
                Stream.generate(() -> leaderAfterAFailedCallback(fixture)).limit(3);

        assertThat(next.anyMatch("bob"::equals)).as("bob leads").isTrue();
    }

    private String leaderAfterAFailedCallback(Fixture fixture) {
        CountDownLatch failing = new CountDownLatch(1);
        try (Candidates candidates = new Candidates(fixture.resource(), Fixture.LONG_TTL)) {
            candidates.stand(fixture.store(), "ann", term -> {
                failing.await();
                throw new IllegalArgumentException("a planted failure");
            });
            Belief first = candidates.awaitTermAfter(0);
            candidates.stand(fixture.store(), "bob");

            long failed = System.nanoTime();
            failing.countDown();

            Belief next = candidates.awaitTermAfter(first, failed);
            candidates.check();
            return next.who();
        }
    }

    @Test
    default void givenALeader_whenItIsClosed_thenItsCallbackHasReturnedAndAnotherLeads(Fixture fixture) {
        CompletableFuture<Boolean> wasInterrupted = new CompletableFuture<>();
        try (Candidates candidates = new Candidates(fixture.resource(), Fixture.LONG_TTL)) {
            LeaderElection ann = candidates.stand(fixture.store(), "ann", untilInterrupted(wasInterrupted));
            Belief first = candidates.awaitTermAfter(0);
            LeaderElection bob = candidates.stand(fixture.store(), "bob");

            ann.close();

            assertThat(wasInterrupted).isCompletedWithValue(true);
            assertThat(candidates.awaitTermAfter(first.number()).who()).isEqualTo("bob");
            bob.close();
            assertThat(bob.leader()).isEmpty();
            candidates.check();
        }
    }

    private static Leader untilInterrupted(CompletableFuture<Boolean> wasInterrupted) {
        return term -> {
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException e) {
                wasInterrupted.complete(!term.lasts());
                throw e;
            }
        };
    }

    @Test
    default void givenItFollows_whenItIsClosed_thenItStandsNoMoreAndTheLeaderGoesOn(Fixture fixture) {
        try (Candidates candidates = new Candidates(fixture.resource(), Fixture.LONG_TTL)) {
            LeaderElection ann = candidates.stand(fixture.store(), "ann");
            Belief first = candidates.awaitTermAfter(0);
            LeaderElection bob = candidates.stand(fixture.store(), "bob");

            bob.close();

            assertThat(ann.isLeader()).isTrue();
            ann.resign();
            assertThat(candidates.awaitTermAfter(first.number()).who()).isEqualTo("ann");
        }
    }

    /** The term ends the stop time before the lease, so that the next one cannot begin before the callback has returned. */
    @Test
    @Tag("slow")
    default void givenRenewalsFail_whenAnotherLeads_thenTheFirstTermHadEndedAndItStandsAgain(Fixture fixture)
            throws Exception {
        if (fixture.store().capability(ExpiringStore.class).isEmpty()) {
            return;
        }
        CompletableFuture<Long> returned = new CompletableFuture<>();
        Duration ttl = workingTtl().multipliedBy(2);
        // The callback has all of it to return, and who led pauses for longer, so that the other comes first.
        Duration stopTime = ttl.dividedBy(2);
        Duration pause = stopTime.plus(Candidates.PAUSE);
        try (Candidates candidates = new Candidates(fixture.resource(), ttl)) {
            FaultyStore failing = new FaultyStore(fixture.store());
            LeaderElection.Builder standing = candidates.builder(failing, "ann", term -> {
                while (term.lasts()) {
                    awaitInterrupt();
                }
                returned.complete(System.nanoTime());
            });
            LeaderElection.Builder patient = standing.stopTime(stopTime).backoff(pause, pause);
            LeaderElection ann = candidates.stand(patient, "ann");
            Belief first = candidates.awaitTermAfter(0);
            candidates.stand(fixture.store(), "bob");

            failing.always(Operation.REFRESH, Fault.unreachable());
            failing.always(Operation.DELETE, Fault.unreachable());

            Belief second = candidates.awaitTermAfter(first.number());
            assertThat(second.since() - returned.get(1, TimeUnit.NANOSECONDS)).isPositive();
            // Bob may look late all the same, and ann have another term that is not renewed.
            for (int i = 0; i < 3 && second.who().equals("ann"); i++) {
                second = candidates.awaitTermAfter(second.number());
            }
            assertThat(second.who()).isEqualTo("bob");
            assertThat(ann.isLeader()).isFalse();
            failing.heal();
            Awaitility.await().until(() -> resigned(candidates));
            candidates.check();
        }
    }

    private static void awaitInterrupt() {
        try {
            TimeUnit.MINUTES.sleep(1);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Has whoever leads resign until ann leads again. */
    private static boolean resigned(Candidates candidates) {
        List<Belief> terms = candidates.terms();
        Belief last = terms.get(terms.size() - 1);
        if (last.who().equals("ann") && terms.size() > 1) {
            return true;
        }
        candidates.resign(last.who());
        return false;
    }

    /** The lease of the leader counts, and not that of the follower. */
    @Test
    @Tag("slow")
    default void givenAFollowerWithAShorterLease_whenThatIsOver_thenTheLeaderGoesOn(Fixture fixture) {
        try (Candidates candidates = new Candidates(fixture.resource(), Fixture.LONG_TTL)) {
            LeaderElection ann = candidates.stand(fixture.store(), "ann");
            Belief first = candidates.awaitTermAfter(0);
            LeaderElection bob = candidates.stand(
                    candidates.builder(fixture.store(), "bob", term -> {}).ttl(shortTtl()), "bob");

            Awaitility.await()
                    .during(shortTtl().multipliedBy(4))
                    .atMost(TimeLimits.LIMIT)
                    .until(() -> ann.isLeader() && !bob.isLeader());

            assertThat(candidates.terms()).containsExactly(first);
        }
    }

    @Test
    @Tag("slow")
    default void givenTheStoreFailsWhileItStands_whenItAnswersAgain_thenItLeads(Fixture fixture) {
        FaultyStore failing = new FaultyStore(fixture.store())
                .always(Operation.SAVE, Fault.unreachable())
                .always(Operation.WAIT_AND_SAVE, Fault.unreachable());
        try (Candidates candidates = new Candidates(fixture.resource(), Fixture.LONG_TTL)) {
            LeaderElection ann = candidates.stand(failing, "ann");
            Awaitility.await().until(() -> failing.operations().size() > 1);
            assertThat(ann.isLeader()).isFalse();

            failing.heal();

            assertThat(candidates.awaitTermAfter(0).who()).isEqualTo("ann");
        }
    }

    @Test
    @Tag("slow")
    default void givenACallbackThatDoesNotReturn_whenResigned_thenAnotherLeadsAfterTheStopTime(Fixture fixture) {
        CountDownLatch stuck = new CountDownLatch(1);
        try (Candidates candidates = new Candidates(fixture.resource(), Fixture.LONG_TTL)) {
            LeaderElection ann = candidates.stand(
                    candidates
                            .builder(fixture.store(), "ann", term -> awaitUninterruptibly(stuck))
                            .stopTime(shortTtl()),
                    "ann");
            Belief first = candidates.awaitTermAfter(0);
            LeaderElection bob = candidates.stand(fixture.store(), "bob");

            long resigned = System.nanoTime();
            assertThat(ann.resign()).isTrue();

            Belief second = candidates.awaitTermAfter(first.number());
            assertThat(second.who()).isEqualTo("bob");
            assertThat(Duration.ofNanos(second.since() - resigned)).isGreaterThanOrEqualTo(shortTtl());
            bob.close();
            assertThat(bob.leader())
                    .as("ann does not stand while her callback runs")
                    .isEmpty();
            stuck.countDown();
            assertThat(candidates.awaitTermAfter(second.number()).who()).isEqualTo("ann");
            candidates.check();
        }
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        boolean isInterrupted = false;
        while (latch.getCount() > 0) {
            try {
                latch.await();
            } catch (InterruptedException e) {
                isInterrupted = true;
            }
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    @Tag("slow")
    default void givenLeadersEndAtRandom_whenManyTermsFollow_thenNeverTwoAtOnceAndNumbersGrow(Fixture fixture) {
        Random random = new Random(1);
        try (Candidates candidates = new Candidates(fixture.resource(), Fixture.LONG_TTL)) {
            for (String who : List.of("ann", "bob", "cleo")) {
                candidates.stand(
                        candidates
                                .builder(fixture.store(), who, term -> {})
                                .backoff(Duration.ofMillis(1), Duration.ofMillis(20)),
                        who);
            }
            long number = 0;
            for (int i = 0; i < randomTerms(); i++) {
                Belief term = candidates.awaitTermAfter(number);
                number = term.number();
                end(fixture, candidates, term, random.nextInt(4));
            }
            candidates.check();
            assertThat(candidates.terms()).hasSizeGreaterThanOrEqualTo(randomTerms());
        }
    }

    private static void end(Fixture fixture, Candidates candidates, Belief term, int how) {
        switch (how) {
            case 0 -> term.endBy(Belief.Ending.RETURN);
            case 1 -> term.endBy(Belief.Ending.FAIL);
            case 2 -> candidates.resign(term.who());
            default -> {
                // The term has ended here before the operator ends the hold, beside the release.
                candidates.resign(term.who());
                fixture.store()
                        .capability(ForceReleaseStore.class)
                        .ifPresent(store -> store.forceRelease(fixture.resource(), term.number()));
            }
        }
    }
}
