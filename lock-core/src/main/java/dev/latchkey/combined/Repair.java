package dev.latchkey.combined;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.combined.MemberResponses.Answer;
import dev.latchkey.spi.FencingStore;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Brings the members that are not part of a granted hold back into it, and takes in those that answered late. */
final class Repair {

    private static final Logger log = LoggerFactory.getLogger(CombinedStore.class);

    private final Quorum quorum;
    private final Request request;
    private final Key key;
    private final CombinedHold hold;
    private final int save;

    /** The last argument is as in {@link CombinedHold#add(int, Map)}. */
    Repair(Quorum quorum, Request request, CombinedHold hold, int save) {
        this.quorum = quorum;
        this.request = request;
        this.key = request.key();
        this.hold = hold;
        this.save = save;
    }

    void consider(Answer<Response> answer) {
        Member member = answer.member();
        if (answer.value() instanceof Response.Granted granted) {
            addAndRaise(member, granted);
            if (granted.mode() == LockMode.EXCLUSIVE && request.isDemotion()) {
                later(member, () -> demote(member, granted));
            }
        } else if (answer.value() instanceof Response.Lost) {
            hold.drop(member);
            later(member, () -> take(member));
        }
    }

    private void later(Member member, Supplier<Optional<Response>> call) {
        var unused = member.call(key, call).exceptionally(failure -> {
            log.debug("lock.not_repaired {}", member, failure);
            return Optional.empty();
        });
    }

    /** What it had was not known when it was asked: it keeps readers away until it is told that with its own token. */
    private Optional<Response> demote(Member member, Response.Granted part) {
        Key.Held own = new Key.Held(part.mode(), part.fencingToken());
        return save(member, key.claiming(Optional.of(own)));
    }

    private Optional<Response> take(Member member) {
        return save(member, key.claiming(Optional.empty()));
    }

    /**
     * Unless the hold has ended meanwhile: whatever ends it is called after this, or has been called before. One whose lease
     * is over may have been followed by another's, of which a part that is taken late would know nothing. Nor after a save
     * that began since, which may have promoted there what this would demote: any that begins later comes after this.
     */
    private Optional<Response> save(Member member, Key claim) {
        if (!quorum.isHeldAs(key, hold)
                || !hold.isLastSave(save)
                || hold.wasOverAt(System.nanoTime())
                || member.isSpent(key, request.mode())) {
            return Optional.empty();
        }
        Response response = member.saveNow(new Request(
                claim, request.mode(), request.ttl(), RetryIntent.ONCE, LeaseChange.EXTEND, request.owner()));
        if (response instanceof Response.Granted granted) {
            addAndRaise(member, granted);
        }
        return Optional.of(response);
    }

    private void addAndRaise(Member member, Response.Granted granted) {
        if (hold.add(save, Map.of(member, granted))) {
            raise(member, granted);
        }
    }

    /** One that has a smaller token keeps a later owner from getting one that is not greater. */
    private void raise(Member member, Response.Granted granted) {
        long token = hold.fencingToken().orElse(0);
        Optional<FencingStore> fences = member.fencing();
        if (!quorum.agreesOnTokens()
                || fences.isEmpty()
                || granted.mode() != LockMode.EXCLUSIVE
                || granted.fencingToken().orElse(token) >= token) {
            return;
        }
        var unused = member.call(key, () -> {
                    boolean raised = fences.get().raiseFence(key, token);
                    if (raised && quorum.isHeldAs(key, hold)) {
                        hold.raised(member, token);
                    }
                    return raised;
                })
                .exceptionally(failure -> {
                    log.debug("lock.not_raised {}", member, failure);
                    return false;
                });
    }
}
