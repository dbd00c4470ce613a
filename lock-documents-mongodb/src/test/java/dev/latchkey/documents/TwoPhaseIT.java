package dev.latchkey.documents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.IndexOptions;
import com.mongodb.client.model.Indexes;
import com.mongodb.client.model.Updates;
import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandStartedEvent;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.Document;
import org.bson.types.ObjectId;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Transfers between two accounts, with a worker that dies, or is late, at every one of its commands. */
class TwoPhaseIT {

    private static final Duration LIMIT = TimeLimits.LIMIT;
    private static final ObjectId ID = new ObjectId();
    private static final List<TransactionStep> TRANSFER = List.of(
            TransactionStep.increment("accounts", "alice", "balance", -30).when(Filters.gte("balance", 30)),
            TransactionStep.increment("accounts", "bob", "balance", 30));
    private static final List<TransactionStep> REFUSED = List.of(
            TRANSFER.get(1),
            TransactionStep.increment("accounts", "alice", "balance", -1).when(Filters.gte("balance", 900)));

    private final MongoDatabase database = TestDatabase.CLIENT.getDatabase(
            "two_phase_" + UUID.randomUUID().toString().substring(0, 8));
    private MongoCollection<Document> accounts = database.getCollection("accounts");

    @BeforeEach
    void begin() {
        newAccounts();
    }

    private void newAccounts() {
        database.drop();
        accounts = database.getCollection("accounts");
        accounts.insertMany(List.of(
                new Document("_id", "alice").append("balance", 100L),
                new Document("_id", "bob").append("balance", 100L)));
    }

    private static TwoPhaseTransactions transactions(MongoDatabase on) {
        return TwoPhaseTransactions.builder(on).lease(Duration.ofMillis(1)).build();
    }

    private long balance(String account) {
        return Objects.requireNonNull(accounts.find(Filters.eq(account)).first())
                .getLong("balance");
    }

    private String state() {
        Document transaction = database.getCollection("transactions").find().first();
        return transaction == null ? "none" : transaction.getString("state");
    }

    private void assertNoMarks() {
        assertThat(accounts.find()).allSatisfy(account -> {
            Document marks = account.get("_transactions", new Document());
            assertThat(marks.getList("applied", String.class, List.of())).isEmpty();
            assertThat(marks.getList("prepared", Document.class, List.of())).isEmpty();
        });
    }

    private void assertOver() {
        assertThat(state()).isIn("done", "canceled");
        assertThat(balance("alice")).isEqualTo(state().equals("done") ? 70 : 100);
        assertThat(balance("bob")).isEqualTo(state().equals("done") ? 130 : 100);
    }

    @Test
    void givenTransfer_whenRun_thenDoneAndNothingIsLeftInTheDocuments() throws InterruptedException {
        TwoPhaseResult outcome = transactions(database).run(ID, TRANSFER);

        assertThat(outcome).isEqualTo(new TwoPhaseResult.Done(ID));
        assertThat(state()).isEqualTo("done");
        assertThat(balance("alice")).isEqualTo(70);
        assertThat(balance("bob")).isEqualTo(130);
        assertNoMarks();
    }

