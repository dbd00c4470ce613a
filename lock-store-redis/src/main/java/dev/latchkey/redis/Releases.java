package dev.latchkey.redis;

import dev.latchkey.Key;
import dev.latchkey.LockStorageException;
import java.util.List;
import java.util.Optional;

/** Releases holds. The script grants the lock to the next waiters in the same step. */
final class Releases {

    private final ScriptRunner server;
    private final Requests requests;
    private static final int FORCED = -1;

    private final WaiterRegistry waiters;
    private final ForcedReleases forced;

    Releases(ScriptRunner server, Requests requests, WaiterRegistry waiters, ForcedReleases forced) {
        this.forced = forced;
        this.server = server;
        this.requests = requests;
        this.waiters = waiters;
    }

    /** Returns whether the key held the lock. */
    boolean release(Key key) {
        boolean isContended = waiters.wasGrantedInTurn(key.token());
        Optional<LocalQueues.Place> next = waiters.local().takeAlong(key.resource());
        return (isContended || next.isPresent()) ? handOff(key, next) : wasOurs(key, server.ask(requests.release(key)));
    }

    /** Reads the reply to a release. */
    boolean wasOurs(Key key, List<Long> reply) {
        long code = reply.get(0);
        if (code == FORCED) {
            forced.happened(key);
        } else {
            forced.released(key);
        }
        return code == 1;
    }

    /**
     * Releases what others probably wait for. The reply says which waiters of this store were granted it.
     *
     * @param next a waiter that is taken along
     */
    private boolean handOff(Key key, Optional<LocalQueues.Place> next) {
        try {
            ScriptRunner.Sent sent = server.send(request(key, next));
            List<Long> reply = server.answer(sent);
            next.ifPresent(LocalQueues.Place::answered);
            waiters.handedOver(reply, sent);
            boolean wasOurs = wasOurs(key, reply);
            if (!wasOurs) {
                // The driver may have repeated the command. Then the reply that said who was granted it is lost.
                waiters.askAgain();
            }
            return wasOurs;
        } catch (LockStorageException e) {
            // A waiter may have been granted it without being told.
            waiters.askAgain();
            throw e;
        } finally {
            next.ifPresent(LocalQueues.Place::answered);
            next.ifPresent(LocalQueues.Place::wakeUp);
        }
    }

    private ScriptRequest request(Key key, Optional<LocalQueues.Place> next) {
        return next.map(place -> requests.handOff(
                        key,
                        waiters.id(),
                        place.member(),
                        place.ticket(server.link().generation())))
                .orElseGet(() -> requests.handOff(key, waiters.id()));
    }
}
