package dev.latchkey.cli;

import dev.latchkey.Lock;
import dev.latchkey.LossReason;
import dev.latchkey.console.Text;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Supervises the child while the lock is held: forwards signals, reacts if the lock is lost or held too long, and returns
 * when the child and its descendants have ended. One thread handles one event at a time.
 */
final class ChildSupervisor {

    /**
     * How often to check whether the descendants of the child have ended: nothing reports the end of processes that are
     * not children.
     */
    private static final long LOOK_NANOS = Duration.ofMillis(50).toNanos();

    /** How often to record the descendants of the command, for which the list of all processes has to be read. */
    private static final long GLIMPSE_NANOS = Duration.ofSeconds(1).toNanos();

    /** When to record them first: a command that has just been started has none, and a short one never needs the list. */
    private static final long FIRST_GLIMPSE_NANOS = Duration.ofMillis(100).toNanos();

    /** For a KILL to be sent before a lease ends, and to be obeyed. */
    static final Duration KILL_TIME = Duration.ofSeconds(1);

    private final String name;
    private final RunRules rules;
    private final Inbox inbox;
    private final Console console;
    private final Process child;
    private final ProcessTree tree;
    private final GroupProbe probe;
    private final long startingAt;
    private final long maxHoldAt;
    private final Map<UnixSignal, Long> passedOnAt = new EnumMap<>(UnixSignal.class);

    private long glimpseAt = System.nanoTime() + FIRST_GLIMPSE_NANOS;
    private @Nullable Long killAt;
    private @Nullable Long firstTerm;
    private boolean terminating;
    private boolean lost;
    private boolean overdue;
    private @Nullable Integer childCode;

    /** What the command did not keep when it is killed. */
    private String limit;

    private ChildSupervisor(
            String name,
            RunRules rules,
            Inbox inbox,
            Console console,
            Process child,
            ProcessTree tree,
            GroupProbe probe,
            long startingAt) {
        this.name = name;
        this.rules = rules;
        this.inbox = inbox;
        this.console = console;
        this.child = child;
        this.tree = tree;
        this.probe = probe;
        this.startingAt = startingAt;
        this.limit = "within " + DurationText.format(rules.killAfter()) + " (--kill-after)";
        this.maxHoldAt = startingAt + rules.maxHold().toNanos();
    }

    /**
     * Starts the child and returns its exit code; empty if the lock was lost. The child has ended when this method returns or
     * throws. The caller releases the lock.
     *
     * <p>A child that was started after the end of the lock is killed, whatever the policy for a loss is, because it should never
     * have run. The clock decides this, because a process that was frozen may not know of its loss yet.
     */
    static OptionalInt untilGone(Lock lock, RunRules rules, Inbox inbox, Console console, Supplier<Process> start)
            throws InterruptedException {
        CompletableFuture<Optional<Process>> started = new CompletableFuture<>();
        // The probe is started first: an earlier signal to the group would look like one to this process only.
        try (GroupProbe probe = new GroupProbe()) {
            // The thread is started first: at the limit of processes no other can be created.
            Threads.startDaemon(
                    "lock-child",
                    () -> started.join().ifPresent(child -> inbox.add(new Event.ChildEnded(waitFor(child)))));
            long startingAt = System.nanoTime();
            Process child = start.get();
            ProcessTree tree = new ProcessTree(child.toHandle());
            boolean isWatched = false;
            try {
                started.complete(Optional.of(child));
                String name = lock.key().resource();
                requireHeld(lock, name);
                OptionalInt exitCode =
                        new ChildSupervisor(name, rules, inbox, console, child, tree, probe, startingAt).loop();
                isWatched = true;
                return exitCode;
            } finally {
                if (!isWatched) {
                    tree.killUntilGone();
                }
            }
        } catch (Error e) {
            // It may run nevertheless: Java could not create the thread that waits for it.
            ProcessTree.killAllBelow(ProcessHandle.current());
            throw new IllegalStateException(e);
        } finally {
            started.complete(Optional.empty());
        }
    }

    private static void requireHeld(Lock lock, String name) {
        if (lock.isExpired()) {
            throw new CommandException(
                    ExitCode.LOST,
                    "lost the lock " + Text.quoted(name) + " while the command was being started: killed it",
                    null);
        }
    }

    private static int waitFor(Process child) {
        while (true) {
            try {
                return child.waitFor();
            } catch (InterruptedException e) {
                // Nobody interrupts this thread, and the lock must not be released while the child runs.
            }
        }
    }

    private OptionalInt loop() throws InterruptedException {
        while (childCode == null || (terminating && !tree.isGone())) {
            if (firstTerm == null && System.nanoTime() - glimpseAt >= 0) {
                tree.glimpse();
                glimpseAt = System.nanoTime() + GLIMPSE_NANOS;
            }
            Optional<Event> next = inbox.next(untilNextAlarm());
            if (next.isPresent()) {
                on(next.get());
            }
            // Also after each event, because signals may arrive faster than they are handled.
            if (childCode == null || (terminating && !tree.isGone())) {
                onAlarm();
            }
        }
        return exitCode(childCode);
    }

    private OptionalInt exitCode(int ofChild) {
        return lost ? OptionalInt.empty() : OptionalInt.of(ofChild);
    }

    private void on(Event event) throws InterruptedException {
        if (event instanceof Event.Signalled signalled) {
            onSignal(signalled);
        } else if (event instanceof Event.Lost loss) {
            onLost(loss.reason());
        } else if (event instanceof Event.LeaseEnding ending) {
            onLeaseEnding(ending.endNanos());
        } else if (event instanceof Event.ChildEnded ended) {
            childCode = ended.exitCode();
            awaitSignalToAll(childCode);
        }
    }

