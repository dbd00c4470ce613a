package dev.latchkey.combined;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;

/** One hold of a combined store, from its grant to its end: which members carry it, and as what. Thread-safe. */
final class CombinedHold {

    /** Who is told by the answer to a request of its own is told nothing before. */
    static final CompletableFuture<Void> AT_ONCE = CompletableFuture.completedFuture(null);

    private final Quorum quorum;
    private final Key key;
    private final HoldParts parts;
    private final SaveHistory saves = new SaveHistory();
    private final Map<Member, CompletionStage<LossReason>> sessions = new HashMap<>();

    private final CompletableFuture<LossReason> lost = new CompletableFuture<>();
    private final BooleanSupplier isLive = this::isLive;
    private final ToldLease lease;

    private boolean ended;

    /** Whether it ended with its sessions, which is told only once its parts are being given back. */
    private boolean endedWithSessions;

    /** Whether the same key holds anew since. */
    private boolean superseded;

    /**
     * How many are about to have members undo something. Until all have asked them, it keeps its place among the holds of the
     * store, so that the key takes nothing anew before that, which would be undone, too.
     */
    private int undoing;

    CombinedHold(Quorum quorum, Key key) {
        this.quorum = quorum;
        this.key = key;
        this.parts = new HoldParts(quorum, key);
        this.lease = new ToldLease(quorum);
    }

    /** One that has ended already: it takes a place among the holds, where nothing is to be taken for a moment. */
    static CombinedHold ended(Quorum quorum, Key key) {
        CombinedHold hold = new CombinedHold(quorum, key);
        hold.ended = true;
        return hold;
    }

    /** The same key claims what is not known here. */
    synchronized void claimed(Key claiming) {
        parts.claimed(claiming);
    }

    /** What a member has to be told that the key claims to hold there; empty if it is not known to hold anything. */
    synchronized Optional<Key.Held> part(Member member) {
        return parts.of(member);
    }

    /**
     * Adds what members granted; false if it has ended: whoever has ended it has them give that back.
     *
     * @param save the save they answered, or the last one before they were asked
     */
    boolean add(int save, Map<Member, Response.Granted> granted) {
        return add(save, granted, () -> true);
    }

    /** As {@link #add(int, Map)}; also false if it is not, or no longer, what is claimed. */
    boolean addAsClaimed(int save, Map<Member, Response.Granted> granted, Optional<Key.Held> claimed) {
        return add(save, granted, () -> parts.fit(claimed));
    }

    /**
     * As {@link #add(int, Map)}, with what was asked for: parts count by what the hold becomes by that. Also false for what would
     * be exclusive, if it may have been demoted since.
     */
    boolean add(int save, Map<Member, Response.Granted> granted, LockMode asked, OptionalLong token) {
        return add(save, granted, () -> {
            boolean mayBe = asked == LockMode.SHARED || !saves.wasBesideDemotion(save);
            if (mayBe) {
                parts.become(asked, token, save, granted);
            }
            return mayBe;
        });
    }

    private boolean add(int save, Map<Member, Response.Granted> granted, BooleanSupplier mayBe) {
        synchronized (this) {
            if (ended || !mayBe.getAsBoolean()) {
                return false;
            }
            parts.put(save, granted);
        }
        // Once all are in: a session that is over already ends nothing where the others are enough.
        granted.forEach((member, part) -> part.lease().lost().ifPresent(session -> watch(member, session)));
        return true;
    }

    private void watch(Member member, CompletionStage<LossReason> session) {
        synchronized (this) {
            if (sessions.put(member, session) == session) {
                return;
            }
        }
        session.whenComplete(
                (reason, failure) -> endSession(member, session, reason == null ? LossReason.SESSION_LOST : reason));
    }

    private void endSession(Member member, CompletionStage<LossReason> session, LossReason reason) {
        endWithSessionsIf(reason, () -> sessions.get(member) == session && isTooLittleWithout(member));
    }

    /**
     * A member says that it has no part. It may have been counted on when another one's session ended, of which nobody was
     * told then.
     */
    void drop(Member member) {
        endWithSessionsIf(
                LossReason.SESSION_LOST, () -> isTooLittleWithout(member) && !ended && quorum.isBoundToProcess());
    }

