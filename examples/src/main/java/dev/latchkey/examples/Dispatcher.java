package dev.latchkey.examples;

import dev.latchkey.LockFactory;
import dev.latchkey.leader.LeaderElection;
import dev.latchkey.leader.Term;
import java.time.Duration;

/**
 * Several candidates, one leader, until it ends, dies or is cut off.
 *
 * <p>{@code Dispatcher DSN NAME}, for instance in two terminals with {@code redis://localhost:6379 ann} and
 * {@code redis://localhost:6379 bob}. What to see:
 *
 * <ul>
 *   <li>Ann leads, with a term, and works; Bob stands, and sends the server next to nothing.
 *   <li>{@code kill -9} of Ann: Bob leads when her lease of five seconds is over. His term is greater.
 *   <li>{@code kill} of Bob, or Ctrl-C: his work ends, and then another leads at once.
 *   <li>{@code kill -STOP} of the leader, and {@code kill -CONT} later: another leads meanwhile, and the one that wakes says
 *       that it leads no more, and stands again.
 * </ul>
 *
 * <p>What the leader writes should carry the term, so that a smaller one can be refused: {@link FencedWrite}.
 */
public final class Dispatcher {

    private Dispatcher() {}

    /**
     * Stands for election until it is killed.
     *
     * @param args the DSN, and who stands
     * @throws InterruptedException if interrupted
     */
    public static void main(String[] args) throws InterruptedException {
        String name = args[1];
        // The end of the JVM would release the lock at once, and this is to end the work first.
        LockFactory locks = LockFactory.builder(args[0]).owner(name).build().withoutShutdownHook();
        System.out.println(name + " stands");
        LeaderElection election = LeaderElection.builder(locks, "dispatcher")
                .ttl(Duration.ofSeconds(5))
                .onElected(term -> lead(name, term))
                .start();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            election.close();
            locks.close();
        }));
        Thread.currentThread().join();
    }

    private static void lead(String name, Term term) {
        System.out.println(name + " leads, term " + term.number());
        try {
            while (term.lasts()) {
                Thread.sleep(100); // A piece of work.
            }
        } catch (InterruptedException e) {
            // The term has ended.
        } finally {
            System.out.println(name + " leads no more");
        }
    }
}
