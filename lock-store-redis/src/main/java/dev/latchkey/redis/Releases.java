package dev.latchkey.redis;

import dev.latchkey.Key;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.KeptHolds;
import java.util.List;
import java.util.Optional;

/** Releases holds. The script grants the lock to the next waiters in the same step. */
final class Releases {

    private static final int FORCED = -1;

    private final ScriptRunner server;
    private final Requests requests;
    private final WaiterRegistry waiters;
    private final LocalQueues local;
    private final ForcedReleases forced;
    private final KeptHolds kept;

    Releases(
            ScriptRunner server,
            Requests requests,
            WaiterRegistry waiters,
            LocalQueues local,
            ForcedReleases forced,
            KeptHolds kept) {
        this.kept = kept;
        this.server = server;
        this.requests = requests;
        this.waiters = waiters;
        this.local = local;
        this.forced = forced;
    }

    /** Returns whether the key held the lock. */
    boolean release(Key key) {
        boolean isContended = waiters.wasGrantedInTurn(key.token());
        Optional<LocalQueues.Place> next = local.takeAlong(key.resource());
        if (next.isPresent()) {
            return handOff(key, next.get());
        }
        return isContended
                ? handOff(key, requests.handOff(key, waiters.id()))
                : wasOurs(key, server.ask(requests.release(key)));
    }

    /** Reads the reply to a release. */
    boolean wasOurs(Key key, List<Long> reply) {
        long code = reply.get(0);
        kept.released(key);
        if (code == FORCED) {
            forced.happened(key);
        } else {
            forced.released(key);
        }
        return code == 1;
    }

    /** Takes the next waiter of this store along. In the end it is answered in any case, and asks if it has heard of nothing. */
    private boolean handOff(Key key, LocalQueues.Place next) {
        try {
            long ticket = next.ticket(server.link().generation());
            return handOff(key, requests.handOff(key, waiters.id(), next.member(), ticket));
        } finally {
            next.answered();
            next.leaveHome();
        }
    }

    /** Releases what others probably wait for. The reply says which waiters of this store were granted it. */
    private boolean handOff(Key key, ScriptRequest release) {
        try {
            ScriptRunner.Sent sent = server.send(release);
            List<Long> reply = server.answer(sent);
            waiters.handedOver(reply, sent.sinceNanos(), sent.generation());
            boolean wasOurs = wasOurs(key, reply);
            if (!wasOurs) {
                // The driver may have repeated the command. Then the reply that said who was granted it is lost.
                waiters.askAgain(key.resource());
            }
            return wasOurs;
        } catch (LockStorageException e) {
            // A waiter may have been granted it without being told.
            waiters.askAgain(key.resource());
            throw e;
        }
    }
}
