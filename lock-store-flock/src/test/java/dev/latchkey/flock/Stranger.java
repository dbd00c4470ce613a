package dev.latchkey.flock;

import java.io.RandomAccessFile;
import java.nio.channels.FileLock;

/** A process that is no Latchkey: tries for the holders' byte without a pause until it has it, or is told to stop. */
final class Stranger {

    private Stranger() {}

    /** Is told by each line of its input to begin, or to stop; says when it has begun, and then what came of it. */
    public static void main(String[] arguments) throws Exception {
        try (RandomAccessFile file = new RandomAccessFile(arguments[0], "rw")) {
            while (System.in.read() >= 0) {
                System.out.println("tries");
                FileLock lock = null;
                while (lock == null && System.in.available() == 0) {
                    lock = file.getChannel().tryLock(KernelLock.HOLD, 1, false);
                }
                System.out.println(lock == null ? "no" : "held");
                boolean ended = System.in.read() < 0;
                if (lock != null) {
                    lock.release();
                }
                if (ended) {
                    return;
                }
            }
        }
    }
}