    /** As {@link #drop}, unless there was a save since the question, or when it was asked: that may have put it back. */
    void dropUnlessSaved(Member member, int savesBefore) {
        endWithSessionsIf(
                LossReason.SESSION_LOST, () -> isUnsaved(savesBefore) && isTooLittleWithout(member) && !ended);
    }

    private boolean isTooLittleWithout(Member member) {
        remove(member);
        return !parts.areEnough(lease.bound(), part -> true);
    }

    private void endWithSessionsIf(LossReason reason, BooleanSupplier isTooLittle) {
        synchronized (this) {
            if (!isTooLittle.getAsBoolean()) {
                return;
            }
            endedWithSessions = true;
        }
        CompletableFuture<Void> told = new CompletableFuture<>();
        // What is given back waits until that is told, but comes before what is taken anew by who hears of it.
        boolean unused = endByItself(told);
        tell(reason, told);
    }

    private void tell(LossReason reason, CompletableFuture<Void> told) {
        try {
            lost.complete(reason);
        } finally {
            told.complete(null);
        }
    }

    /** Whether enough sessions live that nobody can have it otherwise; who has ended it by a request is told by that. */
    private synchronized boolean isLive() {
        if (endedWithSessions) {
            return false;
        }
        return ended || parts.areEnough(lease.bound(), part -> part.isLive().getAsBoolean());
    }

    /** A save begins, which may change what members hold of it; returns its number. A demotion gives an exclusive hold up. */
    synchronized int saveBegins(Request request) {
        parts.asked(request);
        return saves.begin(request);
    }

    synchronized void saveEnds(Request request) {
        saves.end(request);
    }

    /**
     * Members are about to be asked to demote what a promotion was granted in vain; until that is on its way, no other promotion
     * makes it exclusive. False if one has: what members have is of that.
     */
    synchronized boolean undoBegins() {
        boolean isShared = mode().filter(mode -> mode == LockMode.EXCLUSIVE).isEmpty() || !isHeld();
        if (isShared) {
            saves.demotionBegins();
            undoing++;
        }
        return isShared;
    }

    synchronized void demotionEnds() {
        saves.demotionEnds();
    }

    /** Ends what nobody holds, or no more; false if it is held: what members have is of that. */
    synchronized boolean endsUnheld() {
        return (mode().isEmpty() || !isHeld()) && ends();
    }

    /** Ends it, if it has not ended yet; whoever calls this has members give it back, and leaves it in any case. */
    synchronized boolean ends() {
        if (!end()) {
            undoing++;
        }
        return true;
    }

    /** Members have been asked to undo it; returns whether that was all, and it has ended. */
    synchronized boolean undoEnds() {
        undoing--;
        return ended && undoing == 0;
    }

    /** Whether it has neither ended, nor is its lease over. */
    synchronized boolean isHeld() {
        return !ended && !wasOverAt(System.nanoTime());
    }

    /** Whether no save has begun since. */
    synchronized boolean isLastSave(int save) {
        return saves.isLast(save);
    }

    /** How many saves there were; less than zero while one is under way. */
    synchronized int savesIfQuiet() {
        return saves.countIfQuiet();
    }

    /**
     * Ends it, since a question found too little of it, and has the rest given back; not if there was a save since, or when
     * the question was asked: it may have seen the half of that.
     *
     * @param told complete when the holder is told of it
     */
    void endUnlessSaved(int savesBefore, Collection<Member> inDoubt, CompletableFuture<?> told) {
        if (endsUnlessSaved(savesBefore)) {
            giveBack(inDoubt, told);
        }
    }

    /** As {@link #endUnlessSaved}; tells it, for whoever has looked may look for others before it says so. */
    void loseUnlessSaved(int savesBefore, Collection<Member> inDoubt) {
        if (endsUnlessSaved(savesBefore)) {
            CompletableFuture<Void> told = new CompletableFuture<>();
            giveBack(inDoubt, told);
            tell(LossReason.SESSION_LOST, told);
        }
    }

    private synchronized boolean endsUnlessSaved(int savesBefore) {
        return isUnsaved(savesBefore) && end();
    }

    private boolean isUnsaved(int savesBefore) {
        return savesBefore >= 0 && savesBefore == savesIfQuiet();
    }

