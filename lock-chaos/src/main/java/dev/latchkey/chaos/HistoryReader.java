package dev.latchkey.chaos;

import dev.latchkey.LockMode;
import dev.latchkey.chaos.EventLog.Event;
import dev.latchkey.chaos.History.Access;
import dev.latchkey.chaos.History.Stall;
import dev.latchkey.chaos.History.Strike;
import dev.latchkey.chaos.History.Violation;
import dev.latchkey.chaos.History.Wait;
import dev.latchkey.chaos.Hold.Answer;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;

/** Makes a {@link History} of the lines of {@link EventLog}s. */
final class HistoryReader {

    private final Map<String, Hold> holds = new LinkedHashMap<>();
    private final List<Wait> waits = new ArrayList<>();
    /** Of actors that wait still. */
    private final Map<String, Wait> open = new HashMap<>();

    private final Map<String, List<Long>> changes = new HashMap<>();
    /** Who received a key, by the hold of the giver, which may be in a log that is read later. */
    private final Map<String, Hold> receivers = new LinkedHashMap<>();

    private final Map<String, Long> notReceived = new LinkedHashMap<>();
    private final List<Access> accesses = new ArrayList<>();
    private final Map<String, Strike> strikes = new LinkedHashMap<>();
    private final List<Stall> stalls = new ArrayList<>();
    private final List<Violation> violations = new ArrayList<>();
    private final Map<Rule, Long> comparisons = new EnumMap<>(Rule.class);

    /** Reads lines; those of one process in their order. */
    History read(List<String> lines) {
        lines.forEach(line -> add(line.split(" ", -1), line));
        waits.addAll(open.values());
        receivers.forEach((giver, receiver) -> hold(giver).goesOnAs(receiver));
        return new History(
                holds, waits, changes, notReceived, accesses, strikes.values(), stalls, violations, comparisons);
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
                strikes.put(words[1], new Strike(kind, words[3], number(words[4]), Hold.NEVER, Hold.NEVER));
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
}
