package dev.latchkey.servers;

import de.bwaldvogel.mongo.backend.AbstractCursor;
import de.bwaldvogel.mongo.backend.Cursor;
import de.bwaldvogel.mongo.backend.CursorRegistry;
import de.bwaldvogel.mongo.backend.aggregation.Aggregation;
import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.exception.MongoServerError;
import de.bwaldvogel.mongo.oplog.Oplog;
import java.util.List;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * What change streams of the embedded server tell, in the form of a real one: the difference of a document, or all of it
 * where that is no longer. The server's own log has neither of what {@code findAndModify} does.
 */
final class EmbeddedChanges implements Oplog {

    /** How many are kept: as with a real one, who resumes later than that has missed some. */
    private static final int KEPT = 10_000;

    private static final int CHANGE_STREAM_HISTORY_LOST = 286;

    private record Event(String namespace, Document document) {}

    private final CursorRegistry cursors;

    /** By number, without gaps. */
    private final NavigableMap<Long, Event> events = new TreeMap<>();

    private long last;

    EmbeddedChanges(CursorRegistry cursors) {
        this.cursors = cursors;
    }

    /** A pipeline is going to make a document out of another. */
    synchronized void changed(String namespace, Optional<Document> before, Document after, boolean insertsIfAbsent) {
        if (before.isEmpty()) {
            if (insertsIfAbsent) {
                add(namespace, "insert", after, new Document("fullDocument", after));
            }
        } else if (!before.get().equals(after)) {
            Document updated = new Document();
            after.forEach((field, value) -> {
                if (!Objects.equals(value, before.get().get(field))) {
                    updated.put(field, value);
                }
            });
            boolean isShorter = updated.size() < after.size() / 2;
            Document told = isShorter
                    ? new Document("updateDescription", new Document("updatedFields", updated))
                    : new Document("fullDocument", after);
            add(namespace, isShorter ? "update" : "replace", after, told);
        }
    }

    private synchronized void add(String namespace, String type, Document of, Document told) {
        long number = ++last;
        Document event = new Document("_id", token(number))
                .append("operationType", type)
                .append("documentKey", new Document("_id", of.get("_id")));
        event.putAll(told.cloneDeeply());
        events.put(number, new Event(namespace, event));
        if (events.size() > KEPT) {
            events.pollFirstEntry();
        }
        notifyAll();
    }

    private static Document token(long number) {
        return new Document("_data", String.format("%016x", number));
    }

    @Override
    public void handleInsert(String namespace, List<Document> documents) {
        documents.forEach(document -> add(namespace, "insert", document, new Document("fullDocument", document)));
    }

    @Override
    public void handleUpdate(String namespace, Document selector, Document query, List<Object> modifiedIds) {
        // Those by a pipeline are told by changed(); nobody watches others.
    }

    @Override
    public void handleDelete(String namespace, Document query, List<Object> deletedIds) {
        deletedIds.forEach(id -> add(namespace, "delete", new Document("_id", id), new Document()));
    }

    @Override
    public void handleDropCollection(String namespace) {
        // Nobody watches a collection that is dropped.
    }

    @Override
    public synchronized Cursor createCursor(Document stage, String namespace, Aggregation aggregation) {
        Document from = (Document) stage.getOrDefault("resumeAfter", stage.get("startAfter"));
        long position = from == null ? last : Long.parseLong(String.valueOf(from.get("_data")), 16);
        Stream stream = new Stream(cursors.generateCursorId(), namespace, aggregation, position);
        cursors.add(stream);
        return stream;
    }

    /** Holds back an answer that would be empty, as long as the client asks for. */
    void await(Document getMore) {
        long millis = ((Number) getMore.getOrDefault("maxTimeMS", 0)).longValue();
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        Cursor cursor = cursors.getCursor(((Number) Objects.requireNonNull(getMore.get("getMore"))).longValue());
        if (cursor instanceof Stream stream) {
            await(stream, end);
        }
    }

    private synchronized void await(Stream stream, long end) {
        try {
            for (long left = end - System.nanoTime(); left > 0 && stream.isDry(); left = end - System.nanoTime()) {
                TimeUnit.NANOSECONDS.timedWait(this, left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** What one client has not seen yet. */
    private final class Stream extends AbstractCursor {

        private final String namespace;
        private final Aggregation stages;
        private long position;

        private Stream(long id, String namespace, Aggregation stages, long position) {
            super(id);
            this.namespace = namespace;
            this.stages = stages;
            this.position = position;
        }

        @Override
        public boolean isEmpty() {
            return false;
        }

        private List<Document> unseen() {
            if (last - position > events.size()) {
                throw new MongoServerError(
                        CHANGE_STREAM_HISTORY_LOST, "ChangeStreamHistoryLost", "the resume point is not kept any more");
            }
            return stages.runStagesAsStream(events.tailMap(position, false).values().stream()
                            .filter(event -> event.namespace.equals(namespace))
                            .map(Event::document))
                    .toList();
        }

        /** Passes by what the client does not ask for. */
        private boolean isDry() {
            List<Document> unseen = unseen();
            if (unseen.isEmpty()) {
                position = last;
            }
            return unseen.isEmpty();
        }

        @Override
        public List<Document> takeDocuments(int atMost) {
            synchronized (EmbeddedChanges.this) {
                List<Document> taken = unseen();
                position = last;
                return taken;
            }
        }
    }
}
