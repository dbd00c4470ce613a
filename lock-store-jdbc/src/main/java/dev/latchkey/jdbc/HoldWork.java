package dev.latchkey.jdbc;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.jdbc.Database.Work;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;

/**
 * Makes the work by which the {@link Database} takes, renews and gives up one hold: by one statement where one will do.
 * For what needs to look at the row first, sharing above all, {@link Statements#change} reads it, decides by the
 * {@link Rules}, and writes it if it is still the same.
 */
final class HoldWork {

    private HoldWork() {}

    static Work<Response> save(Request request) {
        if (request.mode() == LockMode.EXCLUSIVE
                && exclusiveClaim(request.key()).isPresent()) {
            return renew(request, Rules::save, Statements::renew);
        }
        boolean isOneStatement = request.leaseChange() == LeaseChange.EXTEND && request.mode() == LockMode.EXCLUSIVE;
        return isOneStatement && request.key().held().isEmpty()
                ? new AcquireStatement(request)::on
                : (connection, statements) -> statements.acquire(connection, request);
    }

    static Work<Response> refresh(Request request) {
        return renew(request, Rules::refresh, Statements::renew);
    }

    /** As {@link #refresh}, for one who has more to renew. Only an exclusive hold's row is ever locked for long. */
    static Work<Response> refreshAmongOthers(Request request) {
        return renew(request, Rules::refresh, Statements::renewSoon);
    }

    /** How a live exclusive hold is renewed; false if it is not there. */
    @FunctionalInterface
    private interface Renewing {
        boolean in(Statements statements, Connection connection, Sql renewal, Map<String, ?> values)
                throws SQLException;
    }

    /** What may end a lease sooner depends on the row as it was read: done late, or twice, it does nothing. */
    private static Work<Response> renew(
            Request request, Function<Rules, Decision<Response>> otherwise, Renewing renewing) {
        Work<Response> change = (connection, statements) -> statements.change(connection, request, otherwise);
        OptionalLong claim = exclusiveClaim(request.key());
        if (request.leaseChange() != LeaseChange.EXTEND || claim.isEmpty()) {
            return change;
        }
        long fencingToken = claim.getAsLong();
        Map<String, Object> values = Map.of(
                "resource", ResourceName.of(request.key().resource()),
                "token", request.key().token(),
                "fencing_token", fencingToken,
                "ttl", Rules.micros(request.ttl()),
                "reserved", request.reservedTokens());
        return (connection, statements) -> {
            Sql renewal = request.isSticky() ? statements.ofSticky().renew() : statements.renew();
            long since = System.nanoTime();
            return renewing.in(statements, connection, renewal, values)
                    ? AcquireStatement.granted(fencingToken, since, request)
                    : change.on(connection, statements);
        };
    }

    /** True if the key was a holder. */
    static Work<Boolean> delete(Key key, Pruning pruning) {
        String name = ResourceName.of(key.resource());
        boolean shares =
                key.held().filter(held -> held.mode() == LockMode.SHARED).isPresent();
        return (connection, statements) -> {
            boolean released = !shares && statements.release(connection, name, key.token());
            Boolean wasHolder =
                    released ? Boolean.TRUE : statements.change(connection, name, row -> Rules.delete(row, key));
            pruning.ifDue(connection, statements);
            return wasHolder;
        };
    }

    /** The token comes with no answer: it is the one after that of the hold which ends. */
    static Work<Optional<Response.Granted>> handOff(Key from, long fencingToken, Request next, Pruning pruning) {
        Map<String, Object> values = Map.of(
                "resource", ResourceName.of(from.resource()),
                "token", from.token(),
                "fencing_token", fencingToken,
                "next", next.key().token(),
                "holder", HolderText.of(next),
                "ttl", Rules.micros(next.ttl()));
        return (connection, statements) -> {
            long since = System.nanoTime();
            Optional<Response.Granted> granted = statements.handOff(connection, values)
                    ? Optional.of(AcquireStatement.granted(fencingToken + 1, since, next))
                    : Optional.empty();
            pruning.ifDue(connection, statements);
            return granted;
        };
    }

    static Work<Optional<Response.Granted>> find(Key key) {
        return (connection, statements) -> {
            long since = System.nanoTime();
            return Rules.find(statements.read(connection, ResourceName.of(key.resource())), key, since);
        };
    }

    /** True if there was such an exclusive hold. The holder of a sticky one is told, for it asks seldom. */
    static Work<Boolean> forceRelease(String resource, long fencingToken) {
        String name = ResourceName.of(resource);
        return (connection, statements) -> {
            Row row = statements.read(connection, name);
            Decision<Boolean> decision = Rules.forceRelease(row, fencingToken);
            if (!statements.write(connection, name, decision)) {
                return null;
            }
            if (decision.answer() && row.writer().filter(Row.Writer::isKept).isPresent()) {
                statements.ofSticky().forced(connection, name, fencingToken);
            }
            return decision.answer();
        };
    }

    static Work<Row> look(String resource) {
        return (connection, statements) -> statements.read(connection, ResourceName.of(resource));
    }

    /** The number of the exclusive hold a key says it has. */
    static OptionalLong exclusiveClaim(Key key) {
        return key.held()
                .filter(held -> held.mode() == LockMode.EXCLUSIVE)
                .map(Key.Held::fencingToken)
                .orElse(OptionalLong.empty());
    }
}
