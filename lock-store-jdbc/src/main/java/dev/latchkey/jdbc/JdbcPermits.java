package dev.latchkey.jdbc;

import dev.latchkey.Key;
import dev.latchkey.jdbc.Database.Repeat;
import dev.latchkey.spi.NotifyingStore;
import dev.latchkey.spi.PermitHolder;
import dev.latchkey.spi.PermitStore;
import dev.latchkey.spi.Permits;
import dev.latchkey.spi.ReleaseSubscription;
import dev.latchkey.spi.ReleaseSubscriptions;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * The permits of semaphores, in the table of the locks: each semaphore is a row that is shared by those who hold its permits,
 * and is changed only if nobody else has since it was read. There is no queue: those who wait ask again.
 */
final class JdbcPermits implements PermitStore, NotifyingStore {

    private final Database database;
    private final Pruning pruning;
    private final ReleaseSubscriptions subscriptions;

    JdbcPermits(Database database, Pruning pruning, ReleaseSubscriptions subscriptions) {
        this.database = database;
        this.pruning = pruning;
        this.subscriptions = subscriptions;
    }

    @Override
    public Response save(Request request) {
        return change(request, PermitRules::save);
    }

    @Override
    public Response refresh(Request request) {
        return change(request, PermitRules::refresh);
    }

    private Response change(Request request, Function<PermitRules, Decision<Response>> rule) {
        String name = Permits.of(request.key()).semaphore();
        return database.call(name, Repeat.HARMLESS, (connection, statements) -> {
            long since = System.nanoTime();
            return statements.change(
                    connection, PermitHold.rowName(name), row -> rule.apply(new PermitRules(row, request, since)));
        });
    }

    @Override
    public boolean delete(Key key) {
        String name = Permits.of(key).semaphore();
        return database.call(name, Repeat.NEVER, (connection, statements) -> {
            Boolean wasHeld =
                    statements.change(connection, PermitHold.rowName(name), row -> PermitRules.delete(row, key));
            pruning.ifDue(connection, statements);
            return wasHeld;
        });
    }

    @Override
    public Optional<Response.Granted> find(Key key) {
        String name = Permits.of(key).semaphore();
        return database.call(name, Repeat.HARMLESS, (connection, statements) -> {
            long since = System.nanoTime();
            return PermitRules.find(statements.read(connection, PermitHold.rowName(name)), key, since);
        });
    }

    @Override
    public List<PermitHolder> permitHolders(String semaphore) {
        return database.call(semaphore, Repeat.HARMLESS, (connection, statements) -> {
            Row row = statements.read(connection, PermitHold.rowName(semaphore));
            return PermitRules.live(row).stream()
                    .map(hold -> hold.shown(row.now()))
                    .toList();
        });
    }

    @Override
    public ReleaseSubscription watch(String resource) {
        return database.announces()
                ? subscriptions.watch(PermitHold.rowName(Permits.parse(resource).semaphore()))
                : ReleaseSubscription.never();
    }
}
