package dev.latchkey.examples;

import dev.latchkey.Lock;
import dev.latchkey.LockConflictedException;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.combined.CombinedStore;
import dev.latchkey.combined.ConsensusStrategy;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.StoreProvider;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/**
 * One lock on three servers that know nothing of each other: two of them are enough.
 *
 * <p>{@code QuorumOfThree DSN DSN DSN}, for instance three Redis servers that do not replicate; each line of input takes the
 * lock and releases it. What to see:
 *
 * <ul>
 *   <li>Kill one server: nothing happens.
 *   <li>Kill a second: there is no majority any more. That is a failure, and never "somebody else has it".
 *   <li>Start it again: it goes on.
 *   <li>The fencing token grows all the time, whichever servers took part.
 * </ul>
 *
 * <p>The same in one line: {@code LockFactory.connect("combined:consensus(redis://a,redis://b,redis://c)")}.
 */
public final class QuorumOfThree {

    private QuorumOfThree() {}

    /**
     * Takes the lock once for each line of input.
     *
     * @param args a DSN for each member
     * @throws IOException if the input cannot be read
     * @throws InterruptedException never
     */
    public static void main(String[] args) throws IOException, InterruptedException {
        List<PersistingStore> members =
                Stream.of(args).map(StoreProvider::connect).toList();
        try (CombinedStore store = new CombinedStore(members, new ConsensusStrategy());
                LockFactory locks = new LockFactory(store);
                BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            while (in.readLine() != null) {
                System.out.println(book(locks));
            }
        } finally {
            members.forEach(PersistingStore::close);
        }
    }

    private static String book(LockFactory locks) throws InterruptedException {
        try (Lock lock = locks.createLock("ledger", Duration.ofSeconds(10)).acquire(Duration.ofSeconds(20))) {
            return "booked with token " + lock.fencingToken().orElseThrow();
        } catch (LockStorageException e) {
            return "no majority";
        } catch (LockConflictedException e) {
            return "somebody else books";
        }
    }
}