    @Test
    void givenAnswerThatWasLost_whenRunAgainWithTheSameId_thenNothingHappensTwice() throws InterruptedException {
        transactions(database).run(ID, TRANSFER);

        assertThat(transactions(database).run(ID, TRANSFER)).isEqualTo(new TwoPhaseResult.Done(ID));
        assertThat(balance("bob")).isEqualTo(130);
        assertThatThrownBy(() -> transactions(database).run(ID, TRANSFER.subList(0, 1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(ID.toHexString());
    }

    @Test
    void givenConditionThatDoesNotHold_whenRun_thenCanceledWithTheReasonAndUndone() throws InterruptedException {
        List<TransactionStep> tooMuch = List.of(
                TransactionStep.increment("accounts", "bob", "balance", 300),
                TransactionStep.increment("accounts", "alice", "balance", -300).when(Filters.gte("balance", 300)));

        TwoPhaseResult outcome = transactions(database).run(ID, tooMuch);

        assertThat(outcome)
                .isInstanceOfSatisfying(
                        TwoPhaseResult.Canceled.class,
                        canceled ->
                                assertThat(canceled.reason()).contains("alice").contains("condition"));
        assertOver();
        assertNoMarks();
    }

    @Test
    void givenDocumentThatDoesNotExist_whenRun_thenCanceledWithTheReason() throws InterruptedException {
        List<TransactionStep> toNobody =
                List.of(TRANSFER.get(0), TransactionStep.increment("accounts", "nobody", "balance", 30));

        assertThat(transactions(database).run(ID, toNobody))
                .isInstanceOfSatisfying(
                        TwoPhaseResult.Canceled.class,
                        canceled -> assertThat(canceled.reason()).contains("nobody does not exist"));
        assertOver();
        assertNoMarks();
    }

    @Test
    void givenChangeThatTheServerRefuses_whenRun_thenCanceledAndUndone() throws InterruptedException {
        accounts.updateOne(Filters.eq("bob"), Updates.set("name", "Bob"));
        List<TransactionStep> impossible =
                List.of(TRANSFER.get(0), TransactionStep.increment("accounts", "bob", "name", 1));

        assertThat(transactions(database).run(ID, impossible)).isInstanceOf(TwoPhaseResult.Canceled.class);
        assertThat(balance("alice")).isEqualTo(100);
        assertNoMarks();
    }

    @Test
    void givenTwoStepsOnOneDocument_whenRun_thenBothHappenOnce() throws InterruptedException {
        transactions(database).run(List.of(TRANSFER.get(1), TRANSFER.get(1)));

        assertThat(balance("bob")).isEqualTo(160);
        assertNoMarks();
    }

    @Test
    void givenVersionedDocument_whenChangedInATransaction_thenWhoLoadedItBeforeIsRefused() throws InterruptedException {
        VersionedCollection<Document> versioned = VersionedCollection.of(accounts);
        Document before = versioned.replace(versioned.find("bob").orElseThrow());

        transactions(database).run(List.of(TRANSFER.get(1).versioned("version")));

        assertThatThrownBy(() -> versioned.replace(before)).isInstanceOf(OptimisticLockException.class);
        assertThat(versioned.find("bob").orElseThrow())
                .containsEntry("version", 2)
                .containsEntry("balance", 130L);
    }

    @Test
    void givenWhatIsNoUpdate_whenRun_thenArgumentIsRefusedAndNothingIsWrittenDown() {
        for (var change : List.of(new Document("balance", 1), Updates.set("_transactions", "mine"))) {
            assertThatThrownBy(() ->
                            transactions(database).run(List.of(TransactionStep.of("accounts", "bob", change, change))))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        assertThat(state()).isEqualTo("none");
    }

    @Test
    void givenCrashAtEveryCommand_whenRecovered_thenOverAndTheSumIsTheSame() {
        int crashes = 0;
        for (int at = 1; crash(at, TRANSFER); at++) {
            recoverAll();
            if (!state().equals("none")) {
                assertThat(state()).as("after a crash at command %d", at).isEqualTo("done");
                assertOver();
                assertNoMarks();
                crashes++;
            }
            newAccounts();
        }
        assertThat(crashes).isGreaterThanOrEqualTo(10);
    }

    @Test
    void givenCrashAtEveryCommandOfARollback_whenRecovered_thenCanceledAndTheSumIsTheSame() {
        int crashes = 0;
        for (int at = 1; crash(at, REFUSED); at++) {
            recoverAll();
            if (!state().equals("none")) {
                assertThat(state()).isEqualTo("canceled");
                assertOver();
                assertNoMarks();
                crashes++;
            }
            newAccounts();
        }
        assertThat(crashes).isGreaterThanOrEqualTo(10);
    }

    /** False: it ended before that command. */
    private boolean crash(int at, List<TransactionStep> steps) {
        Interposed crashing = new Interposed(number -> {
            if (number == at) {
                throw new Interposed.Crash();
            }
        });
        try {
            transactions(crashing.database(database)).run(ID, steps);
            return false;
        } catch (Interposed.Crash e) {
            return true;
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private void recoverAll() {
        Awaitility.await().atMost(LIMIT).until(() -> {
            transactions(database).recover();
            return state().equals("none") || state().equals("done") || state().equals("canceled");
        });
    }

    @Test
    void givenLateWorkerAtEveryCommand_whenOthersHaveFinished_thenItChangesNothingAnyMore() throws Exception {
        for (int at = 1; late(at, TRANSFER, transactions(database)); at++) {
            assertThat(state()).as("late at command %d", at).isEqualTo("done");
            assertOver();
            assertNoMarks();
            newAccounts();
        }
    }

    @Test
    void givenLateWorkerAtEveryCommand_whenOthersHaveCanceled_thenItChangesNothingAnyMore() throws Exception {
        TwoPhaseTransactions canceling = TwoPhaseTransactions.builder(database)
                .lease(Duration.ofMillis(1))
                .cancelAfter(Duration.ofMillis(1))
                .build();
        int canceled = 0;
        for (int at = 1; late(at, TRANSFER, canceling); at++) {
            assertOver();
            assertNoMarks();
            canceled += state().equals("canceled") ? 1 : 0;
            newAccounts();
        }
        assertThat(canceled).isPositive();
    }

    @Test
    void givenLateWorkerAtEveryCommandOfARollback_whenOthersHaveCanceled_thenItChangesNothingAnyMore()
            throws Exception {
        for (int at = 1; late(at, REFUSED, transactions(database)); at++) {
            assertThat(state()).as("late at command %d", at).isEqualTo("canceled");
            assertOver();
            assertNoMarks();
            newAccounts();
        }
    }

    /** Has a worker stop at a command until others have recovered. False: it ended before that command. */
    private boolean late(int at, List<TransactionStep> steps, TwoPhaseTransactions others) throws Exception {
        Interposed.Stop stop = new Interposed.Stop(at);
        BackgroundCall<TwoPhaseResult> worker = BackgroundCall.start(
                () -> transactions(new Interposed(stop).database(database)).run(ID, steps));
        Awaitility.await().atMost(LIMIT).until(() -> stop.isThere() || worker.isDone());
        boolean isLate = stop.isThere();
        if (isLate) {
            Awaitility.await().atMost(LIMIT).until(() -> {
                others.recover();
                return List.of("none", "done", "canceled").contains(state());
            });
        }
        stop.goOn();
        worker.result();
        return isLate;
    }

    /**
     * A12: the mark was the step's, so that one late worker set it again for another, who had made sure long ago: the change
     * was made twice.
     */
    @Test
    void givenTwoLateWorkers_whenOneMarksAgainAfterTheEnd_thenTheOtherChangesNothing() throws Exception {
        assertThat(twoLate(transactions(database))).isEqualTo("done");
    }

    /** A12: as above, after the cancellation. */
    @Test
    void givenTwoLateWorkers_whenOneMarksAgainAfterTheCancellation_thenTheOtherChangesNothing() throws Exception {
        TwoPhaseTransactions canceling = TwoPhaseTransactions.builder(database)
                .lease(Duration.ofMillis(1))
                .cancelAfter(Duration.ofMillis(1))
                .build();

        assertThat(twoLate(canceling)).isEqualTo("canceled");
    }

    /** The first stops before it marks, and later before it makes sure; the second stops before its first change. */
    private String twoLate(TwoPhaseTransactions others) throws Exception {
        int firstMark = 3;
        // It looks at the transaction that the first began, claims it, marks, and makes sure.
        int firstChangeOfTheSecond = 2 + TRANSFER.size() + 1 + 1;
        Interposed.Stop beforeMarking = new Interposed.Stop(firstMark);
        Interposed.Stop beforeMakingSure = new Interposed.Stop(firstMark + TRANSFER.size());
        BackgroundCall<TwoPhaseResult> first = BackgroundCall.start(() ->
                transactions(new Interposed(beforeMarking).database(database)).run(ID, TRANSFER));
        Awaitility.await().atMost(LIMIT).until(beforeMarking::isThere);
        Interposed.Stop beforeChanging = new Interposed.Stop(firstChangeOfTheSecond);
        BackgroundCall<TwoPhaseResult> second = BackgroundCall.start(() ->
                transactions(new Interposed(beforeChanging).database(database)).run(ID, TRANSFER));
        Awaitility.await().atMost(LIMIT).until(beforeChanging::isThere);
        assertThat(accounts.find(Filters.exists("_transactions.prepared.0")))
                .as("both are marked")
                .hasSize(2);
        Awaitility.await().atMost(LIMIT).until(() -> {
            others.recover();
            return List.of("done", "canceled").contains(state());
        });
        assertOver();

        beforeMarking.goOnTo(beforeMakingSure);
        Awaitility.await().atMost(LIMIT).until(beforeMakingSure::isThere);
        beforeChanging.goOn();
        second.result();
        assertOver();
        beforeMakingSure.goOn();
        first.result();
        assertOver();
        assertNoMarks();
        return state();
    }

    /** F4: forward, the second step was undone on the name that the first had given back: {a: 8, b: -3}. */
    @Test
    void givenStepsThatBuildOnEachOther_whenCanceled_thenTheLastIsUndoneFirst() throws InterruptedException {
        accounts.insertOne(new Document("_id", "carol").append("a", 5L));
        List<TransactionStep> steps = List.of(
                TransactionStep.of("accounts", "carol", Updates.rename("a", "b"), Updates.rename("b", "a")),
                TransactionStep.increment("accounts", "carol", "b", 3),
                REFUSED.get(1));

        assertThat(transactions(database).run(steps)).isInstanceOf(TwoPhaseResult.Canceled.class);

        assertThat(accounts.find(Filters.eq("carol")).first())
                .containsEntry("a", 5L)
                .doesNotContainKey("b");
    }

    /** F5: it took its index from the marks in the filter, and changed another element. */
    @Test
    void givenAPositionalOperator_whenRun_thenArgumentIsRefused() {
        for (String path : List.of("items.$.n", "items.$")) {
            for (TransactionStep step : List.of(
                    TransactionStep.of("accounts", "bob", Updates.inc(path, 1), Updates.inc("n", -1)),
                    TransactionStep.of("accounts", "bob", Updates.inc("n", 1), Updates.inc(path, -1)))) {
                assertThatThrownBy(() -> transactions(database).run(List.of(step)))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("positional");
            }
        }
        assertThat(state()).isEqualTo("none");
    }

    /** B19: where the index is refused, nothing was recovered. Here another one is in its way. */
    @Test
    void givenTheIndexIsRefused_whenRecovered_thenRecoveredWithoutIt() {
        assertThat(crash(6, TRANSFER)).isTrue();
        database.getCollection("transactions")
                .createIndex(
                        Indexes.ascending("state", "leaseUntil"), new IndexOptions().expireAfter(1L, TimeUnit.HOURS));

        recoverAll();

        assertThat(state()).isEqualTo("done");
    }

    /** B19: without the _id a sharded cluster refuses findAndModify before 7.1. */
    @Test
    void givenATransactionIsLeft_whenRecovered_thenEachChangeIsRoutedByAnId() {
        assertThat(crash(6, TRANSFER)).isTrue();
        List<BsonDocument> sent = new CopyOnWriteArrayList<>();
        try (MongoClient client = listened(sent)) {
            Awaitility.await().atMost(LIMIT).until(() -> {
                transactions(client.getDatabase(database.getName())).recover();
                return state().equals("done");
            });
        }

        assertThat(sent)
                .filteredOn(command -> command.getFirstKey().equals("findAndModify"))
                .isNotEmpty()
                .allSatisfy(command ->
                        assertThat(command.getDocument("query").toJson()).contains("\"_id\""));
    }

    /** F12: the others waited for ever behind one that nobody can read. */
    @Test
    void givenATransactionThatCannotBeRead_whenRecovered_thenTheOthersAre() {
        database.getCollection("transactions")
                .insertOne(new Document("_id", new ObjectId("000000000000000000000000"))
                        .append("state", "pending")
                        .append("steps", "none"));
        assertThat(crash(6, TRANSFER)).isTrue();

        Awaitility.await().atMost(LIMIT).until(() -> {
            transactions(database).recover();
            return database.getCollection("transactions").countDocuments(Filters.eq("state", "done")) == 1;
        });
        assertThat(balance("bob")).isEqualTo(130);
    }

    /** A13: without a limit a write waits for a majority for ever, and what is read locally an election may undo. */
    @Test
    void givenTransferOrLock_whenDone_thenEachCommandAsksForAMajorityAndWaitsFiveSecondsAtMost()
            throws InterruptedException {
        List<BsonDocument> sent = new CopyOnWriteArrayList<>();
        try (MongoClient client = listened(sent)) {
            MongoDatabase heard = client.getDatabase(database.getName());
            transactions(heard).run(ID, REFUSED);
            new DocumentLocks<>(VersionedCollection.of(heard.getCollection("accounts")), Duration.ofMinutes(1))
                    .find("bob", DocumentLockMode.PESSIMISTIC_WRITE)
                    .orElseThrow()
                    .close();
        }

        assertThat(sent)
                .filteredOn(command -> command.getFirstKey().equals("findAndModify"))
                .hasSizeGreaterThan(8)
                .extracting(command -> command.getDocument("writeConcern"))
                .containsOnly(BsonDocument.parse("{w: 'majority', wtimeout: 5000, j: true}"));
        assertThat(sent)
                .filteredOn(command -> command.getFirstKey().equals("find"))
                .isNotEmpty()
                .extracting(command -> command.getDocument("readConcern"))
                .containsOnly(BsonDocument.parse("{level: 'majority'}"));
    }

    private static MongoClient listened(List<BsonDocument> sent) {
        CommandListener listener = new CommandListener() {
            @Override
            public void commandStarted(CommandStartedEvent event) {
                sent.add(event.getCommand().clone());
            }
        };
        return MongoClients.create(MongoClientSettings.builder()
                .applyConnectionString(new ConnectionString(TestDatabase.URI))
                .addCommandListener(listener)
                .build());
    }

    @Test
    void givenManyWorkersOnOneTransaction_whenAllRunIt_thenItHappensOnce() throws Exception {
        List<BackgroundCall<TwoPhaseResult>> workers = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            workers.add(BackgroundCall.start(() -> TwoPhaseTransactions.builder(database)
                    .lease(Duration.ofMillis(200))
                    .build()
                    .run(ID, TRANSFER)));
        }
        for (BackgroundCall<TwoPhaseResult> worker : workers) {
            assertThat(worker.result()).isEqualTo(new TwoPhaseResult.Done(ID));
        }
        assertOver();
        assertNoMarks();
    }

    @Test
    void givenLiveClaim_whenRecovered_thenItIsLeftAlone() throws Exception {
        Interposed.Stop stop = new Interposed.Stop(4);
        TwoPhaseTransactions patient = TwoPhaseTransactions.builder(new Interposed(stop).database(database))
                .lease(Duration.ofMinutes(5))
                .build();
        BackgroundCall<TwoPhaseResult> worker = BackgroundCall.start(() -> patient.run(ID, TRANSFER));
        Awaitility.await().atMost(LIMIT).until(stop::isThere);

        assertThat(transactions(database).recover()).isEmpty();
        assertThat(state()).isEqualTo("pending");

        stop.goOn();
        assertThat(worker.result()).isEqualTo(new TwoPhaseResult.Done(ID));
    }

    /** From 4.4 on the server waits with an index for all voting members to be ready, also for one that is down. */
    @Test
    void givenTheIndexIsDue_whenRecovered_thenItMayTakeFiveSecondsAtMost() {
        List<BsonDocument> sent = new CopyOnWriteArrayList<>();
        try (MongoClient client = listened(sent)) {
            assertThat(transactions(client.getDatabase(database.getName())).recover())
                    .isEmpty();
        }

        assertThat(sent)
                .filteredOn(command -> command.getFirstKey().equals("createIndexes"))
                .singleElement()
                .extracting(command ->
                        command.getNumber("maxTimeMS", new BsonInt32(0)).intValue())
                .isEqualTo(5_000);
    }

    @Test
    void givenRecoveryWorker_whenSomebodyCrashed_thenFinishedWithoutACall() {
        assertThat(crash(6, TRANSFER)).isTrue();

        try (RecoveryWorker worker = transactions(database).recoverEvery(Duration.ofMillis(20))) {
            Awaitility.await().atMost(LIMIT).until(() -> state().equals("done"));
            assertThat(worker).isNotNull();
            assertOver();
        }
    }

    @Test
    void givenLeaseOrAgeOfZero_whenBuilt_thenArgumentIsRefused() {
        assertThatThrownBy(() -> TwoPhaseTransactions.builder(database).lease(Duration.ZERO))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> TwoPhaseTransactions.builder(database).cancelAfter(Duration.ofSeconds(-1)))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
