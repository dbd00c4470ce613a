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
import com.mongodb.client.model.Updates;
import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandStartedEvent;
import dev.latchkey.testkit.BackgroundCall;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.Document;
import org.bson.types.ObjectId;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Transfers between two accounts, with a worker that dies, or is late, at every one of its commands. */
class TwoPhaseIT {

    private static final Duration LIMIT = Duration.ofMinutes(1);
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
            assertThat(marks.getList("prepared", String.class, List.of())).isEmpty();
        });
    }

    private void assertOver() {
        assertThat(state()).isIn("done", "canceled");
        assertThat(balance("alice")).isEqualTo(state().equals("done") ? 70 : 100);
        assertThat(balance("bob")).isEqualTo(state().equals("done") ? 130 : 100);
    }

    @Test
    void givenTransfer_whenRun_thenDoneAndNothingIsLeftInTheDocuments() throws InterruptedException {
        TwoPhaseOutcome outcome = transactions(database).run(ID, TRANSFER);

        assertThat(outcome).isEqualTo(new TwoPhaseOutcome.Done(ID));
        assertThat(state()).isEqualTo("done");
        assertThat(balance("alice")).isEqualTo(70);
        assertThat(balance("bob")).isEqualTo(130);
        assertNoMarks();
    }

    @Test
    void givenAnswerThatWasLost_whenRunAgainWithTheSameId_thenNothingHappensTwice() throws InterruptedException {
        transactions(database).run(ID, TRANSFER);

        assertThat(transactions(database).run(ID, TRANSFER)).isEqualTo(new TwoPhaseOutcome.Done(ID));
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

        TwoPhaseOutcome outcome = transactions(database).run(ID, tooMuch);

        assertThat(outcome)
                .isInstanceOfSatisfying(
                        TwoPhaseOutcome.Canceled.class,
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
                        TwoPhaseOutcome.Canceled.class,
                        canceled -> assertThat(canceled.reason()).contains("nobody does not exist"));
        assertOver();
        assertNoMarks();
    }

    @Test
    void givenChangeThatTheServerRefuses_whenRun_thenCanceledAndUndone() throws InterruptedException {
        accounts.updateOne(Filters.eq("bob"), Updates.set("name", "Bob"));
        List<TransactionStep> impossible =
                List.of(TRANSFER.get(0), TransactionStep.increment("accounts", "bob", "name", 1));

        assertThat(transactions(database).run(ID, impossible)).isInstanceOf(TwoPhaseOutcome.Canceled.class);
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
        BackgroundCall<TwoPhaseOutcome> worker = BackgroundCall.start(
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

    @Test
    void givenManyWorkersOnOneTransaction_whenAllRunIt_thenItHappensOnce() throws Exception {
        List<BackgroundCall<TwoPhaseOutcome>> workers = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            workers.add(BackgroundCall.start(() -> TwoPhaseTransactions.builder(database)
                    .lease(Duration.ofMillis(200))
                    .build()
                    .run(ID, TRANSFER)));
        }
        for (BackgroundCall<TwoPhaseOutcome> worker : workers) {
            assertThat(worker.result()).isEqualTo(new TwoPhaseOutcome.Done(ID));
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
        BackgroundCall<TwoPhaseOutcome> worker = BackgroundCall.start(() -> patient.run(ID, TRANSFER));
        Awaitility.await().atMost(LIMIT).until(stop::isThere);

        assertThat(transactions(database).recover()).isEmpty();
        assertThat(state()).isEqualTo("pending");

        stop.goOn();
        assertThat(worker.result()).isEqualTo(new TwoPhaseOutcome.Done(ID));
    }

    /** From 4.4 on the server waits with an index for all voting members to be ready, also for one that is down. */
    @Test
    void givenTheIndexIsDue_whenRecovered_thenItMayTakeFiveSecondsAtMost() {
        List<BsonDocument> sent = new CopyOnWriteArrayList<>();
        CommandListener listener = new CommandListener() {
            @Override
            public void commandStarted(CommandStartedEvent event) {
                sent.add(event.getCommand().clone());
            }
        };
        MongoClientSettings settings = MongoClientSettings.builder()
                .applyConnectionString(new ConnectionString(TestDatabase.URI))
                .addCommandListener(listener)
                .build();
        try (MongoClient client = MongoClients.create(settings)) {
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