    /** Ends it, and has members give back what they have of it; once, for the key may hold again afterwards. */
    void giveUp(Collection<Member> inDoubt) {
        if (end()) {
            giveBack(inDoubt, AT_ONCE);
        }
    }

    private void giveBack(Collection<Member> inDoubt, CompletableFuture<?> told) {
        if (isSuperseded()) {
            quorum.leave(key, this);
        } else {
            quorum.giveUp(key, this, inDoubt, told);
        }
    }

    /** The same key holds anew, as something else: members have nothing more of this one to give back, but of that. */
    synchronized void superseded() {
        superseded = true;
    }

    /** As {@link #superseded}; not if there was a save since a question, or when it was asked. */
    synchronized boolean supersededUnlessSaved(int savesBefore) {
        superseded |= isUnsaved(savesBefore);
        return superseded;
    }

    private synchronized boolean isSuperseded() {
        return superseded;
    }

    /** Ends it; what members have of it is given back by who calls this, and leaves it. False if it had ended before. */
    private synchronized boolean end() {
        boolean first = !ended;
        ended = true;
        undoing += first ? 1 : 0;
        lease.stopWaiting();
        if (!superseded) {
            LastGrants.ended(quorum, key);
        }
        return first;
    }

    synchronized boolean hasEnded() {
        return ended;
    }

    synchronized void raised(Member member, long token) {
        parts.raised(member, token);
    }

    synchronized void remove(Member member) {
        parts.remove(member);
        sessions.remove(member);
    }

    /** Whether it can be the hold that is claimed: an exclusive one has its token. */
    synchronized boolean fits(Optional<Key.Held> claimed) {
        return parts.fit(claimed);
    }

    /** Whether a demotion that was sent elsewhere, before the key came here, may still come to a member. */
    synchronized boolean mayBeDemoted(Member member) {
        return parts.mayBeDemoted(member);
    }

    /** As {@link #fits}; also of a demotion that is repeated, for its answer was lost. */
    synchronized boolean fits(Request request) {
        return parts.fit(request);
    }

    /** Whether it is known as exclusive, and is claimed as shared: by a second Lock, or after it was demoted elsewhere. */
    synchronized boolean isMoreThan(Optional<Key.Held> claimed) {
        return parts.areMoreThan(claimed);
    }

    synchronized Optional<LockMode> mode() {
        return parts.mode();
    }

    synchronized OptionalLong fencingToken() {
        return parts.fencingToken();
    }

    /** Returns what the caller is told of it; the last argument is as in {@link CombinedLease}. */
    synchronized Response.Granted answer(
            LockMode asked, OptionalLong token, Collection<Response.Granted> granted, Optional<Lease> otherwise) {
        Lease session = sessions.isEmpty() && !ended ? Lease.endless() : Lease.session(lost, isLive);
        List<Lease> answered = granted.stream().map(Response.Granted::lease).toList();
        Lease combined = CombinedLease.of(answered, quorum.size(), otherwise, session);
        lease.tell(combined);
        if (!ended) {
            lease.atItsEnd(this::endIfOver);
            if (quorum.isBoundToProcess()) {
                LastGrants.through(quorum, key);
            }
        }
        return new Response.Granted(asked, token, combined);
    }

    /** Of what nobody renews or releases any more, nothing else would end the parts without a lease. */
    private void endIfOver() {
        CompletableFuture<Void> told = new CompletableFuture<>();
        if (wasOverAt(System.nanoTime()) && endByItself(told)) {
            tell(LossReason.EXPIRED, told);
        }
    }

    /** Ends it as {@link #giveUp}, for nobody asks; what goes on through another store is left to that. */
    private boolean endByItself(CompletableFuture<?> told) {
        if (!end()) {
            return false;
        }
        if (LastGrants.isThroughAnother(quorum, key)) {
            quorum.leave(key, this);
        } else {
            giveBack(quorum.members(), told);
        }
        return true;
    }

    /** What was told last. */
    synchronized Optional<Lease> lease() {
        return lease.last();
    }

    synchronized boolean wasOverAt(long nanoTime) {
        return lease.wasOverAt(nanoTime);
    }
}
