package dev.latchkey.documents;

import static dev.latchkey.documents.Expressions.literal;
import static dev.latchkey.documents.Expressions.to;

import com.mongodb.client.MongoDatabase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Consumer;
import org.bson.BsonDocument;
import org.bson.BsonElement;
import org.bson.BsonString;

/**
 * Continues a two-phase transaction from its present state.
 *
 * <ol>
 *   <li>new → pending. Every document is marked as prepared.
 *   <li>The worker verifies that the transaction is still pending and still claimed by it. Then each document is changed, in
 *       one write with its mark, and only if it is prepared.
 *   <li>pending → applied. The marks are removed; applied → done.
 *   <li>Or, if a document does not meet its condition, or the transaction is too old: pending → canceling. From the last
 *       document to the first, the marks are removed and the changes are undone; canceling → canceled.
 * </ol>
 *
 * <p>A late worker changes nothing, however late it is, because it changes only what it has prepared itself under its present
 * claim. If it set its mark before other workers removed the marks, the mark is gone and nobody else sets it again. If it set the
 * mark afterwards, its verification fails, because the transaction is no longer pending or no longer its own. This needs no
 * clock: leases only prevent workers from doing the same work.
 */
final class TransactionProgress {

    private final TransactionLog transactions;
    private final MongoDatabase database;
    private final Duration cancelAfter;
    private final ConcurrentMap<String, Commands> participants = new ConcurrentHashMap<>();

    TransactionProgress(TransactionLog transactions, MongoDatabase database, Duration cancelAfter) {
        this.transactions = transactions;
        this.database = database;
        this.cancelAfter = cancelAfter;
    }

    /** Continues as far as possible. Afterwards, the transaction is over, or another worker has claimed it. */
    BsonDocument proceed(BsonDocument claimed) {
        Optional<BsonDocument> next = Optional.of(claimed);
        BsonDocument last = claimed;
        while (next.isPresent() && !TransactionLog.state(next.get()).isOver()) {
            last = next.get();
            next = advance(last);
        }
        if (next.isPresent()) {
            return next.get();
        }
        return overtaken(last);
    }

    private Optional<BsonDocument> advance(BsonDocument transaction) {
        TransactionState state = TransactionLog.state(transaction);
        boolean isEarly = state == TransactionState.NEW || state == TransactionState.PENDING;
        if (isEarly && TransactionLog.age(transaction).compareTo(cancelAfter) > 0) {
            return cancel(transaction, "older than " + cancelAfter);
        }
        return switch (state) {
            case NEW -> transactions.move(transaction, TransactionState.PENDING);
            case PENDING -> apply(transaction);
            case APPLIED -> end(transaction, one -> Markers.clear(participants(one), one), TransactionState.DONE);
            case CANCELING -> undo(transaction);
            case DONE, CANCELED -> Optional.of(transaction);
        };
    }

    private Optional<BsonDocument> apply(BsonDocument transaction) {
        List<Participant> all = TransactionLog.participants(transaction);
        for (Participant one : all) {
            if (!Markers.prepare(participants(one), one)) {
                return cancel(transaction, Markers.name(participants(one), one) + " does not exist");
            }
        }
        // After the marks and before the first change: a late worker must notice it here.
        if (transactions.move(transaction, TransactionState.PENDING).isEmpty()) {
            return Optional.empty();
        }
        for (Participant one : all) {
            Markers.Application application = Markers.apply(participants(one), one);
            if (application instanceof Markers.Application.Refused refused) {
                return cancel(transaction, refused.why());
            }
            if (application instanceof Markers.Application.Overtaken) {
                return Optional.empty();
            }
        }
        return transactions.move(transaction, TransactionState.APPLIED);
    }

    private Optional<BsonDocument> cancel(BsonDocument transaction, String reason) {
        BsonElement why = to(TransactionLog.REASON, literal(new BsonString(reason)));
        return transactions.move(transaction, TransactionState.CANCELING, why);
    }

    private Optional<BsonDocument> end(BsonDocument transaction, Consumer<Participant> last, TransactionState state) {
        TransactionLog.participants(transaction).forEach(last);
        return transactions.move(transaction, state);
    }

    /** Starts with the last step, because it may depend on the effect of an earlier one. */
    private Optional<BsonDocument> undo(BsonDocument transaction) {
        List<Participant> all = new ArrayList<>(TransactionLog.participants(transaction));
        Collections.reverse(all);
        all.forEach(one -> Markers.undo(participants(one), one));
        return transactions.move(transaction, TransactionState.CANCELED);
    }

    /** Marks that were set too late have no effect, but should not stay. */
    private BsonDocument overtaken(BsonDocument transaction) {
        BsonDocument current = transactions.load(TransactionLog.id(transaction));
        TransactionState state = TransactionLog.state(current);
        if (state != TransactionState.NEW && state != TransactionState.PENDING) {
            TransactionLog.participants(transaction).forEach(one -> Markers.unprepare(participants(one), one));
        }
        return current;
    }

    private Commands participants(Participant one) {
        return participants(one.collection());
    }

    Commands participants(String name) {
        return participants.computeIfAbsent(
                name, one -> Commands.of(database.getCollection(one)).durable());
    }
}
