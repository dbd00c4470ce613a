package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockListener;
import dev.latchkey.LockStorageException;
import dev.latchkey.leader.LeaderElection;
import dev.latchkey.leader.Term;
import dev.latchkey.store.InMemoryStore;
import dev.latchkey.store.NullStore;
import dev.latchkey.testkit.FaultyStore.Operation;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What an election asks of the store, and what becomes of its threads. */
class LeaderElectionTest {

    private static final String NAME = "dispatcher";
    private static final Duration TTL = TimeLimits.ttl(Duration.ofMillis(900));
    private static final Duration FIRST = Duration.ofMillis(20);

    private final InMemoryStore memory = new InMemoryStore();
    private final FaultyStore store = new FaultyStore(memory);
    private final LockFactory locks = new LockFactory(store);
    private final LockFactory others = new LockFactory(store);
    private final BlockingQueue<Term> terms = new LinkedBlockingQueue<>();

    @AfterEach
    void close() {
        locks.close();
        others.close();
    }

    private LeaderElection.Builder builder(LockFactory factory) {
        return LeaderElection.builder(factory, NAME)
                .ttl(TTL)
                .backoff(FIRST, FIRST.multipliedBy(8))
                .onElected(this::lead);
    }

    private void lead(Term term) throws InterruptedException {
        terms.add(term);
        new CountDownLatch(1).await();
    }

    private Term nextTerm() throws InterruptedException {
        return Optional.ofNullable(terms.poll(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS))
                .orElseThrow(() -> new AssertionError("nobody was elected"));
    }

    /** One round trip: the release is the hand-over. */
    @Test
    void givenAnotherWaits_whenTheLeaderResigns_thenTheStoreIsAskedOnce() throws Exception {
        try (LeaderElection ann = builder(locks).ttl(Fixture.LONG_TTL).start()) {
            Term first = nextTerm();
            try (LeaderElection bob = builder(others).ttl(Fixture.LONG_TTL).start()) {
                await().until(() -> memory.waiters(NAME).size() == 1);
                store.forgetCalls();
                store.always(Operation.SAVE, Fault.unreachable());

                assertThat(ann.resign()).isTrue();

                Term second = nextTerm();
                assertThat(second.number()).isGreaterThan(first.number());
                assertThat(first.lasts()).isFalse();
                assertThat(bob.isLeader()).isTrue();
                // Ann stands again meanwhile.
                List<Operation> asked = store.operations();
                assertThat(asked.get(0)).isEqualTo(Operation.DELETE);
                assertThat(asked.subList(1, asked.size())).doesNotContain(Operation.DELETE, Operation.FIND);
            }
        }
    }

    @Test
    void givenThreeStand_whenEachResignsInTurn_thenWhoResignedComesLast() throws Exception {
        List<LeaderElection> elections = new CopyOnWriteArrayList<>();
        try {
            for (int i = 0; i < 3; i++) {
                elections.add(builder(locks).ttl(Fixture.LONG_TTL).start());
                int standing = i + 1;
                await().until(() ->
                        memory.holders(NAME).size() + memory.waiters(NAME).size() == standing);
            }
            Term term = nextTerm();
            for (int i = 0; i < 9; i++) {
                int leads = i % 3;
                assertThat(elections.get(leads).term()).hasValue(term);
                assertThat(elections.get(leads).resign()).isTrue();
                term = nextTerm();
                // It stands again, as the last.
                await().until(() -> memory.waiters(NAME).size() == 2);
            }
        } finally {
            elections.forEach(LeaderElection::close);
        }
    }

