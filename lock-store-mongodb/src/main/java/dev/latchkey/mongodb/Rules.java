package dev.latchkey.mongodb;

import static dev.latchkey.mongodb.Expressions.UNCHANGED;
import static dev.latchkey.mongodb.Expressions.and;
import static dev.latchkey.mongodb.Expressions.cond;
import static dev.latchkey.mongodb.Expressions.not;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.RetryIntent;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;

/**
 * Who may hold what: an expression that the server evaluates by its own clock, within the one command that changes the
 * document. A document stays exactly as it is, and is not written, unless something is granted.
 *
 * <ol>
 *   <li>An exclusive hold needs that nobody else holds; a shared one, that nobody holds exclusively and no other reader
 *       waits to promote.
 *   <li>Of two readers that wait to promote, the second is refused: each would wait for the other.
 *   <li>An ended lease counts for nothing, but stays until somebody else is granted the resource, so that a late release
 *       can tell whether the resource changed hands.
 *   <li>There is a writer, or there are readers, never both.
 * </ol>
 *
 * <p>Each rule is built once, and kept as the bytes that are sent: built and written anew, such trees would cost the client
 * half as much again for a cycle.
 */
final class Rules {

    private enum Wish {
        EXCLUSIVE,
        SHARED,
        RENEWED
    }

    /** What a key says it holds. */
    private enum Claim {
        NOTHING,
        SHARED,
        EXCLUSIVE
    }

    private record Case(Wish wish, Claim claim, RetryIntent retryIntent, LeaseChange leaseChange) {}

    private static final Map<Case, BsonDocument> KNOWN = new ConcurrentHashMap<>();

    private static final BsonDocument DELETE =
            bytes(cond(Conditions.ownToken(), Changes.withoutWriter(), Changes.withoutReader()));

    private final Claim claim;
    private final RetryIntent retryIntent;
    private final LeaseChange leaseChange;

    private Rules(Case of) {
        this.claim = of.claim();
        this.retryIntent = of.retryIntent();
        this.leaseChange = of.leaseChange();
    }

    static BsonDocument save(Request request) {
        return rule(request.mode() == LockMode.EXCLUSIVE ? Wish.EXCLUSIVE : Wish.SHARED, request);
    }

    /** Renews whatever the key holds, and takes nothing. */
    static BsonDocument refresh(Request request) {
        return rule(Wish.RENEWED, request);
    }

    /** Gives up what the key holds, or held last. */
    static BsonDocument delete() {
        return DELETE;
    }

    private static BsonDocument rule(Wish wish, Request request) {
        return KNOWN.computeIfAbsent(
                new Case(wish, claim(request.key()), request.retryIntent(), request.leaseChange()), Rules::build);
    }

    private static BsonDocument build(Case of) {
        Rules rules = new Rules(of);
        return bytes(
                switch (of.wish()) {
                    case EXCLUSIVE -> rules.exclusive();
                    case SHARED -> rules.shared();
                    case RENEWED -> rules.renewed();
                });
    }

    private static BsonDocument bytes(BsonValue expression) {
        return new RawBsonDocument(expression.asDocument(), new BsonDocumentCodec());
    }

    private BsonValue exclusive() {
        BsonValue promote = cond(Conditions.othersRead(), promotionRefused(), Changes.promote(leaseChange));
        BsonValue grant = granted(not(Conditions.isLiveForOthers()), Changes.write());
        return cond(writes(), Changes.renewWriter(leaseChange), cond(reads(), promote, grant));
    }

    private BsonValue shared() {
        BsonValue grant = granted(Conditions.isShareable(), Changes.read());
        // Any other request than one that claims the exclusive hold may have been sent before a promotion.
        BsonValue writer = claim == Claim.EXCLUSIVE ? Changes.demote(leaseChange) : Changes.renewWriter(leaseChange);
        // The answer to a demotion may have been lost: the shared hold is the one that it has made.
        return cond(writes(), writer, cond(Conditions.reads(), Changes.renewReader(leaseChange), grant));
    }

    private BsonValue renewed() {
        BsonValue reader = cond(reads(), Changes.renewReader(leaseChange), UNCHANGED);
        return cond(writes(), Changes.renewWriter(leaseChange), reader);
    }

    /** Who claims a hold that is over is granted no other. */
    private BsonValue granted(BsonValue test, BsonValue change) {
        return claim == Claim.NOTHING ? cond(and(test, Conditions.isOursOrNew()), change, UNCHANGED) : UNCHANGED;
    }

    private BsonValue writes() {
        return claim == Claim.EXCLUSIVE ? Conditions.writesAsClaimed() : Conditions.writes();
    }

    private BsonValue reads() {
        return claim == Claim.EXCLUSIVE ? BsonBoolean.FALSE : Conditions.reads();
    }

    /** The last try takes the mark away. */
    private BsonValue promotionRefused() {
        return retryIntent == RetryIntent.ONCE
                ? cond(Conditions.promotes(), Changes.unmark(), UNCHANGED)
                : cond(Conditions.anotherPromotes(), UNCHANGED, Changes.mark());
    }

    /**
     * Whether a copy of this request that the server finds late does no harm, so that the request may be sent again while the
     * first is perhaps under way. One that shortens a lease may not; what gives up a mode names its fencing token, which tells
     * it from the hold that came after.
     */
    static boolean mayBeRepeated(Request request) {
        return request.leaseChange() == LeaseChange.EXTEND;
    }

    private static Claim claim(Key key) {
        if (key.held().isEmpty()) {
            return Claim.NOTHING;
        }
        return claimedToken(key).isEmpty() ? Claim.SHARED : Claim.EXCLUSIVE;
    }

    /** The number of the exclusive hold a key says it has. */
    static OptionalLong claimedToken(Key key) {
        Optional<Key.Held> held = key.held().filter(claim -> claim.mode() == LockMode.EXCLUSIVE);
        return held.map(claim -> OptionalLong.of(claim.fencingToken().orElse(Changes.NO_TOKEN)))
                .orElse(OptionalLong.empty());
    }
}
