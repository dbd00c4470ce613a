package dev.latchkey.jdbc;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Calls on a thread that nobody interrupts, for drivers that forget an interrupt. */
final class Apart {

    private Apart() {}

    /** Waits for what is called, also when interrupted, and keeps the flag. */
    static <T extends @Nullable Object> T call(Supplier<T> call) {
        FutureTask<T> task = new FutureTask<>(call::get);
        Thread thread = new Thread(task, "latchkey-jdbc-call");
        thread.setDaemon(true);
        thread.start();
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return task.get();
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (ExecutionException e) {
                    throw rethrown(e.getCause());
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static RuntimeException rethrown(@Nullable Throwable failure) {
        if (failure instanceof Error error) {
            throw error;
        }
        return failure instanceof RuntimeException mine ? mine : new IllegalStateException(failure);
    }
}
