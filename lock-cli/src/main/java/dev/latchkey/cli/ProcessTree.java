package dev.latchkey.cli;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * The child and its descendants. A process whose parent has ended no longer appears below the child, so all processes that
 * were ever seen are remembered. Not thread-safe.
 */
final class ProcessTree {

    /** A process may fork while others are being killed; new processes are killed in the next round. */
    private static final int KILL_ROUNDS = 3;

    private static final long LOOK_MILLIS = 50;

    /** A signal that came longer after a glimpse cannot have ended a process before it: what that did not see is a daemon. */
    private static final long ON_ITS_WAY_NANOS = 500_000_000;

    /** One a second: a signal may arrive here two seconds late. */
    private static final int MOST_GLIMPSES = 4;

    private final Set<ProcessHandle> seen = new LinkedHashSet<>();
    private final Deque<Glimpse> glimpses = new ArrayDeque<>();

    private record Glimpse(Set<ProcessHandle> processes, long nanos) {}

    ProcessTree(ProcessHandle child) {
        this(List.of(child));
    }

    private ProcessTree(List<ProcessHandle> processes) {
        seen.addAll(processes);
    }

    /** Kills the descendants of a process, and returns when none is left, however long that takes. */
    static void killAllBelow(ProcessHandle parent) {
        untilDone(() -> {
            new ProcessTree(parent.descendants().toList()).killUntilGone();
            return true;
        });
    }

    /** Remembers the processes that exist now, or else those recorded last. */
    void look() {
        seen.addAll(descendants()
                .orElse(glimpses.isEmpty() ? Set.of() : glimpses.getLast().processes()));
    }

    /**
     * Empty if the limit of open files prevents reading the list, which is not a reason to leave the command alone. What has ended
     * is not asked: another process may have its number, and Java would return the descendants of that.
     */
    private Optional<Set<ProcessHandle>> descendants() {
        Set<ProcessHandle> found = new LinkedHashSet<>();
        try {
            for (ProcessHandle process : living()) {
                // Each time, the list of all processes is read.
                if (!found.contains(process)) {
                    process.descendants().forEach(found::add);
                }
            }
            return Optional.of(found);
        } catch (RuntimeException e) {
            return Optional.empty();
        }
    }

    /** Records the processes that exist now, beside those recorded last, without remembering them yet. */
    void glimpse() {
        descendants().ifPresent(now -> {
            glimpses.addLast(new Glimpse(now, System.nanoTime()));
            if (glimpses.size() > MOST_GLIMPSES) {
                glimpses.removeFirst();
            }
        });
    }

    /**
     * Remembers the recorded processes as well. A signal to the group may end a process before its descendants can be read,
     * and they cannot be found afterwards: nor by a glimpse while the signal was on its way here.
     *
     * @param signalNanos when the signal came, at the latest
     */
    void rememberGlimpsed(long signalNanos) {
        for (Iterator<Glimpse> newest = glimpses.descendingIterator(); newest.hasNext(); ) {
            Glimpse glimpse = newest.next();
            seen.addAll(glimpse.processes());
            if (signalNanos - glimpse.nanos() >= ON_ITS_WAY_NANOS) {
                return;
            }
        }
    }

    /** Sends a signal to all, the child first, so that a shell does not continue with its next command. */
    void signal(UnixSignal signal) {
        look();
        if (signal == UnixSignal.TERM) {
            living().forEach(ProcessHandle::destroy);
            return;
        }
        // Java can send only TERM and KILL. A shell has kill built in; not every system has /bin/kill.
        List<String> command = new ArrayList<>(List.of("/bin/sh", "-c", "kill -s \"$0\" \"$@\"", signal.name()));
        living().forEach(process -> command.add(Long.toString(process.pid())));
        try {
            new ProcessBuilder(command)
                    .redirectOutput(Redirect.DISCARD)
                    .redirectError(Redirect.DISCARD)
                    .start();
        } catch (IOException e) {
            // No process can be started any more: use what Java can do.
            living().forEach(ProcessHandle::destroy);
        } catch (OutOfMemoryError e) {
            // It runs, although the thread that waits for it could not be created.
        }
    }

    /** Sends TERM to the processes that are in another process group, which has not received it. */
    void terminateOtherGroups() {
        look();
        living().stream().filter(ProcessGroup::isAnother).forEach(ProcessHandle::destroy);
    }

    void kill() {
        for (int round = 0; round < KILL_ROUNDS; round++) {
            look();
            living().forEach(ProcessHandle::destroyForcibly);
        }
    }

    /** Kills the processes, and returns when none is left, however long that takes. */
    void killUntilGone() {
        untilDone(() -> {
            if (isGone()) {
                return true;
            }
            kill();
            return false;
        });
    }

    /** Repeats a step with pauses until it returns true. Keeps an interrupt for later. */
    private static void untilDone(BooleanSupplier step) {
        boolean interrupted = false;
        while (!isDone(step)) {
            try {
                Thread.sleep(LOOK_MILLIS);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static boolean isDone(BooleanSupplier step) {
        try {
            return step.getAsBoolean();
        } catch (RuntimeException | OutOfMemoryError e) {
            // No file can be opened, or memory has run out: the lock must not be released while the command runs.
            return false;
        }
    }

    /** Returns whether none of the processes seen so far is left. */
    boolean isGone() {
        return living().isEmpty();
    }

    private List<ProcessHandle> living() {
        return seen.stream()
                .filter(process -> process.isAlive() ? !isZombie(process.pid()) : mayLive(process))
                .toList();
    }

    /** Java says that a process is not alive also if no file can be opened to find out, so it is asked again when one can. */
    private static boolean mayLive(ProcessHandle process) {
        Path status = statusOf(process.pid());
        try {
            Files.newInputStream(status).close();
            return process.isAlive() && !isZombie(process.pid());
        } catch (IOException e) {
            return Files.exists(status);
        }
    }

    /**
     * Returns whether a process is a zombie, whose exit code nobody has read. For Java, it is alive. As process 1 of a
     * container, this process is the parent of all orphans, and no Java code can read their exit codes.
     */
    private static boolean isZombie(long pid) {
        try {
            String status = Files.readString(statusOf(pid), StandardCharsets.ISO_8859_1);
            // A process whose main thread has ended looks the same, except for its other threads.
            return status.contains("\nState:\tZ") && status.contains("\nThreads:\t1\n");
        } catch (IOException e) {
            // The process has just ended, or the system has no such files.
            return false;
        }
    }

    private static Path statusOf(long pid) {
        return Path.of("/proc", Long.toString(pid), "status");
    }
}
