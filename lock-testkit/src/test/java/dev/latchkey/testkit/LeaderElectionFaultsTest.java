package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.latchkey.Key;
import dev.latchkey.LockFactory;
import dev.latchkey.LockListener;
import dev.latchkey.leader.Leader;
import dev.latchkey.leader.LeaderElection;
import dev.latchkey.leader.Term;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.store.InMemoryStore;
import dev.latchkey.store.NullStore;
import dev.latchkey.testkit.FaultyStore.Operation;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Callbacks, stores and callers that do what they should not: nobody leads beside another, and somebody leads in the end. */
class LeaderElectionFaultsTest {

    private static final String NAME = "dispatcher";
    private static final Duration FIRST = Duration.ofMillis(10);

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

    private LeaderElection.Builder builder(LockFactory factory, Leader leader) {
        return LeaderElection.builder(factory, NAME)
                .ttl(Fixture.LONG_TTL)
                .backoff(FIRST, FIRST.multipliedBy(2))
                .onElected(leader);
    }

    private LeaderElection.Builder builder(LockFactory factory) {
        return builder(factory, this::lead);
    }

    private void lead(Term term) throws InterruptedException {
        terms.add(term);
        new CountDownLatch(1).await();
    }

    private Term nextTerm() throws InterruptedException {
        return Optional.ofNullable(terms.poll(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS))
                .orElseThrow(() -> new AssertionError("nobody was elected"));
    }

    /** Nobody stood any more: it was taken for the end of the factory. fabric8 #6020. */
    @Test
    void givenTheStoreThrowsAnIllegalState_whenItAnswersAgain_thenItLeads() throws Exception {
        store.next(Operation.WAIT_AND_SAVE, Fault.meanwhile(() -> {
            throw new IllegalStateException("a planted failure");
        }));
        try (LeaderElection election = builder(locks).start()) {
            assertThat(nextTerm().lasts()).isTrue();
            assertThat(election.isLeader()).isTrue();
        }
    }

    /** Nobody stood any more: what failed was written to the log, which failed. */
    @Test
    void givenAFailureThatCannotBeLogged_whenTheStoreAnswersAgain_thenItLeads() throws Exception {
        store.next(Operation.WAIT_AND_SAVE, Fault.meanwhile(() -> {
            throw new Unprintable();
        }));
        try (LeaderElection election = builder(locks).start()) {
            assertThat(nextTerm().lasts()).isTrue();
            assertThat(election.isLeader()).isTrue();
        }
    }

    private static final class Unprintable extends RuntimeException {

        private static final long serialVersionUID = 1;

        @Override
        public String getMessage() {
            throw new IllegalArgumentException("it has no message");
        }
    }

    @Test
    void givenCallbacksThatThrowWhateverTheyLike_whenTheyHave_thenItLeadsAgain() throws Exception {
        AtomicInteger calls = new AtomicInteger();
        List<Throwable> thrown = List.of(
                new StackOverflowError("planted"),
                new OutOfMemoryError("planted"),
                new InterruptedException("planted"),
                new Unprintable(),
                new IllegalStateException("planted"));
        try (LeaderElection election = builder(locks, term -> {
                    int call = calls.getAndIncrement();
                    if (call < thrown.size()) {
                        fail(thrown.get(call));
                    }
                    lead(term);
                })
                .start()) {
            assertThat(nextTerm().lasts()).isTrue();
            assertThat(election.isLeader()).isTrue();
            assertThat(calls).hasValue(thrown.size() + 1);
        }
    }

    private static void fail(Throwable thrown) throws Exception {
        if (thrown instanceof Error error) {
            throw error;
        }
        throw (Exception) thrown;
    }

