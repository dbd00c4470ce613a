package dev.latchkey.mysql;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.Response;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;

/** One key's hold, and the session that carries it. */
final class Hold {

    private final Key key;
    private final Session session;
    private final CompletableFuture<LossReason> lost = new CompletableFuture<>();
    private final Response.Granted answer;

    /** How often somebody was told of it. */
    private int owners;

    private Hold(Key key, Session session) {
        this.key = key;
        this.session = session;
        Lease lease = Lease.session(lost.minimalCompletionStage(), session.liveness());
        this.answer = new Response.Granted(LockMode.EXCLUSIVE, OptionalLong.empty(), lease);
    }

    static Hold on(Session session, Key key) {
        Hold hold = new Hold(key, session);
        session.carry(hold);
        return hold;
    }

    Key key() {
        return key;
    }

    Session session() {
        return session;
    }

    boolean isLive() {
        return !session.isEnded();
    }

    /** Its session has ended, or is about to: nobody can take the lock before the server has noticed. */
    void lose(LossReason reason) {
        lost.complete(reason);
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
        return answer;
    }
}
