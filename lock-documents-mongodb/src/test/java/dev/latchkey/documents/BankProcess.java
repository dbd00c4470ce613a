package dev.latchkey.documents;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.model.Filters;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;

/** A process of {@link BankIT}, at work until it is killed. */
final class BankProcess {

    static final String URI = "BANK_URI";

    private BankProcess() {}

    /**
     * Works.
     *
     * @param args {@code transfer} or {@code recover}, the database, how many accounts there are, and the lease in milliseconds
     */
    public static void main(String[] args) throws InterruptedException {
        Duration lease = Duration.ofMillis(Long.parseLong(args[3]));
        try (MongoClient client = MongoClients.create(System.getenv(URI))) {
            TwoPhaseTransactions transfers = TwoPhaseTransactions.builder(client.getDatabase(args[1]))
                    .lease(lease)
                    .cancelAfter(lease.multipliedBy(4))
                    .build();
            if (args[0].equals("recover")) {
                RecoveryWorker worker = transfers.recoverEvery(Duration.ofMillis(100));
                new CountDownLatch(1).await();
                worker.close();
            }
            Random random = new Random();
            while (true) {
                transfer(transfers, random, Integer.parseInt(args[2]));
            }
        }
    }

    private static void transfer(TwoPhaseTransactions transfers, Random random, int accounts)
            throws InterruptedException {
        int from = random.nextInt(accounts);
        int to = (from + 1 + random.nextInt(accounts - 1)) % accounts;
        long amount = 1L + random.nextInt(500);
        transfers.run(List.of(
                TransactionStep.increment("accounts", to, "balance", amount),
                TransactionStep.increment("accounts", from, "balance", -amount).when(Filters.gte("balance", amount))));
    }
}
