package dev.latchkey.jdbc;

import dev.latchkey.Key;
import dev.latchkey.LossReason;
import dev.latchkey.jdbc.Database.Repeat;
import dev.latchkey.spi.BatchAttempt;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import dev.latchkey.spi.StateCheck;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Many resources at once: their rows are read, decided about by the same {@link Rules} as single ones, and written in one
 * transaction if none of them has changed meanwhile. No row is locked before everything is decided, and rows are written in
 * the order of their names, so that two batches never lock them crosswise.
 */
record Batches(Database database, StateIndexes indexes, Pruning pruning) {

    /** A row with what is to become of it. */
    private record Write(String name, Decision<?> decision) {}

    private record Judged(Request request, Decision<Response> decision) {}

    BatchAttempt saveAll(List<Request> requests, Optional<StateCheck> check) {
        if (requests.isEmpty()) {
            return new BatchAttempt.Granted(List.of());
        }
        // A demotion done twice finds what it did, and takes it for the work of others.
        boolean repeats = requests.stream()
                .allMatch(request -> HoldWork.exclusiveClaim(request.key()).isEmpty());
        return database.call(
                requests.stream().map(request -> request.key().resource()).toList(),
                repeats ? Repeat.HARMLESS : Repeat.NEVER,
                (connection, statements) -> save(connection, statements, requests, check));
    }

    private @Nullable BatchAttempt save(
            Connection connection, Statements statements, List<Request> requests, Optional<StateCheck> check)
            throws SQLException {
        List<String> resources =
                requests.stream().map(request -> request.key().resource()).toList();
        long since = System.nanoTime();
        Map<String, Row> rows = statements.readAll(connection, names(resources));
        List<Judged> judged = new ArrayList<>();
        for (Request request : requests) {
            Row row = row(rows, request.key());
            Rules rules = new Rules(row, request.with(RetryIntent.ONCE), since, HolderText.of(request));
            judged.add(new Judged(request, rules.save()));
        }
        Optional<BatchAttempt> refusal = refusal(judged);
        if (refusal.isPresent()) {
            recall(connection, statements, rows, judged);
            return refusal.get();
        }
        if (check.isPresent()) {
            // Read after the rows: who changes an index holds its row, and changes that before anybody else can take
            // it.
            Map<String, Long> stale = check.get().stale(requests, indexes.read(connection, statements, resources));
            if (!stale.isEmpty()) {
                return new BatchAttempt.Stale(stale);
            }
        }
        List<Write> writes = judged.stream()
                .map(one -> new Write(ResourceName.of(one.request.key().resource()), one.decision))
                .toList();
        return write(connection, statements, writes)
                ? new BatchAttempt.Granted(judged.stream()
                        .map(one -> (Response.Granted) one.decision.answer())
                        .toList())
                : null;
    }

    /** Has those told who only keep what stands in the way, and notes that: who has had the time to answer is in use. */
    private static void recall(Connection connection, Statements statements, Map<String, Row> rows, List<Judged> judged)
            throws SQLException {
        for (Judged one : judged) {
            String name = ResourceName.of(one.request.key().resource());
            Recall recall = new Recall(row(rows, one.request.key()), one.request);
            if (one.decision.answer() instanceof Response.Conflicted && recall.isOfSticky()) {
                if (recall.isNew()) {
                    // If the row has changed meanwhile, the next attempt does it.
                    boolean unused = statements.write(connection, name, Decision.write(false, recall.noted()));
                }
                statements.ofSticky().recall(connection, name);
            }
        }
    }

    private static Optional<BatchAttempt> refusal(List<Judged> judged) {
        Map<String, LossReason> lost = new TreeMap<>();
        Set<String> blocked = new TreeSet<>();
        Duration retryAfter = Duration.ZERO;
        boolean isRecalled = true;
        for (Judged one : judged) {
            String resource = one.request.key().resource();
            Response answer = one.decision.answer();
            if (answer instanceof Response.Lost loss) {
                lost.put(resource, loss.reason());
            } else if (answer instanceof Response.Conflicted conflict) {
                blocked.add(resource);
                isRecalled &= conflict.isRecalled();
                retryAfter = retryAfter.compareTo(conflict.retryAfter()) < 0 ? conflict.retryAfter() : retryAfter;
            }
        }
        if (!lost.isEmpty()) {
            return Optional.of(new BatchAttempt.Lost(lost));
        }
        return blocked.isEmpty()
                ? Optional.empty()
                : Optional.of(new BatchAttempt.Conflicted(blocked, retryAfter, isRecalled));
    }

    int deleteAll(List<Key> keys) {
        if (keys.isEmpty()) {
            return 0;
        }
        List<String> resources = keys.stream().map(Key::resource).toList();
        return database.call(resources, Repeat.NEVER, (connection, statements) -> {
            Integer held = delete(connection, statements, keys);
            pruning.ifDue(connection, statements);
            return held;
        });
    }

    private static @Nullable Integer delete(Connection connection, Statements statements, List<Key> keys)
            throws SQLException {
        Map<String, Row> rows = statements.readAll(
                connection, names(keys.stream().map(Key::resource).toList()));
        List<Write> writes = new ArrayList<>();
        int held = 0;
        for (Key key : keys) {
            String name = ResourceName.of(key.resource());
            Decision<Boolean> decision = Rules.delete(row(rows, key), key);
            writes.add(new Write(name, decision));
            held += decision.answer() ? 1 : 0;
        }
        return write(connection, statements, writes) ? held : null;
    }

    /** All or nothing; false if one of the rows has changed since it was read. */
    private static boolean write(Connection connection, Statements statements, List<Write> writes) throws SQLException {
        List<Write> ordered = writes.stream()
                .filter(write -> write.decision.row().isPresent())
                .sorted(Comparator.comparing(Write::name))
                .toList();
        return ordered.isEmpty()
                || Transaction.run(connection, () -> {
                    for (Write write : ordered) {
                        if (!statements.write(connection, write.name, write.decision)) {
                            return false;
                        }
                    }
                    return true;
                });
    }

    private static Row row(Map<String, Row> rows, Key key) {
        return Objects.requireNonNull(rows.get(ResourceName.of(key.resource())));
    }

    private static List<String> names(List<String> resources) {
        return resources.stream().map(ResourceName::of).toList();
    }
}
