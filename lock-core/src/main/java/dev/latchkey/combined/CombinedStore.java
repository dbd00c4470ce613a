package dev.latchkey.combined;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.FencingStore;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.InspectableStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.ProcessBound;
import dev.latchkey.spi.RefreshResult;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.SharedStore;
import dev.latchkey.spi.StoreProvider;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * Makes one store of several independent ones: a lock is held when as many members grant it as the strategy asks for, and
 * goes on to be when some of them fail.
 *
 * <p>All members are asked at the same time, and the answer comes as soon as it is decided: it takes as long as the
 * slowest of the fastest that are enough. What is granted in vain is given back. A member that failed or lost its part is
 * brought back with the next refresh. Too few members that answer are a {@link LockStorageException}, never a conflict.
 *
 * <p>It shares if all members do. Its leases end as soon as too few of the members' last. Keys travel if those of all
 * members do. Waiters poll with growing, jittered pauses: who comes first is not served first. Fencing tokens are agreed
 * on among the members that are a {@link FencingStore}; with a strategy that needs all members, they are those of the first
 * that has any. {@code docs/stores/combined.md} says what they survive.
 *
 * <p>Thread-safe. All processes must use the same members and the same strategy. The members stay the caller's, also when
 * it is closed; members must not be used beside it for the same resources.
 */
public final class CombinedStore implements ExpiringStore, SharedStore, InspectableStore, ProcessBound {

    private static final Duration PATIENCE = Duration.ofSeconds(5);

    /** How often one request is tried again when rivals share the members out among them, so that one of them wins. */
    private static final int SPLITS = 7;

    /** How many are renewed together: fewer than may be under way to a member. */
    private static final int AT_ONCE = 1_000;

    private static final long SPLIT_PAUSE_NANOS = Duration.ofMillis(2).toNanos();

    private final Quorum quorum;
    private final TokenRaise fencing;
    private final PromotionMarks promotions;
    private final Set<Class<?>> capabilities;
    private final List<String> processBound;
    private volatile boolean closed;

    /**
     * Combines stores, waiting 5 s for a member at the most.
     *
     * @param members independent stores, none of them twice
     * @param strategy how many of them must agree
     * @throws IllegalArgumentException if there are no members, one is there twice, or two sets of members that the
     *     strategy calls enough have none in common
     */
    public CombinedStore(List<? extends PersistingStore> members, Strategy strategy) {
        this(members, strategy, PATIENCE);
    }

    /**
     * Combines stores.
     *
     * @param members independent stores, none of them twice
     * @param strategy how many of them must agree
     * @param memberTimeout how long a member may take to answer before it counts as failed, more than zero and up to an
     *     hour. Shorter than the TTLs in use: a lease is counted from before the members were asked
     * @throws IllegalArgumentException as {@link #CombinedStore(List, Strategy)}, or if the timeout is out of range
     */
    public CombinedStore(List<? extends PersistingStore> members, Strategy strategy, Duration memberTimeout) {
        MemberCapabilities composition = new MemberCapabilities(members, Objects.requireNonNull(strategy, "strategy"));
        if (memberTimeout.isNegative() || memberTimeout.isZero() || memberTimeout.compareTo(Duration.ofHours(1)) > 0) {
            throw new IllegalArgumentException(
                    "member timeout " + memberTimeout + ": must be more than zero and at most an hour");
        }
        this.quorum = new Quorum(composition.numbered(), strategy, memberTimeout);
        this.fencing = new TokenRaise(quorum);
        this.promotions = new PromotionMarks(quorum, fencing);
        this.processBound = composition.processBound();
        this.capabilities = composition.capabilities();
        composition.warnOf(quorum);
    }

    @Override
    public <T> Optional<T> capability(Class<T> type) {
        return capabilities.contains(type) ? Optional.of(type.cast(this)) : Optional.empty();
    }

    @Override
    public Response save(Request request) {
        checkOpen(request.key());
        try {
            return promotions.settled(request, ask(request));
        } catch (RuntimeException e) {
            var unused = promotions.end(request.key());
            throw e;
        }
    }

