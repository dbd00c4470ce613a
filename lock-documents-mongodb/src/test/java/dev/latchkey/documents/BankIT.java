package dev.latchkey.documents;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Filters;
import dev.latchkey.testkit.ChildJvm;
import dev.latchkey.testkit.TimeLimits;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.bson.Document;
import org.bson.conversions.Bson;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Eight processes that move money and are killed at any moment, and two that finish what the dead have begun. */
class BankIT {

    private static final int TELLERS = 8;
    private static final int KILLS = 20;
    private static final int ACCOUNTS = 10;
    private static final long EACH = 1_000;
    private static final Duration LIMIT = TimeLimits.LIMIT;

    /** Of a busy machine more is expected than to cancel what takes its time. */
    private static final Duration LEASE = TimeLimits.scaled(Duration.ofMillis(250));

    @TempDir
    private Path directory = Path.of("");

    private final String name = "bank_" + UUID.randomUUID().toString().substring(0, 8);
    private final MongoDatabase database = TestDatabase.CLIENT.getDatabase(name);
    private final MongoCollection<Document> accounts = database.getCollection("accounts");
    private final MongoCollection<Document> transactions = database.getCollection("transactions");
    private final Random random = new Random(8);

    @Test
    void givenProcessesKilledAtRandom_whenOthersRecover_thenTheSumStaysAndEveryTransactionEnds() throws Exception {
        accounts.insertMany(IntStream.range(0, ACCOUNTS)
                .mapToObj(id -> new Document("_id", id).append("balance", EACH))
                .toList());
        List<Process> tellers = new ArrayList<>();
        List<Process> recoverers = List.of(start("recover"), start("recover"));
        try {
            for (int i = 0; i < TELLERS; i++) {
                tellers.add(start("transfer"));
            }
            killAtRandom(tellers);
        } finally {
            tellers.forEach(BankIT::kill);
        }
        try {
            Awaitility.await().atMost(LIMIT).until(() -> transactions.countDocuments(isOpen()) == 0);
        } finally {
            recoverers.forEach(BankIT::kill);
        }

        long done = transactions.countDocuments(Filters.eq("state", "done"));
        long canceled = transactions.countDocuments(Filters.eq("state", "canceled"));
        System.out.println("bank: " + done + " transfers done, " + canceled + " canceled, " + KILLS + " kills");
        assertThat(sum()).isEqualTo(ACCOUNTS * EACH);
        assertThat(done).isGreaterThan(KILLS);
        assertThat(done + canceled).isEqualTo(transactions.countDocuments());
        assertThat(accounts.find())
                .allSatisfy(account -> assertThat(account.get("_transactions", new Document())
                                .getList("applied", String.class, List.of()))
                        .isEmpty());
    }

    /** Each time after some more transfers have begun, so that the processes are at work. */
    private void killAtRandom(List<Process> tellers) throws IOException {
        for (int kill = 0; kill < KILLS; kill++) {
            long begun = transactions.countDocuments() + 5 + random.nextInt(10);
            Awaitility.await()
                    .atMost(LIMIT)
                    .pollInterval(Duration.ofMillis(5))
                    .until(() -> transactions.countDocuments() >= begun);
            int victim = random.nextInt(tellers.size());
            kill(tellers.get(victim));
            // The last ones are not replaced: the machine has to do with fewer.
            if (kill < KILLS / 2) {
                tellers.set(victim, start("transfer"));
            }
        }
    }

    private static Bson isOpen() {
        return Filters.nin("state", "done", "canceled");
    }

    private long sum() {
        return accounts.find().into(new ArrayList<>()).stream()
                .mapToLong(account -> account.getLong("balance"))
                .sum();
    }

    private Process start(String what) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(
                "-Xmx96m",
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=off",
                BankProcess.class.getName(),
                what,
                name,
                Integer.toString(ACCOUNTS),
                Long.toString(LEASE.toMillis()));
        builder.environment().put(BankProcess.URI, TestDatabase.URI);
        return ChildJvm.of("bank")
                .start(builder.redirectErrorStream(true)
                        .redirectOutput(ProcessBuilder.Redirect.appendTo(
                                directory.resolve(what + ".log").toFile())));
    }

    private static void kill(Process process) {
        try {
            process.destroyForcibly().waitFor(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
