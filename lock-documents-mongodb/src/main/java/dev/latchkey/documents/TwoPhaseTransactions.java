package dev.latchkey.documents;

import com.mongodb.MongoCommandException;
import com.mongodb.MongoException;
import com.mongodb.MongoInterruptedException;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.CreateIndexOptions;
import com.mongodb.client.model.IndexModel;
import com.mongodb.client.model.Indexes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.Document;
import org.bson.types.ObjectId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Changes of several documents that all happen, or none, on servers without transactions. What is to be done is written
 * down first; whoever dies in the middle, another goes on, or undoes it.
 *
 * <pre>{@code
 * TwoPhaseTransactions transfers = TwoPhaseTransactions.builder(database).build();
 * TwoPhaseResult result = transfers.run(List.of(
 *         TransactionStep.increment("accounts", "alice", "balance", -100).when(Filters.gte("balance", 100)),
 *         TransactionStep.increment("accounts", "bob", "balance", 100)));
 * }</pre>
 *
 * <p>There is no isolation: others see one document changed and the other not yet, and one that is changed back when the
 * transaction is canceled. While a transaction is under way its documents have marks in the field {@code _transactions} and
 * must not be deleted.
 *
 * <p>Writes wait for a majority. Failures of the server or the network are the driver's own
 * {@link com.mongodb.MongoException}; the transaction is then finished by a {@linkplain #recover() recovery}. Thread-safe.
 */
public final class TwoPhaseTransactions {

    private static final Logger log = LoggerFactory.getLogger(TwoPhaseTransactions.class);

    private static final int INDEX_SECONDS = 5;

    private final MongoCollection<Document> collection;
    private final TransactionLog transactions;
    private final TransactionProgress progress;
    private volatile boolean isIndexDue = true;

    private TwoPhaseTransactions(Builder settings) {
        this.collection = settings.database.getCollection(settings.collection);
        this.transactions = new TransactionLog(Commands.of(collection).durable(), settings.lease);
        this.progress = new TransactionProgress(transactions, settings.database, settings.cancelAfter);
    }

    /**
     * Begins to say where transactions are kept.
     *
     * @param database of the transactions and of all documents they change
     * @return a builder
     */
    public static Builder builder(MongoDatabase database) {
        return new Builder(database);
    }

    /**
     * Makes and runs a transaction.
     *
     * @param steps in any order; several may be about one document
     * @return how it ended
     * @throws IllegalArgumentException if a change or an inverse does not consist of update operators, or has the positional
     *     operator {@code $}
     * @throws InterruptedException while waiting for another worker that goes on with it
     */
    public TwoPhaseResult run(List<TransactionStep> steps) throws InterruptedException {
        return run(new ObjectId(), steps);
    }

    /**
     * Runs a transaction, or finds out how it ended, or goes on with it: whoever did not get an answer can ask again with
     * the same id, and nothing happens twice as long as the document of the transaction is kept. Once it is deleted, the
     * id is that of a new transaction.
     *
     * @param id of this transaction
     * @param steps the same whenever the id is
     * @return how it ended
     * @throws IllegalArgumentException if there is a transaction with that id and other steps, or if a change or an inverse
     *     does not consist of update operators
     * @throws InterruptedException while waiting for another worker that goes on with it
     */
    public TwoPhaseResult run(ObjectId id, List<TransactionStep> steps) throws InterruptedException {
        BsonArray stored = new BsonArray();
        steps.forEach(step -> stored.add(Participant.stored(step, progress.participants(step.collection())::toBson)));
        String worker = newWorker();
        BsonDocument transaction = transactions.begin(id, stored, worker);
        Retry.Attempts attempts = Retry.within(Duration.ofDays(36_500)).start();
        while (true) {
            if (TransactionLog.isClaimedBy(transaction, worker)) {
                transaction = progress.proceed(transaction);
            }
            if (TransactionLog.state(transaction).isOver()) {
                return outcome(transaction);
            }
            attempts.again();
            worker = newWorker();
            transaction = transactions.claim(id, worker);
        }
    }

    private static String newWorker() {
        return UUID.randomUUID().toString();
    }

    /**
     * Goes on with all transactions that are not over and that nobody is working on: finishes them, or undoes those that
     * are too old. One that cannot be gone on with is logged, and tried again by the next recovery after its lease.
     *
     * @return how they ended; those are left out that another worker has taken over
     */
    public List<TwoPhaseResult> recover() {
        createIndexIfDue();
        List<TwoPhaseResult> outcomes = new ArrayList<>();
        for (ObjectId id : transactions.left()) {
            if (Thread.currentThread().isInterrupted()) {
                return outcomes;
            }
            recover(id).ifPresent(outcomes::add);
        }
        return outcomes;
    }

    /** From 4.4 on the server waits for all voting members to have built it, also for one that is down. */
    private void createIndexIfDue() {
        if (!isIndexDue) {
            return;
        }
        IndexModel index = new IndexModel(Indexes.ascending(TransactionLog.STATE, TransactionLog.LEASE_END));
        CreateIndexOptions options = new CreateIndexOptions().maxTime(INDEX_SECONDS, TimeUnit.SECONDS);
        try {
            collection.createIndexes(List.of(index), options);
            isIndexDue = false;
        } catch (MongoInterruptedException e) {
            throw e;
        } catch (MongoException e) {
            log.warn("transaction.no-index problem={}: looked for without it", e.getMessage());
        }
    }

    /** One that the server refuses to finish, or that nobody can read, must not keep the others from being finished. */
    private Optional<TwoPhaseResult> recover(ObjectId id) {
        String worker = newWorker();
        try {
            BsonDocument claimed = transactions.claim(id, worker);
            if (!TransactionLog.isClaimedBy(claimed, worker)) {
                return Optional.empty();
            }
            BsonDocument ended = progress.proceed(claimed);
            return TransactionLog.state(ended).isOver() ? Optional.of(outcome(ended)) : Optional.empty();
        } catch (RuntimeException e) {
            if (e instanceof MongoException && !(e instanceof MongoCommandException)) {
                // The network, or an interrupt: the others would fail alike.
                throw e;
            }
            log.warn("transaction.recovery.failed id={}: tried again after its lease", id, e);
            return Optional.empty();
        }
    }

    /**
     * Has a thread of its own {@linkplain #recover() recover} again and again. Any number of processes can do so.
     *
     * @param pause between two times
     * @return to be closed in the end
     */
    public RecoveryWorker recoverEvery(Duration pause) {
        return new RecoveryWorker(this, pause);
    }

    private static TwoPhaseResult outcome(BsonDocument transaction) {
        ObjectId id = TransactionLog.id(transaction);
        return TransactionLog.state(transaction) == TransactionState.DONE
                ? new TwoPhaseResult.Done(id)
                : new TwoPhaseResult.Canceled(
                        id, transaction.getString(TransactionLog.REASON).getValue());
    }

    /** Says where transactions are kept. */
    public static final class Builder {

        private final MongoDatabase database;
        private String collection = "transactions";
        private Duration lease = Duration.ofSeconds(30);
        private Duration cancelAfter = Duration.ofMinutes(5);

        private Builder(MongoDatabase database) {
            this.database = database;
        }

        /**
         * Names the collection of the transactions. It is {@code transactions} unless set.
         *
         * @param name in the database
         * @return this builder
         */
        public Builder collection(String name) {
            this.collection = name;
            return this;
        }

        /**
         * Says how long others wait for a worker that is silent. It is 30 s unless set. One that is slower does no harm.
         *
         * @param duration more than zero
         * @return this builder
         */
        public Builder lease(Duration duration) {
            this.lease = positive(duration);
            return this;
        }

        /**
         * Says when a transaction that is not applied is canceled rather than gone on with. It is 5 minutes unless set.
         *
         * @param age more than zero
         * @return this builder
         */
        public Builder cancelAfter(Duration age) {
            this.cancelAfter = positive(age);
            return this;
        }

        private static Duration positive(Duration duration) {
            if (duration.isZero() || duration.isNegative()) {
                throw new IllegalArgumentException(duration + " is out of range: it must be more than zero");
            }
            return duration;
        }

        /**
         * Makes it. Sends nothing.
         *
         * @return to be shared by all threads
         */
        public TwoPhaseTransactions build() {
            return new TwoPhaseTransactions(this);
        }
    }
}
