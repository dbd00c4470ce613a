package dev.latchkey.cli;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * The child and the processes it started. A process whose parent ends is no longer to be found below the child, so all
 * that were ever seen are remembered. Not thread-safe.
 */
final class ProcessTree {

    /** A process may fork while its brothers are being killed; what is new is then killed in the next round. */
    private static final int KILL_ROUNDS = 3;

    private final Set<ProcessHandle> seen = new LinkedHashSet<>();

    ProcessTree(ProcessHandle child) {
        seen.add(child);
    }

    /** Remembers the processes there are now. */
    void look() {
        for (ProcessHandle known : List.copyOf(seen)) {
            known.descendants().forEach(seen::add);
        }
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
        }
    }

    void kill() {
        for (int round = 0; round < KILL_ROUNDS; round++) {
            look();
            living().forEach(ProcessHandle::destroyForcibly);
        }
    }

    /** Has the task run, on another thread, when none of the processes seen so far is left. */
    void whenGone(Runnable task) {
        CompletableFuture<Void> unused = CompletableFuture.allOf(
                        living().stream().map(ProcessHandle::onExit).toArray(CompletableFuture<?>[]::new))
                .thenRun(task);
    }

    boolean isGone() {
        return living().isEmpty();
    }

    private List<ProcessHandle> living() {
        return seen.stream().filter(ProcessHandle::isAlive).toList();
    }
}
