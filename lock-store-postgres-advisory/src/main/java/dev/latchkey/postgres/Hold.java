package dev.latchkey.postgres;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.Response;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;

/** One key's hold, and the session that carries it; guarded by the room. */
final class Hold {

    private final Key key;
    private final CompletableFuture<LossReason> lost = new CompletableFuture<>();
    private final Lease lease = Lease.session(lost.minimalCompletionStage());
    private LockMode mode;
    private OptionalLong fencingToken;
    private Session session;

    /** The callers that were told of it, except those who said that they do not want it. */
    private int owners;

    private Hold(Key key, LockMode mode, OptionalLong fencingToken, Session session) {
        this.key = key;
        this.mode = mode;
        this.fencingToken = fencingToken;
        this.session = session;
    }

    static Hold exclusive(Key key, OptionalLong fencingToken, Session session) {
        return new Hold(key, LockMode.EXCLUSIVE, fencingToken, session).carried();
    }

    static Hold shared(Key key, Session session) {
        return new Hold(key, LockMode.SHARED, OptionalLong.empty(), session).carried();
    }

    private Hold carried() {
        session.carry(this);
        return this;
    }

    Key key() {
        return key;
    }

    LockMode mode() {
        return mode;
    }

    Session session() {
        return session;
    }

    boolean isLive() {
        return !session.isEnded();
    }

    /** A claim of an exclusive hold that was demoted, or released and taken anew, is not true of this one. */
    boolean isAsClaimed(Key.Held claimed) {
        return claimed.mode() == LockMode.SHARED
                || (mode == LockMode.EXCLUSIVE && fencingToken.equals(claimed.fencingToken()));
    }

    void promoted(OptionalLong token) {
        mode = LockMode.EXCLUSIVE;
        fencingToken = token;
    }

    void demoted() {
        mode = LockMode.SHARED;
        fencingToken = OptionalLong.empty();
    }

    /** From now on another session carries it. */
    void moveTo(Session other) {
        Session before = session;
        session = other;
        other.carry(this);
        before.drop(this);
    }

    /** Its session has ended, or is about to: nobody can take the lock before the server has noticed. */
    void lose(LossReason reason) {
        lost.complete(reason);
    }

    OptionalLong fencingToken() {
        return fencingToken;
    }

    /** One more is told of it: two who wait with one key have one hold. */
    void addOwner() {
        owners++;
    }

    /** One who was told of it did not want it any more; returns whether nobody does. */
    boolean removeOwner() {
        owners--;
        return owners == 0;
    }

    Response.Granted answer() {
        addOwner();
        return new Response.Granted(mode, fencingToken, lease);
    }
}