    /** The thread that stands ended with an ArithmeticException. */
    @Test
    void givenPausesWithoutALimit_whenCallbacksFail_thenItStandsAgain() throws Exception {
        AtomicBoolean hasFailed = new AtomicBoolean();
        try (LeaderElection election = builder(locks, term -> {
                    if (hasFailed.compareAndSet(false, true)) {
                        throw new IllegalArgumentException("a planted failure");
                    }
                    lead(term);
                })
                .backoff(FIRST, ChronoUnit.FOREVER.getDuration())
                .start()) {
            assertThat(nextTerm().lasts()).isTrue();
            assertThat(election.isLeader()).isTrue();
        }
    }

    /** The warning was left out if the callback had failed before. */
    @Test
    void givenTheCallbackHasFailed_whenTheStoreFailsToo_thenAWarningSaysSo() {
        PrintStream before = System.err;
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        System.setErr(new PrintStream(said, true, StandardCharsets.UTF_8));
        try (LeaderElection election = builder(locks, term -> {
                    store.always(Operation.WAIT_AND_SAVE, Fault.unreachable());
                    throw new IllegalArgumentException("a planted failure");
                })
                .start()) {
            await().until(() -> store.operations().stream()
                            .filter(Operation.WAIT_AND_SAVE::equals)
                            .count()
                    > 2);
            assertThat(election.isLeader()).isFalse();
        } finally {
            System.setErr(before);
        }
        assertThat(said.toString(StandardCharsets.UTF_8)).containsOnlyOnce("leader.standing_failed");
    }

