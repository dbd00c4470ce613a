package dev.latchkey.chaos.election;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockLostException;
import dev.latchkey.LockStorageException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;

/**
 * A planted defect, as elections by hand have it, and libraries had: believes what the store said last, until the store says
 * otherwise, whatever the clock says.
 */
final class NaiveCandidate {

    private final LockFactory locks;
    private final Duration ttl;
    private final BeliefFile beliefs;
    private final ExecutorService questions = Executors.newSingleThreadExecutor();

    NaiveCandidate(LockFactory locks, Duration ttl, BeliefFile beliefs) {
        this.locks = locks;
        this.ttl = ttl;
        this.beliefs = beliefs;
    }

    void start() {
        Thread thread = new Thread(this::stand, "naive-candidate");
        thread.setDaemon(true);
        thread.start();
    }

    private void stand() {
        while (!Thread.currentThread().isInterrupted()) {
            try (Lock lock =
                    locks.lock(Candidate.ELECTION).ttl(ttl).autoRefresh().create()) {
                lock.acquire();
                lead(lock.fencingToken().orElseThrow());
            } catch (LockStorageException | LockLostException e) {
                LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void lead(long number) {
        long look = System.nanoTime();
        int at = beliefs.begin(number, look);
        // In another thread: a question that is not answered must not keep this one from what it believes.
        CompletableFuture<Void> deposed = CompletableFuture.runAsync(() -> askUntilDeposed(number), questions);
        while (!deposed.isDone()) {
            beliefs.believe(at, look);
            LockSupport.parkNanos(Candidate.LOOK_NANOS);
            look = System.nanoTime();
        }
        deposed.join();
    }

    private void askUntilDeposed(long number) {
        do {
            LockSupport.parkNanos(ttl.toNanos() / 3);
        } while (isHolder(number));
    }

    private boolean isHolder(long number) {
        try {
            return locks.holders(Candidate.ELECTION).stream()
                    .anyMatch(holder -> holder.fencingToken().orElse(0) == number);
        } catch (LockStorageException e) {
            // The defect: nobody has said that it leads no more.
            return true;
        }
    }
}
