package dev.latchkey.chaos;

import dev.latchkey.servers.RedisConnection;
import dev.latchkey.testkit.ServerAddress;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Follows, by {@code MONITOR}, what the scripts do to each queue, and writes down whoever is granted a hold while
 * somebody is in the queue in front of him. A queue is followed from the moment on when it is known to be empty, and no
 * longer when a line may have been missed.
 */
final class OrderWatch implements ServerObserver {

    private static final Pattern BY_A_SCRIPT = Pattern.compile("\\S+ \\[\\d+ lua] \"(.*)\"");
    private static final Pattern STATE = Pattern.compile("L1.(.) \\d+(.*)");
    private static final Pattern HOLD = Pattern.compile(" ([^: ]+):\\d+:\\d+:[^ ]+");

    /** What is known of one resource: tokens of holders, members of the queue by ticket, and who was just taken from it. */
    private static final class Line {

        private Set<String> holders = Set.of();
        private final Map<String, Long> queue = new HashMap<>();
        private final Map<String, Long> called = new HashMap<>();
    }

    private final EventLog log;
    private final Map<String, Line> lines = new HashMap<>();
    /** Grants that were looked at while somebody waited, or had just waited. */
    private final AtomicLong judged = new AtomicLong();

    private final Bystander bystander;

    OrderWatch(ServerAddress server, EventLog log) {
        this.log = log;
        this.bystander = new Bystander(server, this::watch);
    }

    private void watch(RedisConnection connection) {
        lines.clear();
        connection.sendOnly("MONITOR");
        while (true) {
            follow(String.valueOf(connection.receive()));
        }
    }

    private void follow(String text) {
        Matcher command = BY_A_SCRIPT.matcher(text);
        if (!command.matches()) {
            lines.values().forEach(line -> line.called.clear());
            return;
        }
        String[] words = command.group(1).split("\" \"", -1);
        if (words.length < 2) {
            return;
        }
        String key = words[1].endsWith(":q") ? words[1].substring(0, words[1].length() - 2) : words[1];
        switch (words[0]) {
            case "SET" -> onState(key, words);
            case "ZADD" -> onLine(key, line -> line.queue.putIfAbsent(words[4], Long.valueOf(words[3])));
            case "ZREM" -> onLine(key, line -> List.of(words).forEach(member -> call(line, member)));
            case "ZPOPMIN" -> onLine(key, OrderWatch::callFirst);
            case "DEL" -> lines.remove(key);
            default -> {}
        }
    }

    private void onLine(String key, Consumer<Line> change) {
        Line line = lines.get(key);
        if (line != null) {
            change.accept(line);
        }
    }

    private static void callFirst(Line line) {
        line.queue.entrySet().stream()
                .min(Map.Entry.<String, Long>comparingByValue().thenComparing(Map.Entry.comparingByKey()))
                .ifPresent(first -> call(line, first.getKey()));
    }

    private static void call(Line line, String member) {
        Long ticket = line.queue.remove(member);
        if (ticket != null) {
            line.called.put(token(member), ticket);
        }
    }

    private static String token(String member) {
        return member.substring(0, member.indexOf(' '));
    }

    private void onState(String key, String[] words) {
        Matcher state = STATE.matcher(words[2]);
        // The short way of a release looks by writing, and writes what was there again.
        if (!state.matches() || words[words.length - 1].equals("GET")) {
            return;
        }
        Set<String> holders = new HashSet<>();
        HOLD.matcher(state.group(2)).results().forEach(hold -> holders.add(hold.group(1)));
        Line line = lines.get(key);
        if (line != null) {
            holders.stream().filter(token -> !line.holders.contains(token)).forEach(token -> judge(key, line, token));
            line.holders = holders;
        } else if (state.group(1).equals("0")) {
            Line fresh = new Line();
            fresh.holders = holders;
            lines.put(key, fresh);
        }
    }

    private void judge(String key, Line line, String granted) {
        long ticket = line.called.getOrDefault(granted, Long.MAX_VALUE);
        if (ticket < Long.MAX_VALUE || !line.queue.isEmpty()) {
            judged.incrementAndGet();
        }
        line.queue.forEach((member, earlier) -> {
            if (earlier < ticket && !token(member).equals(granted)) {
                log.violated(
                        Rule.ORDER,
                        key + ": with ticket " + ticket + " granted before " + earlier + " of attempt "
                                + member.split(" ", -1)[1]);
            }
        });
    }

    @Override
    public void close() {
        bystander.close();
        log.compared(Rule.ORDER, judged.get());
    }
}
