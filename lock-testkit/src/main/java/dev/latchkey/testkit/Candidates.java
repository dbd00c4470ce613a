package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.LockFactory;
import dev.latchkey.leader.Leader;
import dev.latchkey.leader.LeaderElection;
import dev.latchkey.leader.Term;
import dev.latchkey.spi.PersistingStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import org.awaitility.Awaitility;

/** Those who stand in one election, each with a factory of its own, as processes do; what each believes is written down. */
final class Candidates implements AutoCloseable {

    /** Longer than somebody who polls pauses, so that whoever resigns does not come first again. */
    static final Duration PAUSE = TimeLimits.ttl(Duration.ofMillis(1_200));

    private static final long LOOK_NANOS = Duration.ofMillis(1).toNanos();

    private final String name;
    private final Duration ttl;
    private final Map<String, LeaderElection> elections = new ConcurrentHashMap<>();
    private final List<LockFactory> factories = new ArrayList<>();
    private final List<Belief> beliefs = new CopyOnWriteArrayList<>();

    Candidates(String name, Duration ttl) {
        this.name = name;
        this.ttl = ttl;
    }

    /** Has somebody stand who leads until the term ends. */
    LeaderElection stand(PersistingStore store, String who) {
        return stand(store, who, term -> {});
    }

    /** Has somebody stand who first believes, then does something, and goes on to lead when that has returned. */
    LeaderElection stand(PersistingStore store, String who, Leader leader) {
        return stand(builder(store, who, leader), who);
    }

    LeaderElection stand(LeaderElection.Builder builder, String who) {
        LeaderElection election = builder.start();
        elections.put(who, election);
        return election;
    }

    LeaderElection.Builder builder(PersistingStore store, String who, Leader leader) {
        return builder(LockFactory.builder(store).owner(who).build(), who, leader);
    }

    LeaderElection.Builder builder(LockFactory locks, String who, Leader leader) {
        factories.add(locks);
        return LeaderElection.builder(locks, name)
                .ttl(ttl)
                .backoff(PAUSE, PAUSE)
                .onElected(term -> lead(who, term, leader));
    }

    private void lead(String who, Term term, Leader leader) throws Exception {
        Belief belief = new Belief(who, term.number());
        if (!term.lasts()) {
            return;
        }
        beliefs.add(belief);
        leader.lead(term);
        believe(who, term, belief);
    }

    private void believe(String who, Term term, Belief belief) {
        long look = System.nanoTime();
        while (term.lasts() || isLeader(who)) {
            belief.seenAfter(look);
            if (belief.ending().isPresent()) {
                end(belief.ending().get());
                return;
            }
            LockSupport.parkNanos(LOOK_NANOS);
            look = System.nanoTime();
        }
    }

    private static void end(Belief.Ending how) {
        if (how == Belief.Ending.FAIL) {
            throw new IllegalStateException("a planted failure");
        }
    }

    private boolean isLeader(String who) {
        LeaderElection election = elections.get(who);
        return election != null && election.isLeader();
    }

    void resign(String who) {
        Optional.ofNullable(elections.get(who)).ifPresent(LeaderElection::resign);
    }

    /** Waits for the first belief in a term with a greater number. */
    Belief awaitTermAfter(long number) {
        return Awaitility.await("a term after " + number)
                .pollInterval(Duration.ofMillis(2))
                .atMost(TimeLimits.LIMIT)
                .until(
                        () -> beliefs.stream()
                                .filter(belief -> belief.number() > number)
                                .min(Comparator.comparingLong(Belief::number)),
                        Optional::isPresent)
                .orElseThrow();
    }

    /**
     * Waits for the next term of somebody else. Whoever led pauses after its term, but the others may stand still for
     * longer before they look: then it leads again, up to three times, and resigns unless that term has ended already.
     *
     * @param endedNanos a time before the end of the former term
     */
    Belief awaitTermOfAnother(Belief former, long endedNanos) {
        Belief next = awaitTermAfter(former, endedNanos);
        for (int i = 0; i < 3 && next.who().equals(former.who()); i++) {
            resign(next.who());
            next = awaitTermAfter(next, next.since());
        }
        return next;
    }

    /**
     * Waits for the next term. Whoever led before pauses first, for the others to lead.
     *
     * @param endedNanos a time before the end of the former term
     */
    Belief awaitTermAfter(Belief former, long endedNanos) {
        Belief next = awaitTermAfter(former.number());
        if (next.who().equals(former.who())) {
            assertThat(Duration.ofNanos(next.since() - endedNanos)).isGreaterThan(PAUSE);
        }
        return next;
    }

    /** The newest term, if its leader believes in it still. */
    Optional<Belief> leader() {
        return beliefs.stream().max(Comparator.comparingLong(Belief::number)).filter(belief -> isLeader(belief.who()));
    }

    /** All terms so far, in the order of their numbers. */
    List<Belief> terms() {
        return beliefs.stream().sorted(Comparator.comparingLong(Belief::number)).toList();
    }

    /** Never two at once, never a number twice, and each greater than those before. */
    void check() {
        List<Belief> terms = terms();
        for (int i = 1; i < terms.size(); i++) {
            Belief before = terms.get(i - 1);
            Belief after = terms.get(i);
            assertThat(after.number()).as("%s after %s", after, before).isGreaterThan(before.number());
            assertThat(after.since() - before.since())
                    .as("%s after %s", after, before)
                    .isPositive();
            assertThat(after.overlaps(before)).as("%s beside %s", after, before).isFalse();
        }
    }

    @Override
    public void close() {
        elections.values().forEach(LeaderElection::close);
        factories.forEach(LockFactory::close);
    }
}
