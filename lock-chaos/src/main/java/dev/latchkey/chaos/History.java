package dev.latchkey.chaos;

import dev.latchkey.LockMode;
import dev.latchkey.chaos.EventLog.Event;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.stream.Stream;

/**
 * What happened in a trial, read from its {@link EventLog}s.
 *
 * @param holds by their ids, those of one process in their order
 * @param waits of all actors
 * @param changes when holds of a resource were promoted, demoted or given away, or were to be
 * @param notReceived when the receiver of a key was told that it is not held, by the id of the hold whose key it was
 * @param accesses in the order in which the register let them in
 * @param strikes of faults
 * @param stalls of processes and of the machine
 * @param violations that somebody saw
 * @param comparisons how often somebody looked whether a rule is violated, for each rule that somebody looked after
 */
record History(
        Map<String, Hold> holds,
        List<Wait> waits,
        Map<String, List<Long>> changes,
        Map<String, Long> notReceived,
        List<Access> accesses,
        Collection<Strike> strikes,
        List<Stall> stalls,
        List<Violation> violations,
        Map<Rule, Long> comparisons) {

    /** The target of a fault that strikes the processes of all places. */
    static final String ALL = "*";

    /**
     * A fault.
     *
     * @param kind what
     * @param target a process, a place, or {@link #ALL}
     * @param at before it struck
     * @param over after its damage was done
     * @param healed when all was as before
     */
    record Strike(FaultKind kind, String target, long at, long over, long healed) {

        Strike over(long time) {
            return new Strike(kind, target, at, time, healed);
        }

        Strike healed(long time) {
            return new Strike(kind, target, at, over, time);
        }

        boolean hits(String process) {
            return target.equals(ALL) || process.equals(target) || process.startsWith(target + "-");
        }
    }

    /**
     * One who waits.
     *
     * @param maxWait in nanoseconds
     * @param end of the wait, {@link Hold#NEVER} where the log says nothing
     * @param lease what was left of it then; {@link Hold#NEVER} if nothing was granted, or for no certain time
     */
    record Wait(
            String actor,
            String resource,
            LockMode mode,
            long asked,
            long maxWait,
            long end,
            long lease,
            Event outcome) {

        Wait ended(long at, long left, Event how) {
            return new Wait(actor, resource, mode, asked, maxWait, at, left, how);
        }

        String process() {
            return actor.substring(0, actor.indexOf('.'));
        }
    }

    /** A time in which a process, or the machine, did not get on. */
    record Stall(String process, long from, long until) {}

    /** What somebody has seen who was there, and what a rule excludes. */
    record Violation(Rule rule, long at, String what) {}

    /** Somebody at the register, as {@link EventLog#access}. */
    record Access(
            long at,
            String verb,
            String resource,
            String hold,
            OptionalLong token,
            boolean accepted,
            long base,
            long found) {

        boolean isWrite() {
            return verb.equals(Register.WRITE);
        }
    }

    /** Reads all logs of a directory, which has nothing else in it. */
    static History read(Path directory) throws IOException {
        List<String> lines = new ArrayList<>();
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.sorted().toList()) {
                lines.addAll(Files.readAllLines(file));
            }
        }
        return of(lines);
    }

    /** Reads lines; those of one process in their order. */
    static History of(List<String> lines) {
        return new HistoryReader().read(lines);
    }

    /** Whether a hold of a resource was promoted or demoted, or was to be, in a time or no longer before it than a lease lasts. */
    boolean hasChanges(String resource, long from, long until) {
        return changes.getOrDefault(resource, List.of()).stream()
                .anyMatch(at -> at >= from - Workload.LONGEST_TTL.toNanos() && at <= until);
    }

    /** Returns when a process was about to be killed. */
    long crashOf(String process) {
        return strikes.stream()
                .filter(strike -> strike.kind() == FaultKind.CRASH && strike.hits(process))
                .mapToLong(Strike::at)
                .min()
                .orElse(Hold.NEVER);
    }
}
