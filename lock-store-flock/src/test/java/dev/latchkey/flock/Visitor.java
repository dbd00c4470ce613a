package dev.latchkey.flock;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;

/** Another user's process, or one of another container: tries a lock once and holds it until its input ends. */
final class Visitor {

    private Visitor() {}

    public static void main(String[] arguments) throws Exception {
        try (LockFactory locks = LockFactory.connect(arguments[0])) {
            Lock lock = locks.createLock("report");
            boolean held = arguments[1].equals("shared") ? lock.tryAcquireShared() : lock.tryAcquire();
            System.out.println(held ? "held" : "conflict");
            while (System.in.read() >= 0) {
                // Until the test is done.
            }
        } catch (LockStorageException e) {
            System.out.println(e.failure() + " " + e.getMessage());
        } catch (IllegalArgumentException e) {
            System.out.println("refused " + e.getMessage());
        }
    }
}
