package dev.latchkey.examples;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockLostException;
import java.time.Duration;

/**
 * Several candidates, one leader: whoever holds the lock leads, until it ends, dies or loses the lock.
 *
 * <p>{@code LeaderElection DSN NAME}, for instance in two terminals with {@code redis://localhost:6379 ann} and
 * {@code redis://localhost:6379 bob}. What to see:
 *
 * <ul>
 *   <li>Ann leads, with a term, and works; Bob waits, and sends the server next to nothing.
 *   <li>{@code kill -9} of Ann: Bob leads when her lease of five seconds is over. His term is greater.
 *   <li>{@code kill} of Bob, or Ctrl-C: he lets go at once.
 *   <li>{@code kill -STOP} of the leader, and {@code kill -CONT} later: another leads meanwhile, and the one that wakes says
 *       that it leads no more.
 * </ul>
 *
 * <p>What the leader writes should carry the term, so that a smaller one can be refused: {@link FencedWrite}.
 */
public final class LeaderElection {

    private static final Duration TTL = Duration.ofSeconds(5);

    private LeaderElection() {}

    /**
     * Stands for election until it is killed.
     *
     * @param args the DSN, and who stands
     */
    public static void main(String[] args) {
        String name = args[1];
        try (LockFactory locks = LockFactory.connect(args[0])) {
            while (true) {
                stand(locks, name);
            }
        }
    }

    private static void stand(LockFactory locks, String name) {
        Lock leadership =
                locks.lock("leader").ttl(TTL).autoRefresh().interruptOnLoss().create();
        System.out.println(name + " stands");
        try (leadership) {
            leadership.acquire();
            lead(name, leadership.fencingToken().orElseThrow());
        } catch (InterruptedException | LockLostException e) {
            // Nobody but interruptOnLoss() interrupts this thread.
            System.out.println(name + " leads no more");
        }
    }

    private static void lead(String name, long term) throws InterruptedException {
        System.out.println(name + " leads, term " + term);
        while (true) {
            Thread.sleep(100); // A piece of work. An interrupt ends it at the latest here.
        }
    }
}
