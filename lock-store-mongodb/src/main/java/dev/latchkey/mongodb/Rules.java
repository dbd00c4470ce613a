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
 * The rules of granting, as expressions that the server evaluates by its own clock, within the command that changes the document.
 * If nothing is granted, the document is not written.
 *
 * <ol>
 *   <li>An exclusive hold is granted if nobody else holds the lock; a shared one if nobody holds it exclusively and no
 *       other shared holder waits for promotion.
 *   <li>Of two shared holders that wait for promotion, the second is refused, because each would wait for the other.
 *   <li>An ended lease does not count, but stays in the document until the lock is granted again, so that a late release can
 *       report whether another key has held the lock.
 *   <li>There is an exclusive holder, or there are shared ones, never both.
 * </ol>
 *
 * <p>Each rule is built once and kept as the bytes that are sent. Building it for each call would make a cycle half as expensive
 * again for the client.
 */
final class Rules {

    private enum Wish {
        EXCLUSIVE,
        SHARED,
        RENEWED
    }

    /** What a key claims to hold. */
    private enum Claim {
        NOTHING,
        SHARED,
        EXCLUSIVE
    }

    private record Case(Wish wish, Claim claim, RetryIntent retryIntent, LeaseChange leaseChange) {}

    private static final Map<Case, BsonDocument> KNOWN = new ConcurrentHashMap<>();

    private static final BsonDocument DELETE =
            bytes(cond(Conditions.ownToken(), Changes.withoutWriter(), Changes.withoutReader()));

    private static final BsonDocument END = bytes(Changes.withoutWriter());

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

    /** Renews whatever the key holds, and acquires nothing. */
    static BsonDocument refresh(Request request) {
        return rule(Wish.RENEWED, request);
    }

    /** Releases what the key holds, or held last. */
    static BsonDocument delete() {
        return DELETE;
    }

    /** Ends the exclusive hold, whoever has it. */
    static BsonDocument end() {
        return END;
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
        BsonValue reader = cond(reads(), Changes.refreshReader(leaseChange), UNCHANGED);
        return cond(writes(), Changes.renewWriter(leaseChange), reader);
    }

    /** A key that claims a hold that is over is granted nothing. */
    private BsonValue granted(BsonValue test, BsonValue change) {
        return claim == Claim.NOTHING ? cond(and(test, Conditions.isOursOrNew()), change, UNCHANGED) : UNCHANGED;
    }

    private BsonValue writes() {
        return claim == Claim.EXCLUSIVE ? Conditions.writesAsClaimed() : Conditions.writes();
    }

    private BsonValue reads() {
        return claim == Claim.EXCLUSIVE ? BsonBoolean.FALSE : Conditions.reads();
    }

    /** The last attempt removes the mark. */
    private BsonValue promotionRefused() {
        return retryIntent == RetryIntent.ONCE
                ? cond(Conditions.promotes(), Changes.unmark(), UNCHANGED)
                : cond(Conditions.anotherPromotes(), UNCHANGED, Changes.mark());
    }

    /**
     * Returns whether a late copy of this request is harmless, so that it may be repeated while the first one may still arrive. A
     * request that shortens a lease is not. A demotion names its fencing token, which distinguishes its hold from a later one.
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

    /** The fencing token that a key claims. */
    static OptionalLong claimedToken(Key key) {
        Optional<Key.Held> held = key.held().filter(claim -> claim.mode() == LockMode.EXCLUSIVE);
        return held.map(claim -> OptionalLong.of(claim.fencingToken().orElse(Changes.NO_TOKEN)))
                .orElse(OptionalLong.empty());
    }
}
