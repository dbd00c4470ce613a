package dev.latchkey.jdbc;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.jdbc.Database.Repeat;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.LocalProcess;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Takes, renews and gives up holds, by one statement where one will do. What needs to look at the row first, sharing above
 * all, reads it, decides by the {@link Rules}, and writes the row if it is still the same.
 */
record Holds(Database database, Pruning pruning) {

    Response save(Request request) {
        String resource = request.key().resource();
        if (exclusiveClaim(request.key()).isPresent() && request.mode() == LockMode.EXCLUSIVE) {
            return renew(request, Rules::save, Statements::renew);
        }
        boolean isOneStatement = request.leaseChange() == LeaseChange.EXTEND && request.mode() == LockMode.EXCLUSIVE;
        if (request.key().held().isEmpty() && isOneStatement) {
            return database.call(
                    resource, Repeat.HARMLESS, (connection, statements) -> take(connection, statements, request));
        }
        // A demotion done twice finds what it did, and takes it for the work of others.
        boolean demotes = exclusiveClaim(request.key()).isPresent();
        return database.call(
                resource,
                demotes ? Repeat.NEVER : Repeat.HARMLESS,
                (connection, statements) -> change(connection, statements, request, Rules::save));
    }

    Response refresh(Request request) {
        return renew(request, Rules::refresh, Statements::renew);
    }

    /** As {@link #refresh}, for one who has more to renew. Only an exclusive hold's row is ever locked for long. */
    Response renewAmongOthers(Request request) {
        return renew(request, Rules::refresh, Statements::renewSoon);
    }

    /** How a live exclusive hold is renewed; false if it is not there. */
    @FunctionalInterface
    private interface Renewing {
        boolean in(Statements statements, Connection connection, Map<String, ?> values) throws SQLException;
    }

    private @Nullable Response take(Connection connection, Statements statements, Request request) throws SQLException {
        String token = request.key().token();
        Map<String, Object> values = Map.of(
                "resource", ResourceName.of(request.key().resource()),
                "token", token,
                "holder", LocalProcess.description(),
                "ttl", micros(request));
        long since = System.nanoTime();
        Optional<AcquireStatement.Seen> seen = statements.acquire().run(connection, values);
        if (seen.isEmpty() || seen.get().isSharedBy(token)) {
            OptionalLong rest = request.retryIntent() == RetryIntent.AGAIN
                    ? statements.mark(connection, ResourceName.of(request.key().resource()))
                    : OptionalLong.empty();
            if (rest.isPresent()) {
                return new Response.Conflicted(Rules.micros(Math.max(0, rest.getAsLong())));
            }
            return change(connection, statements, request, Rules::save);
        }
        return seen.get().isHeldBy(token)
                ? granted(seen.get().fencingToken(), since, request)
                : new Response.Conflicted(Rules.micros(Math.max(0, seen.get().remainingMicros())));
    }

    /** What may end a lease sooner depends on the row as it was read: done late, or twice, it does nothing. */
    private Response renew(Request request, Function<Rules, Decision<Response>> otherwise, Renewing renewing) {
        OptionalLong claim =
                request.leaseChange() == LeaseChange.EXTEND ? exclusiveClaim(request.key()) : OptionalLong.empty();
        return database.call(request.key().resource(), Repeat.HARMLESS, (connection, statements) -> {
            long since = System.nanoTime();
            return claim.isPresent() && renewing.in(statements, connection, values(request, claim.getAsLong()))
                    ? granted(claim.getAsLong(), since, request)
                    : change(connection, statements, request, otherwise);
        });
    }

    private static @Nullable Response change(
            Connection connection, Statements statements, Request request, Function<Rules, Decision<Response>> rule)
            throws SQLException {
        String name = ResourceName.of(request.key().resource());
        long since = System.nanoTime();
        Row row = statements.read(connection, name);
        Decision<Response> decision = rule.apply(new Rules(row, request, since, LocalProcess.description()));
        return statements.write(connection, name, decision) ? decision.answer() : null;
    }

    boolean delete(Key key) {
        String name = ResourceName.of(key.resource());
        boolean shares =
                key.held().filter(held -> held.mode() == LockMode.SHARED).isPresent();
        return database.call(key.resource(), Repeat.NEVER, (connection, statements) -> {
            boolean released = !shares && statements.release(connection, name, key.token());
            Boolean wasHolder = released ? Boolean.TRUE : giveUp(connection, statements, name, key);
            pruning.ifDue(connection, statements);
            return wasHolder;
        });
    }

    /** The token comes with no answer: it is the one after that of the hold which ends. */
    Optional<Response.Granted> handOff(Key from, Request next) {
        OptionalLong claim = exclusiveClaim(from);
        if (claim.isEmpty()) {
            return Optional.empty();
        }
        Map<String, Object> values = Map.of(
                "resource", ResourceName.of(from.resource()),
                "token", from.token(),
                "fencing_token", claim.getAsLong(),
                "next", next.key().token(),
                "holder", LocalProcess.description(),
                "ttl", micros(next));
        return database.call(from.resource(), Repeat.NEVER, (connection, statements) -> {
            long since = System.nanoTime();
            Optional<Response.Granted> granted = statements.handOff(connection, values)
                    ? Optional.of(granted(claim.getAsLong() + 1, since, next))
                    : Optional.empty();
            pruning.ifDue(connection, statements);
            return granted;
        });
    }

    private static @Nullable Boolean giveUp(Connection connection, Statements statements, String name, Key key)
            throws SQLException {
        Decision<Boolean> decision = Rules.delete(statements.read(connection, name), key);
        return statements.write(connection, name, decision) ? decision.answer() : null;
    }

    Optional<Response.Granted> find(Key key) {
        return database.call(key.resource(), Repeat.HARMLESS, (connection, statements) -> {
            long since = System.nanoTime();
            return Rules.find(statements.read(connection, ResourceName.of(key.resource())), key, since);
        });
    }

    Row look(String resource) {
        return database.call(
                resource,
                Repeat.HARMLESS,
                (connection, statements) -> statements.read(connection, ResourceName.of(resource)));
    }

    /** The number of the exclusive hold a key says it has. */
    static OptionalLong exclusiveClaim(Key key) {
        return key.held()
                .filter(held -> held.mode() == LockMode.EXCLUSIVE)
                .map(Key.Held::fencingToken)
                .orElse(OptionalLong.empty());
    }

    private static Map<String, Object> values(Request request, long fencingToken) {
        return Map.of(
                "resource", ResourceName.of(request.key().resource()),
                "token", request.key().token(),
                "fencing_token", fencingToken,
                "ttl", micros(request));
    }

    private static long micros(Request request) {
        return request.ttl().toNanos() / 1_000;
    }

    private static Response.Granted granted(long fencingToken, long since, Request request) {
        return new Response.Granted(
                LockMode.EXCLUSIVE, OptionalLong.of(fencingToken), Lease.timed(since, request.ttl()));
    }
}