    private Response ask(Request request) {
        if (quorum.isOutdated(request.key())) {
            // Members that do not count by the claimed token would believe it.
            return new Response.Lost(LossReason.RELEASED_ELSEWHERE);
        }
        for (int split = 0; ; split++) {
            SaveRound round = new SaveRound(quorum, request, fencing);
            Response response = round.finish();
            if (split == SPLITS || !(response instanceof Response.Conflicted) || !round.wasSplit()) {
                return response;
            }
            long pause = SPLIT_PAUSE_NANOS << split;
            LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(pause / 2, pause + 1));
        }
    }

    @Override
    public Response refresh(Request request) {
        checkOpen(request.key());
        return new RefreshRound(quorum, request, quorum.end()).finish();
    }

    /** {@inheritDoc} A thousand are under way at once. */
    @Override
    public List<RefreshResult> refreshAll(List<Request> requests) {
        return refreshAll(requests, quorum::end);
    }

    @Override
    public List<RefreshResult> refreshAll(List<Request> requests, Duration within) {
        long latest = System.nanoTime() + within.toNanos();
        return refreshAll(requests, () -> quorum.endWithin(Duration.ofNanos(Math.max(0, latest - System.nanoTime()))));
    }

    @Override
    public boolean refreshesAtOnce() {
        return true;
    }

    private List<RefreshResult> refreshAll(List<Request> requests, LongSupplier end) {
        requests.stream().map(Request::key).findFirst().ifPresent(this::checkOpen);
        List<RefreshResult> outcomes = new ArrayList<>();
        for (int from = 0; from < requests.size(); from += AT_ONCE) {
            List<RefreshRound> rounds = requests.subList(from, Math.min(requests.size(), from + AT_ONCE)).stream()
                    .map(request -> new RefreshRound(quorum, request, end.getAsLong()))
                    .toList();
            rounds.forEach(round -> outcomes.add(RefreshResult.of(round::finish)));
        }
        return outcomes;
    }

    @Override
    public boolean delete(Key key) {
        var unused = promotions.end(key);
        return new DeleteRound(quorum, key).finish();
    }

    /** {@inheritDoc} So it is when any member has not answered: this one is not counted on for the key from then on. */
    @Override
    public boolean isSpent(Key key) {
        return quorum.members().stream().anyMatch(member -> member.isSpent(key, LockMode.EXCLUSIVE));
    }

    @Override
    public Optional<Response.Granted> find(Key key) {
        return new FindRound(quorum, key).finish();
    }

    /**
     * {@inheritDoc} Who is seen by as many members as make a hold. Members do not say which of several readers is which:
     * these are counted.
     */
    @Override
    public List<Holder> holders(String resource) {
        return new HoldersRound(quorum, Key.of(resource)).finish();
    }

    @Override
    public String reason() {
        return String.join("; ", processBound);
    }

    /**
     * Ends the threads that ask members, once they have given back what is in doubt; those of a member that takes longer than
     * the member timeout are interrupted. The members stay open. Every later call throws {@link LockStorageException}.
     */
    @Override
    public void close() {
        var unused = end();
    }

    /** Closes; complete when members are asked no more. */
    CompletableFuture<?> end() {
        closed = true;
        LastGrants.forget(quorum);
        return CompletableFuture.allOf(quorum.members().stream()
                .map(member -> member.close(quorum.patienceNanos()))
                .toArray(CompletableFuture<?>[]::new));
    }

    private void checkOpen(Key key) {
        if (closed) {
            throw new LockStorageException(key.resource(), "the combined store was closed", null);
        }
    }

    /** Returns the members' names, without addresses. */
    @Override
    public String toString() {
        return "CombinedStore" + quorum.members();
    }

    /**
     * Opens {@code combined:consensus(dsn,dsn,dsn)} and {@code combined:unanimous(dsn,dsn)}, whose members are any DSNs,
     * again combined ones, too. A comma begins the next member where a DSN follows it, so that hosts may be listed inside.
     */
    public static final class Provider implements StoreProvider {

        /** For {@link java.util.ServiceLoader}. */
        public Provider() {}

        @Override
        public Set<String> schemes() {
            return Set.of("combined");
        }

        @Override
        public PersistingStore open(String dsn) {
            return CombinedDsn.open(dsn);
        }
    }
}