    /** The child may have been killed by a signal to the group that has not arrived here yet; its descendants have it, too. */
    private void awaitSignalToAll(int ofChild) throws InterruptedException {
        if (!terminating && (ofChild == UnixSignal.TERM.exitCode() || probe.hasEnded())) {
            Optional<Event> next = inbox.next(probe.untilSignal());
            if (next.isPresent()) {
                on(next.get());
            }
        }
    }

    private void onSignal(Event.Signalled signalled) throws InterruptedException {
        UnixSignal signal = signalled.signal();
        tree.look();
        if (signal == UnixSignal.TERM && firstTerm != null) {
            if (signalled.nanoTime() - firstTerm > Inbox.SAME_TERM_NANOS) {
                console.say("second TERM: killing " + Text.quoted(name) + "'s command and what it started");
                kill();
            }
            return;
        }
        if (signal == UnixSignal.TERM) {
            firstTerm = signalled.nanoTime();
        }
        // Asked in any case, because a signal that is not passed on may have ended the probe as well.
        OptionalLong probeGotIt = probe.whenGot(signalled);
        // The probe is there before the child.
        boolean groupHasIt = probeGotIt.isPresent() && signalled.nanoTime() - startingAt >= 0;
        if (passedOnAt.containsKey(signal) && signalled.nanoTime() - passedOnAt.get(signal) <= 0) {
            // As timeout(1) sends it, to this process and then to the group: it came before the first was passed on.
            return;
        }
        long sameUntil = signalled.nanoTime() + (groupHasIt ? Inbox.SAME_TERM_NANOS : 0);
        passedOnAt.put(signal, Math.max(sameUntil, System.nanoTime()));
        // On a busy machine the end of the probe may be noticed too late.
        if (groupHasIt || !child.isAlive()) {
            tree.rememberGlimpsed(probeGotIt.orElse(signalled.nanoTime()));
        }
        console.explain("got " + signal + (groupHasIt ? ", as the whole process group did" : ": forwarding it"));
        if (!groupHasIt) {
            tree.signal(signal);
        } else if (signal == UnixSignal.TERM) {
            // Processes outside of the group are killed after the grace, and need a TERM before.
            tree.terminateOtherGroups();
        }
        // HUP and QUIT often do not ask for an end (reload, graceful stop, thread dump), and Ctrl-C may be input for a
        // program that reads from the terminal: none of these starts the grace.
        if (signal == UnixSignal.TERM || (signal == UnixSignal.INT && !groupHasIt)) {
            terminating = true;
            startGrace();
        }
    }

    private void onLost(LossReason reason) {
        lost = true;
        String said = "lost the lock " + Text.quoted(name) + " (" + reason + "): somebody else may hold it now; ";
        switch (rules.onLost()) {
            case WARN -> console.say(said + "the command goes on, as --on-lost=warn says");
            case TERM -> terminate(said + "ending the command with TERM");
            case KILL -> {
                console.say(said + "killing the command");
                kill();
            }
        }
    }

    /** Whatever the policy for a loss is: whoever wants to hear of this wants the command to end before the lease. */
    private void onLeaseEnding(long endNanos) {
        lost = true;
        if (!terminating) {
            terminate("the lock " + Text.quoted(name) + " could not be renewed, and is lost in "
                    + DurationText.format(Duration.ofNanos(Math.max(0, endNanos - System.nanoTime())))
                    + "; ending the command with TERM");
        }
        killBy(endNanos - KILL_TIME.toNanos());
    }

    /** The warning may have come late, as after a freeze, and the grace would then outlast the lease. */
    private void killBy(long latest) {
        if (killAt == null || latest - killAt < 0) {
            killAt = latest;
            limit = "a second before the end of the lease (--kill-after is " + DurationText.format(rules.killAfter())
                    + ")";
        }
    }

    private void onAlarm() {
        long now = System.nanoTime();
        if (!overdue && now - maxHoldAt >= 0) {
            overdue = true;
            lost = true;
            terminate("the lock " + Text.quoted(name) + " was held for " + DurationText.format(rules.maxHold())
                    + ", the most --max-hold allows; ending the command with TERM");
        }
        if (killAt != null && now - killAt >= 0) {
            console.say("the command of " + Text.quoted(name) + " did not end " + limit + "; killing it");
            kill();
        }
    }

    private void terminate(String why) {
        console.say(why);
        terminating = true;
        tree.signal(UnixSignal.TERM);
        startGrace();
    }

    private void startGrace() {
        if (killAt == null) {
            killAt = System.nanoTime() + rules.killAfter().toNanos();
        }
    }

    private void kill() {
        terminating = true;
        tree.kill();
        // Processes that were forked in the meantime or cannot be killed are tried again. The lock stays held until
        // then.
        killAt = System.nanoTime()
                + Math.max(rules.killAfter().toNanos(), Duration.ofSeconds(1).toNanos());
    }

    private Duration untilNextAlarm() {
        long now = System.nanoTime();
        long nanos = overdue ? Long.MAX_VALUE : Math.max(0, maxHoldAt - now);
        if (firstTerm == null) {
            nanos = Math.min(nanos, Math.max(0, glimpseAt - now));
        }
        if (killAt != null) {
            nanos = Math.min(nanos, Math.max(0, killAt - now));
        }
        if (childCode != null) {
            nanos = Math.min(nanos, LOOK_NANOS);
        }
        return Duration.ofNanos(nanos);
    }
}
