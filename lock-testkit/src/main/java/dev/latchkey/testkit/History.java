package dev.latchkey.testkit;

import dev.latchkey.LockMode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * What all processes of a run believed to hold, and when, read from their {@link HistoryLog}s; and the judge of it: no two
 * may believe in holds that exclude each other, and fencing tokens grow in the order of the holds.
 *
 * <p>What was believed while a server lost its data counts only until then: one server without its data cannot keep it. The
 * tokens have to grow all the same.
 */
public final class History {

    /** What was granted before the loss of data may be heard of this long after it. */
    private static final long LATE_REPLY = Duration.ofMillis(600).toNanos();

    private static final String NO_TOKEN = "-";

    private final Map<String, Belief> beliefs = new LinkedHashMap<>();
    private final List<Long> losses = new ArrayList<>();
    private final List<String> violations = new ArrayList<>();

    /** One hold as one process saw it. Mutable while it is read. */
    private static final class Belief {

        private final String owner;
        private final String resource;
        private final LockMode mode;
        private final String token;
        private final long from;
        private long until;
        private long end = Long.MAX_VALUE;

        Belief(String[] words) {
            owner = words[2];
            resource = words[3];
            mode = LockMode.valueOf(words[4]);
            token = words[5];
            from = Long.parseLong(words[6]);
            until = Long.parseLong(words[7]);
        }

        long last() {
            return Math.min(until, end);
        }

        boolean excludes(Belief other) {
            return (mode == LockMode.EXCLUSIVE || other.mode == LockMode.EXCLUSIVE) && !owner.equals(other.owner);
        }

        @Override
        public String toString() {
            return mode + " by " + owner + " from " + from + " to " + last() + " token " + token;
        }
    }

    private History() {}

    /**
     * Reads and judges.
     *
     * @param directory with the logs, and nothing else
     * @return the history
     * @throws IOException if a log cannot be read
     */
    public static History read(Path directory) throws IOException {
        History history = new History();
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.sorted().toList()) {
                for (String line : Files.readAllLines(file)) {
                    history.add(line.split(" ", -1), line);
                }
            }
        }
        history.cutAtLosses();
        history.byResource().forEach(history::judge);
        return history;
    }

    private void add(String[] words, String line) {
        switch (words[0]) {
            case "held" -> beliefs.put(words[1], new Belief(words));
            case "extended" -> belief(words[1]).until = Long.parseLong(words[2]);
            case "ended" -> belief(words[1]).end = Long.parseLong(words[2]);
            case "lost" -> losses.add(Long.parseLong(words[1]));
            case "anomaly" -> violations.add(line);
            default -> throw new IllegalArgumentException("no line of a history: " + line);
        }
    }

    private Belief belief(String hold) {
        Belief found = beliefs.get(hold);
        if (found == null) {
            throw new IllegalArgumentException("hold " + hold + " never began");
        }
        return found;
    }

    private void cutAtLosses() {
        for (Belief belief : beliefs.values()) {
            for (long loss : losses) {
                if (belief.from <= loss + LATE_REPLY && belief.last() > loss) {
                    belief.end = Math.min(belief.end, Math.max(loss, belief.from));
                }
            }
        }
    }

    private Map<String, List<Belief>> byResource() {
        Map<String, List<Belief>> sorted = new LinkedHashMap<>();
        beliefs.values().stream()
                .sorted(Comparator.comparingLong(belief -> belief.from))
                .forEach(belief -> sorted.computeIfAbsent(belief.resource, resource -> new ArrayList<>())
                        .add(belief));
        return sorted;
    }

    private void judge(String resource, List<Belief> inOrder) {
        List<Belief> open = new ArrayList<>();
        long lastToken = 0;
        for (Belief belief : inOrder) {
            open.removeIf(earlier -> earlier.last() <= belief.from);
            // Believed in only when it was over already, as after a freeze: nobody was misled.
            boolean real = belief.last() > belief.from;
            if (real) {
                open.stream()
                        .filter(belief::excludes)
                        .forEach(earlier -> violations.add(resource + ": two at once: " + earlier + " | " + belief));
                open.add(belief);
            }
            if (real && belief.mode == LockMode.EXCLUSIVE && !belief.token.equals(NO_TOKEN)) {
                long token = Long.parseLong(belief.token);
                if (token <= lastToken) {
                    violations.add(resource + ": token after " + lastToken + ": " + belief);
                }
                lastToken = Math.max(lastToken, token);
            }
        }
    }

    /**
     * Returns what was wrong.
     *
     * @return one line each; empty if all was well
     */
    public List<String> violations() {
        return List.copyOf(violations);
    }

    /**
     * Counts the holds of a kind.
     *
     * @param mode the kind
     * @return how many were believed in
     */
    public long holds(LockMode mode) {
        return beliefs.values().stream().filter(belief -> belief.mode == mode).count();
    }
}
