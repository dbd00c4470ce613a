package dev.latchkey.cli;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.ProcessBuilder.Redirect;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Finds out whether a signal was sent to the whole process group, by a terminal, timeout(1) or systemd, or only to this
 * process. In the first case the child has received it as well and must not get it twice. Java does not report the sender of
 * a signal.
 *
 * <p>The probe is a {@code cat} in the same group: if the signal kills it, the group has received the signal. It ends with this
 * process in any case, because its input ends. Not thread-safe.
 */
final class GroupProbe implements AutoCloseable {

    /** Long enough for a dead process to be noticed, except on a busy machine. */
    private static final long PATIENCE_MS = 150;

    private static final long STEP_MS = 20;

    /** How long to wait for a probe that may be about to end. A KILL that is due a second before a lease ends has to wait for that. */
    private static final long LONGEST_PATIENCE_NANOS = Duration.ofMillis(500).toNanos();

    /** How much later than the probe's end the signal may arrive here: QUIT comes through a log, on a busy machine. */
    private static final long LATEST_NANOS = Duration.ofSeconds(2).toNanos();

    /** QUIT makes a program dump its memory into the current directory if core dumps are enabled. */
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
            // The limit of processes or threads is reached. Without cat every signal is forwarded: twice is better than
            // never.
            close();
        }
    }

    private static void noteTheEnd(Process started, CompletableFuture<Long> ended) {
        try {
            int unused = started.waitFor();
            ended.complete(System.nanoTime());
        } catch (InterruptedException e) {
            // Nobody interrupts this thread. Without an end, every signal is forwarded.
        }
    }

    /** Returns whether the group has received a signal, which may not have arrived here yet. */
    boolean hasEnded() {
        Process present = probe;
        return present != null && !present.isAlive();
    }

    /** Returns how long a signal to the group may still take to arrive here that has just killed another process. */
    Duration untilSignal() {
        long latest = PATIENCE_MS * 1_000_000;
        return Duration.ofNanos(
                hasEnded() ? Math.max(latest, endedNanos.join() + LATEST_NANOS - System.nanoTime()) : latest);
    }

    /**
     * Returns when the group received the signal that has just arrived here, at the latest, which may be long before on a busy
     * machine; empty if it did not receive it.
     */
    OptionalLong whenGot(Event.Signalled signalled) throws InterruptedException {
        Process present = probe;
        if (present == null) {
            // There was no process to be had, or a signal to the group has come while it started.
            start();
            return OptionalLong.empty();
        }
        boolean hasEnded = present.waitFor(PATIENCE_MS, TimeUnit.MILLISECONDS);
        long latest = signalled.nanoTime() + LONGEST_PATIENCE_NANOS;
        ProcessStatus status = ProcessStatus.of(present.pid());
        while (!hasEnded && status.mayHaveActedOn(signalled.signal()) && System.nanoTime() - latest < 0) {
            hasEnded = present.waitFor(STEP_MS, TimeUnit.MILLISECONDS);
            status = ProcessStatus.of(present.pid());
        }
        boolean got = hasEnded ? hasEndedOf(signalled, present) : status.isPending(signalled.signal());
        long before = hasEnded ? Math.max(0, signalled.nanoTime() - endedNanos.join()) : 0;
        if (hasEnded || got) {
            close();
            start();
        }
        return got ? OptionalLong.of(signalled.nanoTime() - before) : OptionalLong.empty();
    }

    /** If the probe ended long before, it was not this signal that killed it. */
    private boolean hasEndedOf(Event.Signalled signalled, Process present) {
        return signalled.nanoTime() - endedNanos.join() < LATEST_NANOS
                && present.exitValue() == signalled.signal().exitCode();
    }

    @Override
    public void close() {
        Process present = probe;
        if (present != null) {
            present.destroyForcibly();
            try (OutputStream input = present.getOutputStream()) {
                input.flush();
            } catch (IOException e) {
                // It is dead, as intended.
            }
            probe = null;
        }
    }
}
