package dev.latchkey.examples;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockLostException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/**
 * A job that one process begins and another ends, under one lock that nobody else gets in between.
 *
 * <p>{@code KeyTransfer DSN begin} takes the lock, does its part, prints the key, and ends. {@code KeyTransfer DSN finish} reads the
 * key from its input, goes on, and releases the lock. The DSN may be {@code redis://localhost:6379}, or, without any server,
 * {@code jdbc:h2:~/jobs;AUTO_SERVER=TRUE}. What to see:
 *
 * <ul>
 *   <li>Between the two the lock is held, though no process is there that holds it.
 *   <li>The fencing token is the same in both: it is one hold.
 *   <li>If the second comes when the TTL is over and somebody else has held the lock, it is told so, and does nothing.
 * </ul>
 *
 * <p>The key is a secret: whoever has it can release the lock.
 */
public final class KeyTransfer {

    private KeyTransfer() {}

    /**
     * Does one half of the job.
     *
     * @param args the DSN, and {@code begin} or {@code finish}
     * @throws IOException if the key cannot be read
     * @throws InterruptedException never
     */
    public static void main(String[] args) throws IOException, InterruptedException {
        try (LockFactory locks = LockFactory.connect(args[0])) {
            if (args[1].equals("begin")) {
                begin(locks);
            } else {
                finish(locks);
            }
        }
    }

    private static void begin(LockFactory locks) throws InterruptedException {
        Lock lock = locks.createLock("import", Duration.ofMinutes(1)).acquire();
        System.out.println("begun with token " + lock.fencingToken().orElseThrow());

        Key key = lock.transferKey(); // From here on this Lock holds nothing: closing the factory releases nothing.
        System.out.println(key.serialize());
    }

    private static void finish(LockFactory locks) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Key key = Key.deserialize(in.readLine());
        try (Lock lock = locks.createLock(key, Duration.ofMinutes(1))) {
            lock.refresh(); // The key proves nothing: only the store knows whether it still holds.
            System.out.println("finished with token " + lock.fencingToken().orElseThrow());
        } catch (LockLostException e) {
            System.out.println("too late: " + e.reason());
        }
    }
}
