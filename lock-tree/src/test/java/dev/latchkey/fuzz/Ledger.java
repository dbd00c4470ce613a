package dev.latchkey.fuzz;

import dev.latchkey.Key;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What one editor, or all that share it, have asked the store for, as far as they can know what came of it. */
final class Ledger {

    private final Map<String, Key> asked = new LinkedHashMap<>();

    /** Tokens of which a request was not answered. */
    private final Set<String> doubtful = new HashSet<>();

    /** Tokens of which a request may come at any time. */
    private final Set<String> late = new HashSet<>();

    private final boolean shared;
    private int failures;
    private int inFlight;

    private Ledger(boolean shared) {
        this.shared = shared;
    }

    static Ledger ofOneEditor() {
        return new Ledger(false);
    }

    static Ledger shared() {
        return new Ledger(true);
    }

    /** Whether it has requests of several editors. */
    boolean isShared() {
        return shared;
    }

    void sent(List<Key> keys, Network.Fate fate) {
        inFlight++;
        failures += fate.isAnswered() ? 0 : 1;
        for (Key key : keys) {
            asked.put(key.token(), key);
            if (!fate.isAnswered()) {
                doubtful.add(key.token());
            }
            if (fate.arrivesLate()) {
                late.add(key.token());
            }
        }
    }

    void isOver() {
        inFlight--;
    }

    /** Whether nothing is being asked. */
    boolean isQuiet() {
        return inFlight == 0;
    }

    void deleted(List<Key> keys) {
        keys.forEach(key -> doubtful.remove(key.token()));
    }

    /** What is held was asked about, and each request of that was answered. */
    void settled(Iterable<Key> held) {
        held.forEach(key -> doubtful.remove(key.token()));
    }

    /** Of all there were. */
    int failures() {
        return failures;
    }

    /** Whether the store must have of it exactly what the editor has. */
    boolean isSure(Key key) {
        return !doubtful.contains(key.token()) && !late.contains(key.token());
    }

    /** All that was ever asked for, with what the key claimed last. */
    Iterable<Key> asked() {
        return asked.values();
    }
}
