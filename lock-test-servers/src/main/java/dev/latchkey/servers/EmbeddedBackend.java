package dev.latchkey.servers;

import de.bwaldvogel.mongo.MongoCollection;
import de.bwaldvogel.mongo.backend.Utils;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.exception.MongoServerError;
import de.bwaldvogel.mongo.wire.message.MongoMessage;
import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Adds to the embedded server what locks need of a real one: updates by a pipeline, {@code hello}, a clock that can be
 * wrong, change streams if it is to be a member of a replica set, the greeting of a {@code mongos}; and refuses what a real one refuses. One command at a
 * time.
 */
final class EmbeddedBackend extends MemoryBackend {

    private static final String NOW = "$$NOW";
    private static final Set<String> GREETINGS = Set.of("hello", "isMaster", "ismaster");

    /** What the server says it is. */
    enum Role {
        STANDALONE,
        REPLICA_SET,
        ROUTER
    }

    private final Clock clock;
    private final Role role;
    private final EmbeddedChanges changes;
    private final Map<String, Object> ends = new HashMap<>();

    EmbeddedBackend(Clock clock, Role role) {
        super(clock);
        this.clock = clock;
        this.role = role;
        this.changes = new EmbeddedChanges(getCursorRegistry());
        this.oplog = changes;
    }

    @Override
    public Document handleMessage(MongoMessage message) {
        Document command = message.getDocument();
        String name = command.keySet().iterator().next();
        if (name.equals("getMore")) {
            changes.await(command);
        }
        synchronized (this) {
            Instant now = clock.instant().truncatedTo(ChronoUnit.MILLIS);
            switch (name) {
                case "hello" -> {
                    command.clear();
                    command.append("ismaster", 1).append("$db", "admin");
                }
                case "findAndModify", "findandmodify" -> prepareFindAndModify(name, command, now);
                case "update" ->
                    ((List<?>) part(command, "updates")).forEach(one -> prepareUpdate(command, (Document) one, now));
                case "createIndexes" ->
                    ((List<?>) part(command, "indexes"))
                            .forEach(index -> refuseOtherOptions(namespace(command, name), (Document) index));
                case "aggregate" -> prepareAggregate(command, now);
                default -> {}
            }
            // Encoded only after the next command has begun, which may change what is in it.
            Document response = super.handleMessage(message).cloneDeeply();
            if (name.equals("hello")) {
                response.append("isWritablePrimary", true);
            }
            if (role == Role.ROUTER && GREETINGS.contains(name)) {
                response.append("msg", "isdbgrid");
            }
            return response;
        }
    }

    private void prepareFindAndModify(String name, Document command, Instant now) {
        Document filter = (Document) part(command, "query");
        refuseExprInUpsert(filter, command);
        if (command.get("update") instanceof List<?> stages) {
            Change change = evaluate(command, name, filter, stages, now);
            command.put("update", change.after());
            changes.changed(
                    namespace(command, name), change.before(), change.after(), Utils.isTrue(command.get("upsert")));
        }
    }

    private void prepareUpdate(Document command, Document update, Instant now) {
        Document filter = (Document) part(update, "q");
        refuseExprInUpsert(filter, update);
        if (update.get("u") instanceof List<?> stages) {
            Change change = evaluate(command, "update", filter, stages, now);
            update.put("u", change.after());
            // An insert is told by the server itself.
            changes.changed(namespace(command, "update"), change.before(), change.after(), false);
        }
    }

    private static Object part(Document command, String name) {
        return Objects.requireNonNull(command.get(name), name);
    }

    private static String namespace(Document command, String name) {
        return command.get("$db") + "." + command.get(name);
    }

    private static void refuseExprInUpsert(Document filter, Document command) {
        if (filter.containsKey("$expr") && Utils.isTrue(command.get("upsert"))) {
            throw new MongoServerError(
                    224, "QueryFeatureNotAllowed", "$expr is not allowed in the query predicate for an upsert");
        }
    }

    private void refuseOtherOptions(String namespace, Document index) {
        Object end = index.getOrDefault("expireAfterSeconds", "never");
        Object before = ends.putIfAbsent(namespace + index.get("key"), end);
        if (before != null && !String.valueOf(before).equals(String.valueOf(end))) {
            throw new MongoServerError(
                    85, "IndexOptionsConflict", "An equivalent index already exists with different options");
        }
    }

    private record Change(Optional<Document> before, Document after) {}

    private Change evaluate(Document command, String name, Document filter, List<?> stages, Instant now) {
        Optional<Document> before = find(String.valueOf(command.get("$db")), String.valueOf(command.get(name)), filter);
        Document document = before.orElseGet(() -> new Document("_id", filter.get("_id")));
        for (Object stage : stages) {
            document = apply((Document) stage, document, now);
        }
        return new Change(before, document);
    }

    private Optional<Document> find(String database, String collectionName, Document filter) {
        MongoCollection<?> collection = resolveDatabase(database).resolveCollection(collectionName, false);
        if (collection == null) {
            return Optional.empty();
        }
        Iterator<Document> found = collection.handleQuery(filter, 0, 1).iterator();
        return found.hasNext() ? Optional.of(found.next().cloneDeeply()) : Optional.empty();
    }

    private static Document apply(Document stage, Document document, Instant now) {
        String name = stage.keySet().iterator().next();
        if (name.equals("$replaceWith")
                && MongoExpression.evaluate(stage.get(name), document, now) instanceof Document replaced) {
            return replaced.cloneDeeply();
        }
        throw new MongoServerError(
                40324, "Location40324", "Unrecognized pipeline stage name, or no document of stage: '" + name + "'");
    }

    private void prepareAggregate(Document command, Instant now) {
        List<?> stages = (List<?>) part(command, "pipeline");
        if (stages.get(0) instanceof Document first && first.containsKey("$changeStream") && role == Role.STANDALONE) {
            throw new MongoServerError(
                    40573, "Location40573", "The $changeStream stage is only supported on replica sets");
        }
        command.put("pipeline", withClock(stages, now));
    }

    private static @Nullable Object withClock(@Nullable Object part, Instant now) {
        if (part instanceof Collection<?> list) {
            List<@Nullable Object> all = new ArrayList<>();
            list.forEach(one -> all.add(withClock(one, now)));
            return all;
        }
        if (part instanceof Document document) {
            Document all = new Document();
            document.forEach((name, value) -> all.put(name, withClock(value, now)));
            return all;
        }
        return NOW.equals(part) ? now : part;
    }
}
