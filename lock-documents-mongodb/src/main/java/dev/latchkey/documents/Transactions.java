package dev.latchkey.documents;

import com.mongodb.MongoClientException;
import com.mongodb.ReadConcern;
import com.mongodb.ReadPreference;
import com.mongodb.TransactionOptions;
import com.mongodb.WriteConcern;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.connection.ClusterType;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/**
 * Runs several writes, all or none, in one MongoDB transaction: on replica sets, including those with one member, and on
 * sharded clusters. On other servers, use {@link TwoPhaseTransactions}.
 *
 * <pre>{@code
 * new Transactions(client).run(unit -> {
 *     unit.in(posts).update(1, Version.of(3), Updates.set("title", "New"));
 *     unit.in(authors).update("alice", Version.of(7), Updates.inc("posts", 1));
 *     unit.afterCommit(() -> cache.remove(1));
 *     return null;
 * });
 * }</pre>
 *
 * <p>The work and the commit are repeated by the rules of the driver: while the server labels an error as transient, or
 * the outcome of the commit as unknown, for at most two minutes. Do not catch {@link com.mongodb.MongoException}s in the
 * work, because this hides their labels. The work must have no effects except its writes; use {@link UnitOfWork#once} and
 * {@link UnitOfWork#afterCommit} for others. The transaction does not protect what was loaded before the work started;
 * its version does.
 *
 * <p>Failures of the server or the network are thrown as the driver's own {@link com.mongodb.MongoException}.
 *
 * <p>Thread-safe.
 */
public final class Transactions {

    /** Whether a unit of work is a transaction. */
    public enum Use {
        /** All writes happen, or none. */
        TRANSACTION,
        /** Each write is separate: what was written before a failure stays, and nothing is repeated. */
        SINGLE_WRITES
    }

    /**
     * Several writes that belong together.
     *
     * @param <R> the type of the result
     */
    @FunctionalInterface
    public interface Work<R> {

        /**
         * Runs the work once.
         *
         * @param unit the unit of this attempt
         * @return the result of {@link #run}
         * @throws InterruptedException is thrown on to the caller, and nothing is written
         */
        R run(UnitOfWork unit) throws InterruptedException;
    }

    /** Carries an interrupt through the driver. */
    private static final class Interruption extends RuntimeException {

        private final InterruptedException original;

        private Interruption(InterruptedException original) {
            super(original);
            this.original = original;
        }
    }

    /**
     * The defaults for options that are not set. With a client that prefers secondaries, each transaction would fail. Without a
     * time limit, the driver would repeat a commit for ever if the majority does not answer.
     */
    private static final TransactionOptions DURABLE = TransactionOptions.builder()
            .readPreference(ReadPreference.primary())
            .readConcern(ReadConcern.SNAPSHOT)
            .writeConcern(WriteConcern.MAJORITY.withWTimeout(10, TimeUnit.SECONDS))
            .build();

    private final MongoClient client;
    private final Use byDefault;
    private final TransactionOptions options;
    private final ThreadLocal<Boolean> isRunning = ThreadLocal.withInitial(() -> false);

    /**
     * Creates an object that runs units of work as transactions, unless a call says otherwise. They read a snapshot from
     * the primary, and a commit counts when a majority has it. The preferences of the client, its databases and its
     * collections have no effect.
     *
     * @param client the client of all collections that are written
     */
    public Transactions(MongoClient client) {
        this(client, Use.TRANSACTION, DURABLE);
    }

    /**
     * Creates an object that runs units of work with options.
     *
     * @param client the client of all collections that are written
     * @param byDefault the use for calls that do not set it
     * @param options the options of transactions, such as the maximum time of a commit; not used for single writes.
     *     Options that are not set are as in {@link #Transactions(MongoClient)}
     */
    public Transactions(MongoClient client, Use byDefault, TransactionOptions options) {
        this.client = client;
        this.byDefault = byDefault;
        this.options = completed(options);
    }

    static TransactionOptions completed(TransactionOptions options) {
        return TransactionOptions.merge(options, DURABLE);
    }

    /**
     * Runs several writes with the default use.
     *
     * @param work the work, called again for each attempt
     * @param <R> the type of the result
     * @return the result of the work in the attempt that was committed
     * @throws UnsupportedOperationException if the server has no transactions; nothing is written
     * @throws IllegalStateException if it is called in the work of another unit, because units cannot be nested; also if
     *     everything was committed but a hook after the commit failed
     * @throws InterruptedException if the work threw it; a transaction writes nothing then
     */
    public <R> R run(Work<R> work) throws InterruptedException {
        return run(byDefault, work);
    }

    /**
     * Runs several writes.
     *
     * @param use whether to use a transaction, whatever the default is
     * @param work the work, called again for each attempt
     * @param <R> the type of the result
     * @return the result of the work in the attempt that was committed
     * @throws UnsupportedOperationException if the server has no transactions; nothing is written
     * @throws IllegalStateException if it is called in the work of another unit, because units cannot be nested; also if
     *     everything was committed but a hook after the commit failed
     * @throws InterruptedException if the work threw it; a transaction writes nothing then
     */
    public <R> R run(Use use, Work<R> work) throws InterruptedException {
        if (isRunning.get()) {
            throw new IllegalStateException(
                    "this thread is at a unit of work already, and they cannot be nested: use the unit that the work got");
        }
        AtomicReference<UnitOfWork> last = new AtomicReference<>();
        R result;
        isRunning.set(true);
        try {
            result = use == Use.TRANSACTION
                    ? inTransaction(work, last)
                    : attempt(work, last, new UnitOfWork(null, UnitOfWork.memory()));
        } finally {
            isRunning.remove();
        }
        Objects.requireNonNull(last.get()).committed();
        return result;
    }

    private static <R> R attempt(Work<R> work, AtomicReference<UnitOfWork> last, UnitOfWork unit)
            throws InterruptedException {
        last.set(unit);
        return work.run(unit);
    }

    private <R> R inTransaction(Work<R> work, AtomicReference<UnitOfWork> last) throws InterruptedException {
        Map<String, Object> memory = UnitOfWork.memory();
        try (ClientSession session = startSession()) {
            return session.withTransaction(
                    () -> {
                        try {
                            return attempt(work, last, new UnitOfWork(session, memory));
                        } catch (InterruptedException e) {
                            throw new Interruption(e);
                        }
                    },
                    options);
        } catch (Interruption e) {
            throw e.original;
        }
    }

    /** A standalone server would begin a transaction and refuse its first write with an unhelpful error. */
    private ClientSession startSession() {
        client.getDatabase("admin").runCommand(new Document("ping", 1));
        ClusterType type = client.getClusterDescription().getType();
        if (type == ClusterType.STANDALONE) {
            throw unsupported(null);
        }
        try {
            return client.startSession();
        } catch (MongoClientException e) {
            throw unsupported(e);
        }
    }

    private static UnsupportedOperationException unsupported(@Nullable Exception cause) {
        return new UnsupportedOperationException(
                "this MongoDB server has no transactions: they need a replica set, of which one member is enough"
                        + " (mongod --replSet), or a sharded cluster. Or use TwoPhaseTransactions, or Use.SINGLE_WRITES",
                cause);
    }
}
