package dev.latchkey.combined;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.LockStorageException.Failure;
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
import dev.latchkey.spi.UnfencedStore;
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
 * Combines several independent stores: a lock is held if as many members grant it as the strategy requires, and stays
 * held when some of them fail.
 *
 * <p>All members are asked at the same time, and the call returns as soon as the result is certain: when the slowest of
 * the fastest sufficient members has answered. Grants that do not lead to a hold are given back. A member that failed or
 * lost its part gets it back with the next refresh, or with the next acquire if no member has leases. If too few members
 * answer, the call throws a {@link LockStorageException}; this is never a conflict.
 *
 * <p>The store has shared locks if all members have them. A lease ends when the leases of too few members are left. Keys
 * can be transferred if those of all members can. Waiters poll, with growing random pauses, and are not served in order.
 * The members that are a {@link FencingStore} agree on fencing tokens; with a strategy that requires all members, the
 * tokens are those of the first member that has any. {@code docs/stores/combined.md} says what the tokens survive.
 *
 * <p>All processes must use the same members and the same strategy. The caller owns the members: closing this store does
 * not close them. Do not use a member directly for the same resources.
 *
 * <p>Thread-safe.
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
     * Combines stores, with a timeout of 5 s for each member.
     *
     * @param members independent stores without duplicates
     * @param strategy how many of them must agree
     * @throws IllegalArgumentException if there are no members, if one of them occurs twice or has neither fencing tokens nor
     *     leases ({@link UnfencedStore}), or if two sets of members that are enough for the strategy have no member in common
     */
    public CombinedStore(List<? extends PersistingStore> members, Strategy strategy) {
        this(members, strategy, PATIENCE);
    }

    /**
     * Combines stores.
     *
     * @param members independent stores without duplicates
     * @param strategy how many of them must agree
     * @param memberTimeout the time after which a member without an answer counts as failed: more than zero and at most
     *     an hour. Use a timeout below the TTLs, because a lease starts before the members are asked
     * @throws IllegalArgumentException if there are no members, if one of them occurs twice or has neither fencing tokens nor
     *     leases ({@link UnfencedStore}), if two sets of members that are enough for the strategy have no member in common, or if
     *     the timeout is out of range
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
        if (SaveRound.changesMode(request)) {
            forgetIfDemotedElsewhere(request.key());
        }
        if (SaveRound.changesMode(request) && quorum.hold(request).isEmpty()) {
            // Taken or changed elsewhere: a member demotes only what is claimed with its own token, which this asks
            // for, and promotes only what was seen to be shared there.
            Response known = new RefreshRound(quorum, request, quorum.end(), CombinedHold.AT_ONCE).finish();
            if (!(known instanceof Response.Granted)) {
                return known;
            }
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

    /**
     * What is claimed as shared, and known as exclusive, may have been given away and demoted, unless a second Lock asks. If
     * too few members answer to tell, none is asked to promote: what they have would be demoted if that fails. Nor while a
     * second Lock saves, for which it cannot be forgotten.
     */
    private void forgetIfDemotedElsewhere(Key key) {
        quorum.hold(key).filter(hold -> hold.isMoreThan(key.held())).ifPresent(hold -> {
            int saves = hold.savesIfQuiet();
            boolean isDemoted = new FindRound(quorum, key).isSharedForCertain() && hold.isMoreThan(key.held());
            if (isDemoted && !quorum.supersede(key, hold, saves)) {
                throw new LockStorageException(
                        key.resource(),
                        "another request of the key is in progress, which was demoted elsewhere; ask again",
                        null,
                        Failure.NOT_SENT);
            }
        });
    }

    @Override
    public Response refresh(Request request) {
        checkOpen(request.key());
        return new RefreshRound(quorum, request, quorum.end(), CombinedHold.AT_ONCE).finish();
    }

    /** {@inheritDoc} A thousand refreshes are in progress at the same time. */
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
        CompletableFuture<Void> told = new CompletableFuture<>();
        try {
            for (int from = 0; from < requests.size(); from += AT_ONCE) {
                List<RefreshRound> rounds = requests.subList(from, Math.min(requests.size(), from + AT_ONCE)).stream()
                        .map(request -> new RefreshRound(quorum, request, end.getAsLong(), told))
                        .toList();
                rounds.forEach(round -> outcomes.add(RefreshResult.of(round::finish)));
            }
        } finally {
            told.complete(null);
        }
        return outcomes;
    }

    @Override
    public boolean delete(Key key) {
        var unused = promotions.end(key);
        return new DeleteRound(quorum, key).finish();
    }

    /** {@inheritDoc} This is the case if any member has not answered; that member no longer counts for the key. */
    @Override
    public boolean isSpent(Key key) {
        return quorum.members().stream().anyMatch(member -> member.isSpent(key, LockMode.EXCLUSIVE));
    }

    @Override
    public Optional<Response.Granted> find(Key key) {
        return new FindRound(quorum, key).finish();
    }

    /**
     * {@inheritDoc} A holder is returned if as many members see it as a hold requires. Members do not identify readers,
     * so readers are counted.
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
     * Ends the threads that ask members, after they have given back grants in doubt. Threads of a member that takes
     * longer than the member timeout are interrupted. The members stay open. Every later call throws a
     * {@link LockStorageException}.
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

    /** Returns the names of the members, without addresses. */
    @Override
    public String toString() {
        return "CombinedStore" + quorum.members();
    }

    /**
     * Opens {@code combined:consensus(dsn,dsn,dsn)} and {@code combined:unanimous(dsn,dsn)}. A member is any DSN,
     * including a combined one. A comma starts a new member if a DSN follows it, so that a member may contain a list of
     * hosts.
     */
    public static final class Provider implements StoreProvider {

        /** Called by {@link java.util.ServiceLoader}. */
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
