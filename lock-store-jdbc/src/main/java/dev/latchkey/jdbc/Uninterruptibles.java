package dev.latchkey.jdbc;

import java.util.function.Supplier;

/** Work that goes on though its thread is interrupted: pools and drivers would give up, or forget the flag. */
final class Uninterruptibles {

    private Uninterruptibles() {}

    /** Takes the flag away meanwhile, and puts it back. */
    static <T> T call(Supplier<T> work) {
        boolean interrupted = Thread.interrupted();
        try {
            return work.get();
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    static void run(Runnable work) {
        boolean unused = call(() -> {
            work.run();
            return true;
        });
    }
}
