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
 * Changes several documents, all or none, on servers without transactions. The steps are stored first. If a worker dies
 * in the middle, another one continues or undoes the transaction.
 *
 * <pre>{@code
 * TwoPhaseTransactions transfers = TwoPhaseTransactions.builder(database).build();
 * TwoPhaseResult result = transfers.run(List.of(
 *         TransactionStep.increment("accounts", "alice", "balance", -100).when(Filters.gte("balance", 100)),
 *         TransactionStep.increment("accounts", "bob", "balance", 100)));
 * }</pre>
 *
 * <p>There is no isolation: others can see that one document is changed and another one is not yet, or that a document is
 * changed back when the transaction is cancelled. During a transaction, its documents have marks in the field
 * {@code _transactions} and must not be deleted.
 *
 * <p>Writes wait for a majority. Failures of the server or the network are thrown as the driver's own
 * {@link com.mongodb.MongoException}; a {@linkplain #recover() recovery} then finishes the transaction.
 *
 * <p>Thread-safe.
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
     * Returns a builder with options.
     *
     * @param database the database of the transactions and of all documents that they change
     * @return a builder
     */
    public static Builder builder(MongoDatabase database) {
        return new Builder(database);
    }

    /**
     * Creates and runs a transaction.
     *
     * @param steps the steps, in any order; several may change the same document
     * @return the result
     * @throws IllegalArgumentException if a change or an inverse does not consist of update operators, or uses the
     *     positional operator {@code $}
     * @throws InterruptedException if the thread was interrupted while it waited for another worker that continues with
     *     the transaction
     */
    public TwoPhaseResult run(List<TransactionStep> steps) throws InterruptedException {
        return run(new ObjectId(), steps);
    }

    /**
     * Runs the transaction with an id, continues with it, or returns its result. A caller that received no answer can
     * call the method again with the same id. Nothing happens twice as long as the document of the transaction exists.
     * After it was deleted, the id is that of a new transaction.
     *
     * @param id the id of the transaction
     * @param steps the steps, always the same for the same id
     * @return the result
     * @throws IllegalArgumentException if there is a transaction with that id and other steps, or if a change or an
     *     inverse does not consist of update operators
     * @throws InterruptedException if the thread was interrupted while it waited for another worker that continues with
     *     the transaction
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
     * Continues with all unfinished transactions on which nobody is working: finishes them, or undoes those that are too
     * old. A transaction that cannot be continued is logged, and tried again by the next recovery after its lease.
     *
     * @return the results, without those of transactions that another worker has taken over
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
            log.warn("transaction.index_failed problem={}", e.getMessage());
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
            log.warn("transaction.recovery_failed id={}", id, e);
            return Optional.empty();
        }
    }

    /**
     * Starts a thread that repeatedly {@linkplain #recover() recovers} transactions. Any number of processes can do this.
     *
     * @param pause the pause between two recoveries
     * @return the worker, which the caller closes
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

    /** Options of {@link TwoPhaseTransactions}. Not thread-safe. */
    public static final class Builder {

        private final MongoDatabase database;
        private String collection = "transactions";
        private Duration lease = Duration.ofSeconds(30);
        private Duration cancelAfter = Duration.ofMinutes(5);

        private Builder(MongoDatabase database) {
            this.database = database;
        }

        /**
         * Sets the name of the collection of the transactions. The default is {@code transactions}.
         *
         * @param name the name of the collection
         * @return this builder
         */
        public Builder collection(String name) {
            this.collection = name;
            return this;
        }

        /**
         * Sets how long other workers wait for a worker that is silent. The default is 30 s. A slower worker does no
         * harm.
         *
         * @param duration more than zero
         * @return this builder
         */
        public Builder lease(Duration duration) {
            this.lease = positive(duration);
            return this;
        }

        /**
         * Sets the age after which a transaction that is not applied is cancelled instead of continued. The default is 5
         * minutes.
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
         * Creates the object. Sends no request.
         *
         * @return an object that all threads can share
         */
        public TwoPhaseTransactions build() {
            return new TwoPhaseTransactions(this);
        }
    }
}
