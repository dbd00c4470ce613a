package dev.latchkey.documents;

import static dev.latchkey.documents.Expressions.NOW;
import static dev.latchkey.documents.Expressions.UNCHANGED;
import static dev.latchkey.documents.Expressions.cond;
import static dev.latchkey.documents.Expressions.field;
import static dev.latchkey.documents.Expressions.later;
import static dev.latchkey.documents.Expressions.literal;
import static dev.latchkey.documents.Expressions.merged;
import static dev.latchkey.documents.Expressions.not;
import static dev.latchkey.documents.Expressions.number;
import static dev.latchkey.documents.Expressions.object;
import static dev.latchkey.documents.Expressions.stages;
import static dev.latchkey.documents.Expressions.sum;
import static dev.latchkey.documents.Expressions.text;
import static dev.latchkey.documents.Expressions.to;
import static dev.latchkey.documents.Expressions.where;

import com.mongodb.client.model.Filters;
import java.time.Duration;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.stream.Stream;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonElement;
import org.bson.BsonObjectId;
import org.bson.BsonValue;
import org.bson.conversions.Bson;
import org.bson.types.ObjectId;

/**
 * The documents of two-phase transactions. One worker at a time has a claim on each, with a lease by the server's clock. Each
 * change of the state is one command, whose filter checks the previous state and the claim.
 */
final class TransactionLog {

    static final String STATE = "state";
    static final String STEPS = "steps";
    static final String REASON = "reason";
    static final String LEASE_END = "leaseUntil";
    private static final String WORKER = "worker";
    private static final String CREATED = "createdAt";
    private static final String MODIFIED = "lastModified";

    private static final List<String> OPEN = Stream.of(TransactionState.values())
            .filter(state -> !state.isOver())
            .map(TransactionState::stored)
            .toList();

    private final Commands commands;
    private final Duration lease;

    TransactionLog(Commands commands, Duration lease) {
        this.commands = commands;
        this.lease = lease;
    }

    /** Stores and claims a transaction, unless one with its id exists. */
    BsonDocument begin(ObjectId id, BsonArray steps, String worker) {
        BsonDocument plan = new BsonDocument(STEPS, steps);
        BsonDocument made = object(to(STATE, text(TransactionState.NEW.stored())), to(CREATED, NOW));
        BsonDocument found = commands.changeOrInsert(
                        Filters.eq(Mapping.ID, id), stages(merged(literal(plan), made, claim(worker), UNCHANGED)))
                .orElseThrow();
        if (!found.getArray(STEPS).equals(steps)) {
            throw new IllegalArgumentException(
                    "there is another transaction with the id " + id + ": use a new id for other steps");
        }
        return found;
    }

    private BsonDocument claim(String worker) {
        return object(to(WORKER, text(worker)), to(MODIFIED, NOW), to(LEASE_END, leaseEnd()));
    }

    private BsonValue leaseEnd() {
        return sum(NOW, number(lease.plusNanos(999_999).toMillis()));
    }

    /** Claims a transaction unless it is over or another claim is valid. Returns it in any case. */
    BsonDocument claim(ObjectId id, String worker) {
        Bson open = Filters.and(Filters.eq(Mapping.ID, id), Filters.in(STATE, OPEN));
        BsonValue claimed = merged(UNCHANGED, claim(worker));
        return commands.change(open, stages(cond(isClaimed(), UNCHANGED, claimed)))
                .orElseGet(() -> load(id));
    }

    /** Returns unfinished transactions without a valid claim. They are claimed one by one, by the id that routes the command. */
    List<ObjectId> left() {
        Bson left = Filters.and(Filters.in(STATE, OPEN), where(not(isClaimed())));
        return commands.ids(left).stream()
                .filter(BsonValue::isObjectId)
                .map(id -> id.asObjectId().getValue())
                .toList();
    }

    private static BsonValue isClaimed() {
        return later(field(LEASE_END), NOW);
    }

    BsonDocument load(ObjectId id) {
        return commands.find(Filters.eq(Mapping.ID, id))
                .orElseThrow(() -> new NoSuchElementException("there is no transaction with the id " + id));
    }

    /** Changes the state, or renews the claim in the same state; empty if the claim or the state has changed. */
    Optional<BsonDocument> move(BsonDocument claimed, TransactionState to, BsonElement... more) {
        Bson mine = Filters.and(
                Filters.eq(Mapping.ID, claimed.get(Mapping.ID)),
                Filters.eq(STATE, claimed.get(STATE)),
                Filters.eq(WORKER, claimed.get(WORKER)));
        BsonDocument changes = object(to(STATE, text(to.stored())), to(MODIFIED, NOW), to(LEASE_END, leaseEnd()));
        return commands.change(mine, stages(merged(UNCHANGED, changes, object(more))));
    }

    static boolean isClaimedBy(BsonDocument transaction, String worker) {
        return transaction.getString(WORKER).getValue().equals(worker);
    }

    static TransactionState state(BsonDocument transaction) {
        return TransactionState.of(transaction.getString(STATE).getValue());
    }

    static ObjectId id(BsonDocument transaction) {
        return transaction.getObjectId(Mapping.ID, new BsonObjectId()).getValue();
    }

    /** Returns the time from its start to the last claim, both by the server's clock. */
    static Duration age(BsonDocument transaction) {
        return Duration.ofMillis(transaction.getDateTime(MODIFIED).getValue()
                - transaction.getDateTime(CREATED).getValue());
    }

    static List<Participant> participants(BsonDocument transaction) {
        BsonArray steps = transaction.getArray(STEPS);
        String id = id(transaction).toHexString();
        String worker = transaction.getString(WORKER).getValue();
        return Stream.iterate(0, number -> number < steps.size(), number -> number + 1)
                .map(number -> Participant.read(steps.get(number).asDocument(), id + "/" + number, worker))
                .toList();
    }
}
