package dev.latchkey.cli;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The child and the processes it started. A process whose parent ends is no longer to be found below the child, so all
 * that were ever seen are remembered. Not thread-safe.
 */
final class ProcessTree {

    /** A process may fork while its brothers are being killed; what is new is then killed in the next round. */
    private static final int KILL_ROUNDS = 3;

    private static final long LOOK_MILLIS = 50;

    private final Set<ProcessHandle> seen = new LinkedHashSet<>();
    private Set<ProcessHandle> glimpsed = Set.of();

    ProcessTree(ProcessHandle child) {
        this(List.of(child));
    }

    private ProcessTree(List<ProcessHandle> processes) {
        seen.addAll(processes);
    }

    /** All that was started by a process, but not itself. */
    static ProcessTree below(ProcessHandle parent) {
        return new ProcessTree(parent.descendants().toList());
    }

    /** Remembers the processes there are now. */
    void look() {
        for (ProcessHandle known : List.copyOf(seen)) {
            known.descendants().forEach(seen::add);
        }
    }

    /** Notes the processes there are now, in the place of those noted before: not yet for good. */
    void glimpse() {
        try {
            glimpsed = seen.stream().flatMap(ProcessHandle::descendants).collect(Collectors.toSet());
        } catch (RuntimeException e) {
            // The system has no file to spare for the list of processes: not a reason to end the command. Those noted
            // before stay.
        }
    }

    /**
     * Remembers those noted last, too. A signal to the whole group ends a process before we can look below it, and what it
     * started is not to be found any more.
     */
    void rememberGlimpsed() {
        seen.addAll(glimpsed);
    }

    /** Sends a signal to all, the child first, lest a shell goes on with its next command. */
    void signal(UnixSignal signal) {
        look();
        if (signal == UnixSignal.TERM) {
            living().forEach(ProcessHandle::destroy);
            return;
        }
        // Java itself can send TERM and KILL only. A shell has kill built in; /bin/kill is not on every system.
        List<String> command = new ArrayList<>(List.of("/bin/sh", "-c", "kill -s \"$0\" \"$@\"", signal.name()));
        living().forEach(process -> command.add(Long.toString(process.pid())));
        try {
            new ProcessBuilder(command)
                    .redirectOutput(Redirect.DISCARD)
                    .redirectError(Redirect.DISCARD)
                    .start();
        } catch (IOException e) {
            // No process can be started any more: then at least what Java can do.
            living().forEach(ProcessHandle::destroy);
        } catch (OutOfMemoryError e) {
            // It runs: what could not be made is the thread that waits for it.
        }
    }

    /** Sends TERM to those that did not get what our process group got, because they are in another one. */
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

    /** Returns when nothing is left, however long that takes. An interrupt is kept for later. */
    void killUntilGone() {
        boolean interrupted = false;
        while (!isGone()) {
            kill();
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

    /** Tells whether none of the processes seen so far is left. */
    boolean isGone() {
        return living().isEmpty();
    }

    private List<ProcessHandle> living() {
        return seen.stream()
                .filter(process -> process.isAlive() && !isZombie(process.pid()))
                .toList();
    }

    /**
     * Tells whether a process has ended but for its exit code, which nobody has asked for. To Java it is alive. As process 1
     * of a container we are the parent of all whose own has ended, and no Java code can ask for them.
     */
    private static boolean isZombie(long pid) {
        try {
            String status =
                    Files.readString(Path.of("/proc", Long.toString(pid), "status"), StandardCharsets.ISO_8859_1);
            // One whose main thread alone has ended looks the same, but for its other threads.
            return status.contains("\nState:\tZ") && status.contains("\nThreads:\t1\n");
        } catch (IOException e) {
            // It has just ended, or this system has no such files.
            return false;
        }
    }
}