    @Test
    void givenACallbackThatResigns_whenItReturns_thenAnotherLeads() throws Exception {
        CompletableFuture<LeaderElection> self = new CompletableFuture<>();
        BlockingQueue<Boolean> resigned = new LinkedBlockingQueue<>();
        try (LeaderElection ann = builder(locks, term -> {
                            boolean first = self.join().resign();
                            resigned.add(first && !self.join().resign() && !term.lasts());
                            lead(term);
                        })
                        .backoff(Duration.ofHours(1), Duration.ofHours(1))
                        .start();
                LeaderElection bob = builder(others).start()) {
            await().until(() -> ann.isLeader() || bob.isLeader());
            self.complete(ann);
            if (bob.isLeader()) {
                bob.resign();
            }

            assertThat(resigned.poll(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
            await().until(bob::isLeader);
            assertThat(ann.isLeader()).isFalse();
        }
    }

    @Test
    void givenACallbackThatClosesTheFactory_whenItReturns_thenNothingIsHeldAndNoThreadIsLeft() throws Exception {
        CountDownLatch closed = new CountDownLatch(1);
        LeaderElection election = builder(locks, term -> {
                    locks.close();
                    assertThat(term.lasts()).isFalse();
                    closed.countDown();
                })
                .start();

        assertThat(closed.await(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();

        assertThat(others.createLock(NAME).tryAcquire()).isTrue();
        election.close();
        await().until(() -> threads() == 0);
    }

    private static long threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("latchkey-leader")
                        || thread.getName().equals("latchkey-candidate"))
                .count();
    }

    @Test
    void givenManyElectionsOfOneFactory_whenEachIsClosedByTheLeader_thenOneLeadsAtATimeAndNoThreadIsLeft()
            throws Exception {
        int many = 50;
        List<LeaderElection> elections = new ArrayList<>();
        // The same builder starts another election each time.
        LeaderElection.Builder builder = builder(locks);
        for (int i = 0; i < many; i++) {
            elections.add(builder.start());
        }
        long number = 0;
        for (int i = 0; i < many; i++) {
            Term term = nextTerm();
            assertThat(term.number()).isGreaterThan(number);
            number = term.number();
            List<LeaderElection> leaders =
                    elections.stream().filter(LeaderElection::isLeader).toList();
            assertThat(leaders).hasSize(1);

            leaders.get(0).close();
            assertThat(term.lasts()).isFalse();
        }
        assertThat(terms).isEmpty();
        assertThat(locks.holders(NAME)).isEmpty();
        await().until(() -> threads() == 0);
    }

    /** close() and resign() come at any moment of the way to the grant, and beside each other. */
    @Test
    void givenResignedAndClosedAtTheMomentOfTheElection_whenBothHaveReturned_thenNothingIsHeld() throws Exception {
        Random random = new Random(7);
        for (int i = 0; i < 300; i++) {
            AtomicInteger running = new AtomicInteger();
            LeaderElection election = builder(locks, term -> {
                        running.incrementAndGet();
                        try {
                            new CountDownLatch(1).await();
                        } finally {
                            running.decrementAndGet();
                        }
                    })
                    .start();
            spin(random.nextInt(400_000));
            BackgroundCall<Boolean> resigning = BackgroundCall.start(election::resign);
            spin(random.nextInt(100_000));

            election.close();

            assertThat(running).hasValue(0);
            assertThat(election.isLeader()).isFalse();
            assertThat(locks.holders(NAME)).isEmpty();
            boolean unused = resigning.result();
        }
        await().until(() -> threads() == 0);
    }

    private static void spin(int nanos) {
        long end = System.nanoTime() + nanos;
        while (end - System.nanoTime() > 0) {
            Thread.onSpinWait();
        }
    }

    @Test
    void givenTheGrantIsOnItsWay_whenClosed_thenItIsGivenBackAndTheCallbackIsNotCalled() throws Exception {
        Pause grant = new Pause();
        store.next(Operation.WAIT_AND_SAVE, Fault.pausedAfter(grant));
        LeaderElection election = builder(locks).start();
        grant.awaitReached();

        BackgroundCall<Boolean> closing = BackgroundCall.start(() -> {
            election.close();
            return true;
        });
        closing.awaitWaiting();
        grant.end();

        assertThat(closing.result()).isTrue();
        assertThat(terms).isEmpty();
        assertThat(locks.holders(NAME)).isEmpty();
    }

    @Test
    void givenListenersThatThrowAndHang_whenTheHoldIsLost_thenTheTermEndsAndTheCallbackIsInterrupted()
            throws Exception {
        CountDownLatch hang = new CountDownLatch(1);
        LockListener listener = new LockListener() {
            @Override
            public void held(Held event) {
                throw new IllegalStateException("planted");
            }

            @Override
            public void lost(Lost event) {
                throw new StackOverflowError("planted");
            }
        };
        try (LockFactory heard = LockFactory.builder(store).listener(listener).build()) {
            var other = heard.createLock("another", Fixture.LONG_TTL);
            CountDownLatch hangs = new CountDownLatch(1);
            other.onLost(reason -> {
                hangs.countDown();
                awaitUninterruptibly(hang);
            });
            assertThat(other.tryAcquire()).isTrue();
            assertThat(heard.forceRelease("another", other.fencingToken().orElseThrow()))
                    .isTrue();
            assertThat(hangs.await(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
            CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
            try (LeaderElection election = builder(heard, term -> {
                        try {
                            lead(term);
                        } finally {
                            interrupted.complete(!term.lasts());
                        }
                    })
                    .start()) {
                Term term = nextTerm();

                assertThat(others.forceRelease(NAME, term.number())).isTrue();

                assertThat(interrupted.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS))
                        .isTrue();
                assertThat(nextTerm().number()).isGreaterThan(term.number());
                assertThat(election.isLeader()).isTrue();
                hang.countDown();
            }
        }
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        while (latch.getCount() > 0) {
            try {
                latch.await();
            } catch (InterruptedException e) {
                // Only the latch ends it.
            }
        }
    }

    /** Curator #692: the leader went on for ever. On a store without leases nothing renews, and so nothing had asked. */
    @Test
    void givenASessionStoreThatTellsNothing_whenTheHoldIsRemovedByAnother_thenTheTermEnds() throws Exception {
        Removable removable = new Removable();
        // It is looked at every second, and may be so a few seconds late.
        Duration ttl = TimeLimits.ttl(Duration.ofSeconds(6));
        try (LockFactory removing = new LockFactory(removable);
                LeaderElection election = builder(removing).ttl(ttl).start()) {
            Term term = nextTerm();

            removable.isRemoved = true;
            long removed = System.nanoTime();

            await().pollInterval(Duration.ofMillis(5)).until(() -> !term.lasts());
            assertThat(Duration.ofNanos(System.nanoTime() - removed)).isLessThan(ttl);
            removable.isRemoved = false;
            assertThat(nextTerm().lasts()).isTrue();
            assertThat(election.isLeader()).isTrue();
        }
    }

    /** The lock was released while the callback went on, and nobody interrupted it. */
    @Test
    void givenAStoreThatFailsWhenItsHoldIsLookedAt_whenReleased_thenTheCallbackHasReturned() throws Exception {
        List<String> events = new CopyOnWriteArrayList<>();
        Unreadable unreadable = new Unreadable(events);
        try (LockFactory reading = new LockFactory(unreadable);
                LeaderElection election = builder(reading, term -> {
                            try {
                                lead(term);
                            } finally {
                                events.add("returned");
                            }
                        })
                        .start()) {
            Term term = nextTerm();

            unreadable.isBroken = true;

            await().until(() -> events.contains("released"));
            assertThat(events).startsWith("returned", "released");
            assertThat(term.lasts()).isFalse();
            unreadable.isBroken = false;
            nextTerm();
            assertThat(election.isLeader()).isTrue();
        }
    }

    /** Says when it is asked to release. */
    private static final class Unreadable implements PersistingStore {

        private final List<String> events;
        private volatile boolean isBroken;

        Unreadable(List<String> events) {
            this.events = events;
        }

        @Override
        public Response save(Request request) {
            return new Response.Granted(
                    request.mode(), OptionalLong.of(1), Lease.session(new CompletableFuture<>(), this::isLive));
        }

        private boolean isLive() {
            if (isBroken && Thread.currentThread().getName().equals("latchkey-candidate")) {
                isBroken = false;
                throw new IllegalArgumentException("a planted failure");
            }
            return true;
        }

        @Override
        public boolean delete(Key key) {
            events.add("released");
            return true;
        }

        @Override
        public Optional<Response.Granted> find(Key key) {
            return new NullStore().find(key);
        }
    }

    /** Curator #1161: two that were left over disturbed one another for ever. */
    @Test
    void givenThreeStand_whenTheLeaderIsClosed_thenTheNextLeadsAndNothingElseIsAsked() throws Exception {
        List<LeaderElection> elections = new ArrayList<>();
        try {
            for (int i = 1; i <= 3; i++) {
                elections.add(builder(i % 2 == 0 ? others : locks).start());
                int standing = i;
                await().until(() ->
                        memory.holders(NAME).size() + memory.waiters(NAME).size() == standing);
            }
            Term first = nextTerm();
            store.forgetCalls();

            elections.get(0).close();

            assertThat(nextTerm().number()).isGreaterThan(first.number());
            await().during(Duration.ofMillis(300))
                    .atMost(TimeLimits.LIMIT)
                    .until(() -> store.operations().equals(List.of(Operation.DELETE)));
            assertThat(elections.stream().filter(LeaderElection::isLeader)).hasSize(1);
        } finally {
            elections.forEach(LeaderElection::close);
        }
    }

    /** fabric8 #7350: it led before the store had said that it does. */
    @Test
    void givenTheAnswerToTheGrantIsLost_whenItWasGranted_thenItDoesNotLeadByItAndNobodyIsInTheWay() throws Exception {
        store.next(Operation.WAIT_AND_SAVE, Fault.replyLost());
        try (LeaderElection ann =
                builder(locks).backoff(Duration.ofHours(1), Duration.ofHours(1)).start()) {
            await().until(() -> store.operations().contains(Operation.DELETE));

            try (LeaderElection bob = builder(others).start()) {
                nextTerm();
                assertThat(bob.isLeader()).isTrue();
                assertThat(ann.isLeader()).isFalse();
                assertThat(terms).isEmpty();
            }
        }
    }

    /** fabric8 #4798: a renewal came in between, and the release failed. Nobody led until the lease was over. */
    @Test
    @Tag("slow")
    void givenARenewalIsOnItsWay_whenTheLeaderResigns_thenItIsReleasedAllTheSame() throws Exception {
        Pause renewal = new Pause();
        store.next(Operation.REFRESH, Fault.pausedAfter(renewal));
        try (LeaderElection ann = builder(locks)
                // Its term is not over before it resigns, though a renewal is not answered.
                .ttl(Duration.ofSeconds(8))
                .backoff(Duration.ofHours(1), Duration.ofHours(1))
                .start()) {
            Term first = nextTerm();
            try (LeaderElection bob = builder(others).start()) {
                renewal.awaitReached();

                assertThat(ann.resign()).isTrue();
                renewal.end();

                assertThat(nextTerm().number()).isGreaterThan(first.number());
                assertThat(bob.isLeader()).isTrue();
                assertThat(store.operations().stream()
                                .filter(Operation.DELETE::equals)
                                .count())
                        .isOne();
            }
        }
    }

    /** Grants without a lease, and knows whether the hold is still there when it is asked. */
    private static final class Removable implements PersistingStore {

        private final NullStore granting = new NullStore();
        private volatile boolean isRemoved;

        @Override
        public Response save(Request request) {
            return new Response.Granted(
                    request.mode(), OptionalLong.of(1), Lease.session(new CompletableFuture<>(), Lease.ALWAYS));
        }

        @Override
        public boolean delete(Key key) {
            return granting.delete(key);
        }

        @Override
        public Optional<Response.Granted> find(Key key) {
            return isRemoved ? Optional.empty() : granting.find(key);
        }
    }

    @Test
    void givenAStoreThatShowsNoHolders_whenAskedWhoLeads_thenUnsupported() throws Exception {
        try (LockFactory free = new LockFactory(new NullStore());
                LeaderElection election = builder(free).start()) {
            nextTerm();

            assertThatThrownBy(election::leader).isInstanceOf(UnsupportedOperationException.class);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a b", "x\ny", "über/øre", "🔒"})
    void givenAnyName_whenAskedElsewhereWhoLeads_thenItsOwnerOrNobody(String name) throws Exception {
        try (LockFactory ann = LockFactory.builder(store).owner("ann").build()) {
            assertThat(others.holders(name)).isEmpty();
            try (LeaderElection election = LeaderElection.builder(ann, name)
                    .ttl(Fixture.LONG_TTL)
                    .onElected(this::lead)
                    .start()) {
                Term term = nextTerm();

                assertThat(others.holders(name)).singleElement().satisfies(holder -> {
                    assertThat(holder.fencingToken()).hasValue(term.number());
                    assertThat(holder.description()).hasValue("ann");
                });
                assertThat(election.toString().lines()).hasSize(1);
            }
            assertThat(others.holders(name)).isEmpty();
        }
    }

    /** Whoever stood would stand no more, and nobody would know. */
    @Test
    void givenItStands_whenSomebodyInterruptsItsThread_thenALineSaysThatItStandsNoMore() throws Exception {
        PrintStream before = System.err;
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        System.setErr(new PrintStream(said, true, StandardCharsets.UTF_8));
        assertThat(others.createLock(NAME, Fixture.LONG_TTL).tryAcquire()).isTrue();
        try (LeaderElection election = builder(locks).start()) {
            await().until(() -> store.operations().contains(Operation.WAIT_AND_SAVE));
            Thread.getAllStackTraces().keySet().stream()
                    .filter(thread -> thread.getName().equals("latchkey-candidate"))
                    .forEach(Thread::interrupt);

            await().until(() -> threads() == 0);
            assertThat(election.isLeader()).isFalse();
        } finally {
            System.setErr(before);
        }
        assertThat(said.toString(StandardCharsets.UTF_8)).containsOnlyOnce("leader.interrupted");
    }
}
