package dev.latchkey.chaos;

import dev.latchkey.LockMode;
import dev.latchkey.chaos.EventLog.Event;
import dev.latchkey.chaos.Hold.Answer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.stream.Stream;

/** What happened in a trial, read from its {@link EventLog}s. */
final class History {

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

        private Strike over(long time) {
            return new Strike(kind, target, at, time, healed);
        }

        private Strike healed(long time) {
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

        private Wait ended(long at, long left, Event how) {
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

    private final Map<String, Hold> holds = new LinkedHashMap<>();
    private final List<Wait> waits = new ArrayList<>();
    private final Map<String, Wait> open = new HashMap<>();
    private final Map<String, List<Long>> changes = new HashMap<>();
    /** Who received a key, by the hold of the giver, which may be in a log that is read later. */
    private final Map<String, Hold> receivers = new LinkedHashMap<>();

    private final Map<String, Long> notReceived = new LinkedHashMap<>();
    private final List<Access> accesses = new ArrayList<>();
    private final Map<String, Strike> strikes = new LinkedHashMap<>();
    private final List<Strike> crashes = new ArrayList<>();
    private final List<Stall> stalls = new ArrayList<>();
    private final List<Violation> violations = new ArrayList<>();
    private final Map<Rule, Long> comparisons = new EnumMap<>(Rule.class);

    private History() {}

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
        History history = new History();
        lines.forEach(line -> history.add(line.split(" ", -1), line));
        history.waits.addAll(history.open.values());
        history.receivers.forEach((giver, receiver) -> history.hold(giver).goesOnAs(receiver));
        return history;
    }

    private void add(String[] words, String line) {
        Event event = Event.valueOf(words[0].toUpperCase(Locale.ROOT));
        switch (event) {
            case ASKED ->
                open.put(
                        words[1],
                        new Wait(
                                words[1],
                                words[2],
                                LockMode.valueOf(words[3]),
                                number(words[4]),
                                number(words[5]),
                                Hold.NEVER,
                                Hold.NEVER,
                                Event.ASKED));
            case GRANTED -> granted(words);
            case REFUSED, INTERRUPTED, LATE, FAILED -> ended(words[1], number(words[2]), Hold.NEVER, event);
            case KEPT -> hold(words[1]).kept(new Answer(number(words[2]), number(words[3]), orNever(words[4])));
            case CHANGING -> changes(hold(words[1])).add(number(words[2]));
            case CHANGED -> changed(words);
            case TRANSFERRED -> {
                hold(words[1]).transferred(number(words[2]));
                changes(hold(words[1])).add(number(words[2]));
            }
            case RECEIVED -> received(words);
            case NOT_RECEIVED -> notReceived.put(words[1], number(words[2]));
            case ENDED -> hold(words[1]).ended(number(words[2]));
            case RELEASED -> hold(words[1]).released(number(words[2]), Boolean.parseBoolean(words[3]));
            case LOST -> hold(words[1]).lost(number(words[2]));
            case STALLED -> stalls.add(new Stall(words[1], number(words[2]), number(words[3])));
            case ACCESS -> accesses.add(access(words));
            case STRUCK -> {
                FaultKind kind = FaultKind.valueOf(words[2]);
                Strike strike = new Strike(kind, words[3], number(words[4]), Hold.NEVER, Hold.NEVER);
                strikes.put(words[1], strike);
                if (kind == FaultKind.CRASH) {
                    crashes.add(strike);
                }
            }
            case OVER -> strikes.computeIfPresent(words[1], (id, strike) -> strike.over(number(words[2])));
            case HEALED -> strikes.computeIfPresent(words[1], (id, strike) -> strike.healed(number(words[2])));
            case VIOLATED -> violations.add(violation(words, line));
            case COMPARED -> comparisons.merge(Rule.valueOf(words[1]), number(words[2]), Long::sum);
        }
    }

    private static Violation violation(String[] words, String line) {
        int prefix = words[0].length() + words[1].length() + words[2].length() + 3;
        return new Violation(Rule.valueOf(words[1]), number(words[2]), line.substring(prefix));
    }

    private void granted(String[] words) {
        long at = number(words[4]);
        long until = orNever(words[5]);
        Wait wait = ended(words[1], at, until == Hold.NEVER ? until : until - at, Event.GRANTED);
        Answer answer = new Answer(wait.asked(), at, until);
        holds.put(words[2], new Hold(words[2], wait.resource(), wait.mode(), token(words[3]), answer));
    }

    private void changed(String[] words) {
        Answer answer = new Answer(number(words[5]), number(words[6]), orNever(words[7]));
        Hold next = hold(words[1]).changed(words[2], LockMode.valueOf(words[3]), token(words[4]), answer);
        holds.put(words[2], next);
        changes(next).add(next.granted());
    }

    private void received(String[] words) {
        Answer answer = new Answer(number(words[6]), number(words[7]), orNever(words[8]));
        Hold receiver = new Hold(words[2], words[3], LockMode.valueOf(words[4]), token(words[5]), answer);
        holds.put(words[2], receiver);
        changes(receiver).add(receiver.granted());
        if (receivers.put(words[1], receiver) != null) {
            throw new IllegalArgumentException("the key of " + words[1] + " was received twice");
        }
    }

    private List<Long> changes(Hold hold) {
        return changes.computeIfAbsent(hold.resource(), resource -> new ArrayList<>());
    }

    private Wait ended(String actor, long at, long lease, Event outcome) {
        Wait begun = open.remove(actor);
        if (begun == null) {
            throw new IllegalArgumentException("a wait of " + actor + " ended that never began");
        }
        Wait ended = begun.ended(at, lease, outcome);
        waits.add(ended);
        return ended;
    }

    private Hold hold(String id) {
        Hold found = holds.get(id);
        if (found == null) {
            throw new IllegalArgumentException("hold " + id + " never began");
        }
        return found;
    }

    private static Access access(String[] words) {
        return new Access(
                number(words[1]),
                words[2],
                words[3],
                words[4],
                token(words[5]),
                words[6].equals(Register.ACCEPTED),
                number(words[7]),
                number(words[8]));
    }

    private static OptionalLong token(String word) {
        return word.equals(EventLog.NONE) ? OptionalLong.empty() : OptionalLong.of(number(word));
    }

    private static long orNever(String word) {
        return word.equals(EventLog.NONE) ? Hold.NEVER : number(word);
    }

    private static long number(String word) {
        return Long.parseLong(word);
    }

    /** By their ids, those of one process in their order. */
    Map<String, Hold> holds() {
        return holds;
    }

    List<Wait> waits() {
        return waits;
    }

    /** When the receiver of a key was told that it is not held, by the id of the hold whose key it was. */
    Map<String, Long> notReceived() {
        return notReceived;
    }

    /** In the order in which the register let them in. */
    List<Access> accesses() {
        return accesses;
    }

    Collection<Strike> strikes() {
        return strikes.values();
    }

    List<Stall> stalls() {
        return stalls;
    }

    /** Whether a hold of a resource was promoted or demoted, or was to be, in a time or no longer before it than a lease lasts. */
    boolean hasChanges(String resource, long from, long until) {
        return changes.getOrDefault(resource, List.of()).stream()
                .anyMatch(at -> at >= from - Workload.LONGEST_TTL.toNanos() && at <= until);
    }

    List<Violation> violations() {
        return violations;
    }

    /** How often somebody looked whether a rule is violated, for each rule that somebody looked after. */
    Map<Rule, Long> comparisons() {
        return comparisons;
    }

    /** Returns when a process was about to be killed. */
    long crashOf(String process) {
        return crashes.stream()
                .filter(strike -> strike.hits(process))
                .mapToLong(Strike::at)
                .min()
                .orElse(Hold.NEVER);
    }
}
