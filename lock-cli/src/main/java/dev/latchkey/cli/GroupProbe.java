package dev.latchkey.cli;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.ProcessBuilder.Redirect;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Tells whether a signal was sent to our whole process group, by a terminal, timeout(1) or systemd, or to us alone. In the
 * first case the child has it already and must not get it twice; Java does not say who sent a signal.
 *
 * <p>A {@code cat} in our group does nothing but be there: if it dies of the signal, the group got it. It ends with us,
 * however we end, for then its input does. Not thread-safe.
 */
final class GroupProbe implements AutoCloseable {

    /** Long enough for a dead process to be noticed on a busy machine. */
    private static final long PATIENCE_MS = 150;

    /** How much later than the probe's end our own signal may be noted: QUIT comes by way of a log, on a busy machine. */
    private static final long LATEST_NANOS = Duration.ofSeconds(2).toNanos();

    /** QUIT makes a program write its memory to the current directory, where the user allows that. */
    private static final List<String> WITHOUT_CORE_DUMP = List.of("sh", "-c", "ulimit -c 0; exec cat");

    private @Nullable Process probe;
    private CompletableFuture<Long> endedNanos = new CompletableFuture<>();

    GroupProbe() {
        start();
    }

    private void start() {
        CompletableFuture<Long> ended = new CompletableFuture<>();
        endedNanos = ended;
        try {
            Process started = new ProcessBuilder(SignalMask.of(WITHOUT_CORE_DUMP))
                    .redirectOutput(Redirect.DISCARD)
                    .redirectError(Redirect.DISCARD)
                    .start();
            probe = started;
            Threads.startDaemon("lock-probe", () -> noteTheEnd(started, ended));
        } catch (IOException | OutOfMemoryError e) {
            // No process or no thread can be made any more. Without cat every signal is forwarded: twice is better than
            // never.
            close();
        }
    }

    private static void noteTheEnd(Process started, CompletableFuture<Long> ended) {
        try {
            int unused = started.waitFor();
            ended.complete(System.nanoTime());
        } catch (InterruptedException e) {
            // Nobody interrupts this thread; and without an end every signal is forwarded.
        }
    }

    /** How long a signal to the whole group may take to be noted by us, after a process has ended of it. */
    static final Duration PATIENCE = Duration.ofMillis(PATIENCE_MS);

    /** Tells whether the group has got a signal, which may not have been noted by us yet. */
    boolean hasEnded() {
        Process present = probe;
        return present != null && !present.isAlive();
    }

    /** Tells whether the group has got the signal we just got. */
    boolean hasGot(Event.Signalled signalled) throws InterruptedException {
        Process present = probe;
        if (present == null || !present.waitFor(PATIENCE_MS, TimeUnit.MILLISECONDS)) {
            return false;
        }
        // One that ended long before was ended by somebody else: that says nothing of this signal.
        boolean endedOfThis = signalled.nanoTime() - endedNanos.join() < LATEST_NANOS;
        boolean got = endedOfThis && present.exitValue() == signalled.signal().exitCode();
        close();
        start();
        return got;
    }

    @Override
    public void close() {
        Process present = probe;
        if (present != null) {
            present.destroyForcibly();
            try (OutputStream input = present.getOutputStream()) {
                input.flush();
            } catch (IOException e) {
                // It is dead: that is what was wanted.
            }
            probe = null;
        }
    }
}