    @Test
    @Tag("slow")
    void givenALeader_whenItsLeaseIsNotRenewed_thenItsTermEndsTheStopTimeBefore() throws Exception {
        // The callback looks at the rest of its lease before that is over.
        Duration ttl = TimeLimits.ttl(Duration.ofSeconds(6));
        Duration stopTime = ttl.dividedBy(3);
        CompletableFuture<Duration> rest = new CompletableFuture<>();
        try (LeaderElection election = LeaderElection.builder(locks, NAME)
                .ttl(ttl)
                .stopTime(stopTime)
                .onElected(term -> {
                    terms.add(term);
                    try {
                        new CountDownLatch(1).await();
                    } finally {
                        rest.complete(locks.holders(NAME).get(0).remaining().orElseThrow());
                    }
                })
                .start()) {
            Term term = nextTerm();
            assertThat(term.remaining().orElseThrow()).isLessThanOrEqualTo(ttl.minus(stopTime));

            store.always(Operation.REFRESH, Fault.unreachable());

            assertThat(rest.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS))
                    .isPositive()
                    .isLessThanOrEqualTo(stopTime.plus(ttl.dividedBy(50)));
            assertThat(term.lasts()).isFalse();
            assertThat(term.remaining()).hasValue(Duration.ZERO);
            assertThat(election.term()).isNotEqualTo(Optional.of(term));
        }
    }

    @Test
    void givenALeader_whenItsHoldIsLost_thenItsCallbackIsInterruptedAndItStandsAgain() throws Exception {
        try (LeaderElection election = builder(locks).ttl(Fixture.LONG_TTL).start()) {
            Term first = nextTerm();

            others.forceRelease(NAME, first.number());

            assertThat(nextTerm().number()).isGreaterThan(first.number());
            assertThat(first.lasts()).isFalse();
            assertThat(election.isLeader()).isTrue();
        }
    }

    @Test
    void givenALeader_whenItsFactoryIsClosed_thenItsTermEndsAndItsThreadsToo() throws Exception {
        LeaderElection election = builder(locks).ttl(Fixture.LONG_TTL).start();
        Term term = nextTerm();

        locks.close();

        assertThat(term.lasts()).isFalse();
        assertThat(others.createLock(NAME).tryAcquire()).isTrue();
        await().until(() -> threads("latchkey-leader") + threads("latchkey-candidate") == 0);
        election.close();
    }

    @Test
    void givenItFollows_whenItsFactoryIsClosed_thenItsThreadEnds() throws Exception {
        assertThat(others.createLock(NAME, Fixture.LONG_TTL).tryAcquire()).isTrue();
        LeaderElection election = builder(locks).start();
        await().until(() -> !store.operations().isEmpty());

        locks.close();

        await().until(() -> threads("latchkey-candidate") == 0);
        election.close();
        assertThat(terms).isEmpty();
    }

    private static long threads(String name) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals(name))
                .count();
    }

    @Test
    void givenACallbackThatClosesItsElection_whenItReturns_thenReleased() throws Exception {
        CompletableFuture<LeaderElection> self = new CompletableFuture<>();
        CompletableFuture<Boolean> closed = new CompletableFuture<>();
        LeaderElection election = LeaderElection.builder(locks, NAME)
                .ttl(Fixture.LONG_TTL)
                .onElected(term -> {
                    self.join().close();
                    closed.complete(term.lasts());
                })
                .start();
        self.complete(election);

        assertThat(closed.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS)).isFalse();

        election.close();
        assertThat(locks.holders(NAME)).isEmpty();
    }

    @Test
    void givenAnInterruptedThread_whenItCloses_thenClosedAndStillInterrupted() throws Exception {
        LeaderElection election = builder(locks).start();
        nextTerm();

        Thread.currentThread().interrupt();
        election.close();

        assertThat(Thread.interrupted()).isTrue();
        assertThat(locks.holders(NAME)).isEmpty();
        election.close();
    }

    /** Each pause is longer than the one before, and the listener of the factory hears of each failure. */
    @Test
    void givenTheStoreIsAway_whenItStands_thenItTriesLessAndLessOftenAndListenersHear() throws Exception {
        // Of the store: the listener hears of them later, and not always by the same time.
        List<Long> attempts = new CopyOnWriteArrayList<>();
        AtomicInteger failures = new AtomicInteger();
        LockListener listener = new LockListener() {
            @Override
            public void failed(Failed event) {
                failures.incrementAndGet();
            }
        };
        store.always(Operation.WAIT_AND_SAVE, Fault.meanwhile(() -> {
            attempts.add(System.nanoTime());
            throw new LockStorageException(NAME, "no answer (a planted fault)", null);
        }));
        try (LockFactory heard = LockFactory.builder(store).listener(listener).build();
                LeaderElection election = builder(heard).start()) {
            await().until(() -> failures.get() >= 4);

            assertThat(Duration.ofNanos(attempts.get(3) - attempts.get(0)))
                    .isGreaterThan(FIRST.multipliedBy(1 + 2 + 4));
            assertThat(election.isLeader()).isFalse();
            store.heal();
            nextTerm();
        }
    }

    @Test
    void givenACallbackThatFails_whenItStandsAgain_thenAfterAPause() throws Exception {
        List<Long> starts = new CopyOnWriteArrayList<>();
        try (LeaderElection election = LeaderElection.builder(locks, NAME)
                .backoff(FIRST, FIRST.multipliedBy(8))
                .onElected(term -> {
                    starts.add(System.nanoTime());
                    throw new IllegalArgumentException("a planted failure");
                })
                .start()) {
            await().until(() -> starts.size() >= 4);

            assertThat(Duration.ofNanos(starts.get(3) - starts.get(0))).isGreaterThan(FIRST.multipliedBy(1 + 2 + 4));
            assertThat(election.toString()).startsWith("LeaderElection[" + NAME);
        }
    }

    @Test
    void givenAStoreWithoutTokens_whenElected_thenTheTermHasNoNumber() throws Exception {
        try (LockFactory free = new LockFactory(new NullStore());
                LeaderElection election = builder(free).start()) {
            Term term = nextTerm();

            assertThatThrownBy(term::number)
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("fencing tokens");
            assertThat(term.toString()).contains("lasts");
            assertThat(term.remaining()).isEmpty();
            assertThat(election.isLeader()).isTrue();
        }
    }

    @Test
    void givenWrongOptions_whenBuilt_thenRefusedWithWhatIsRight() {
        assertThatThrownBy(() -> LeaderElection.builder(locks, NAME).start())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("onElected");
        assertThatThrownBy(() -> builder(locks).stopTime(TTL).start())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("half of the TTL");
        assertThatThrownBy(() -> builder(locks).stopTime(Duration.ofMillis(-1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("negative");
        assertThatThrownBy(() -> builder(locks).ttl(Duration.ZERO)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> builder(locks).backoff(Duration.ZERO, FIRST))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> builder(locks).backoff(FIRST.plus(FIRST), FIRST))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> LeaderElection.builder(locks, "x".repeat(20_000)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    /** An exception to the rule that a term ends before a rival can hold: a planted defect that the witness has to see. */
    @Test
    void givenALeaderThatBelievesTooLong_whenChecked_thenTheWitnessSeesTwo() throws Exception {
        try (Candidates candidates = new Candidates(NAME, Fixture.LONG_TTL)) {
            LeaderElection ann = candidates.stand(store, "ann");
            Belief first = candidates.awaitTermAfter(0);
            // Not to stand again where this thread is late.
            ann.close();
            Lock next = others.createLock(NAME).acquire();
            Belief second = new Belief("bob", next.fencingToken().orElseThrow());
            first.seenAfter(System.nanoTime() + 1);
            second.seenAfter(System.nanoTime() + 2);

            assertThat(second.overlaps(first)).isTrue();
        }
    }
}
