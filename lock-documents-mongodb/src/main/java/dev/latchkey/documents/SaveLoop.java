package dev.latchkey.documents;

import com.mongodb.ErrorCategory;
import com.mongodb.MongoWriteException;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.bson.BsonDocument;
import org.bson.BsonValue;

/**
 * Loads, changes and saves, and repeats this while other writers are faster. An attempt is empty if another writer was
 * faster.
 */
final class SaveLoop<T> {

    /** One attempt, with the document as it is stored now. */
    private interface Attempt<T> {

        Optional<ChangeResult<T>> make(Optional<BsonDocument> stored);
    }

    private final Mapping<T> mapping;
    private final GuardedWrites writes;
    private final Retry retry;

    SaveLoop(Mapping<T> mapping, GuardedWrites writes, Retry retry) {
        this.mapping = mapping;
        this.writes = writes;
        this.retry = retry;
    }

    private ChangeResult<T> repeat(BsonValue id, Attempt<T> attempt) throws InterruptedException {
        Retry.Attempts attempts = retry.start();
        do {
            Optional<ChangeResult<T>> outcome = attempt.make(writes.load(id));
            if (outcome.isPresent()) {
                return outcome.get();
            }
        } while (attempts.again());
        return new ChangeResult.GaveUp<>(writes.name(id), attempts.made());
    }

    ChangeResult<T> change(BsonValue id, Optional<Supplier<T>> factory, UnaryOperator<T> change)
            throws InterruptedException {
        return repeat(id, stored -> {
            if (stored.isPresent()) {
                BsonDocument changed = changed(id, mapping.decode(stored.get()), change);
                return save(stored.get(), changed);
            }
            if (factory.isEmpty()) {
                return Optional.of(new ChangeResult.Absent<>());
            }
            BsonDocument made = changed(id, factory.get().get(), change);
            return create(id, made, mapping.versionType().first());
        });
    }

    private BsonDocument changed(BsonValue id, T before, UnaryOperator<T> change) {
        T after = Objects.requireNonNull(change.apply(before), "the change must not return null");
        return withId(id, mapping.encode(after));
    }

    private BsonDocument withId(BsonValue id, BsonDocument document) {
        document.putIfAbsent(Mapping.ID, id);
        if (!Ids.areSame(Mapping.idOf(document), id)) {
            throw new IllegalArgumentException(mapping.name(id) + ": the change must not give it another _id");
        }
        return document;
    }

    ChangeResult<T> merge(BsonDocument base, Optional<BsonDocument> mine, MergePolicy policy)
            throws InterruptedException {
        BsonValue id = Mapping.idOf(base);
        ThreeWayMerge threeWay = new ThreeWayMerge(policy, mapping.versionField());
        Optional<BsonDocument> wanted = mine.map(document -> withId(id, document));
        return repeat(id, stored -> {
            try {
                return wanted.isPresent()
                        ? merge(threeWay, base, wanted.get(), stored)
                        : mergeDeletion(threeWay, base, stored);
            } catch (MergePolicy.Refusal e) {
                throw writes.conflict(id, mapping.version(base), stored);
            }
        });
    }

    private Optional<ChangeResult<T>> merge(
            ThreeWayMerge threeWay, BsonDocument base, BsonDocument mine, Optional<BsonDocument> stored) {
        if (stored.isPresent()) {
            return save(stored.get(), threeWay.merge(base, mine, mapping.seen(stored.get())));
        }
        Optional<BsonValue> decided = threeWay.wholeDocument(base, Optional.of(mine), Optional.empty());
        return decided.isEmpty()
                ? Optional.of(deletedMeanwhile(Mapping.idOf(base)))
                : create(Mapping.idOf(base), decided.get().asDocument(), mapping.next(mapping.version(base)));
    }

    private Optional<ChangeResult<T>> mergeDeletion(
            ThreeWayMerge threeWay, BsonDocument base, Optional<BsonDocument> stored) {
        if (stored.isEmpty()) {
            return Optional.of(deletedMeanwhile(Mapping.idOf(base)));
        }
        BsonDocument theirs = mapping.seen(stored.get());
        boolean isKept = !theirs.equals(base)
                && threeWay.wholeDocument(base, Optional.empty(), Optional.of(theirs))
                        .isPresent();
        return isKept ? Optional.of(new ChangeResult.Unchanged<>(mapping.decode(stored.get()))) : delete(stored.get());
    }

    private Optional<ChangeResult<T>> create(BsonValue id, BsonDocument document, Version version) {
        try {
            return Optional.of(new ChangeResult.Created<>(mapping.decode(writes.insert(document, version))));
        } catch (MongoWriteException e) {
            if (isAboutId(id, e)) {
                return Optional.empty();
            }
            throw e;
        }
    }

    /**
     * Returns whether another writer was faster. A violation of another unique index would happen again in each attempt. In a
     * transaction nothing is read, because it has ended: a read would fail with an error that repeats the whole transaction.
     */
    private boolean isAboutId(BsonValue id, MongoWriteException e) {
        return e.getError().getCategory() == ErrorCategory.DUPLICATE_KEY
                && (e.getError().getMessage().contains("index: _id_")
                        || (!writes.areInSession() && writes.load(id).isPresent()));
    }

    private ChangeResult<T> deletedMeanwhile(BsonValue id) {
        return new ChangeResult.DeletedMeanwhile<>(writes.name(id));
    }

    private Optional<ChangeResult<T>> save(BsonDocument stored, BsonDocument wanted) {
        DocumentDiff difference = DocumentDiff.between(stored, mapping.seen(stored), wanted, mapping.versionField());
        if (difference.isEmpty()) {
            return Optional.of(new ChangeResult.Unchanged<>(mapping.decode(stored)));
        }
        BsonValue id = Mapping.idOf(stored);
        Optional<Version> expected = mapping.version(stored);
        Optional<BsonDocument> saved = writes.update(id, expected, mapping.next(expected), difference.update());
        if (saved.isPresent()) {
            return Optional.of(new ChangeResult.Updated<>(mapping.decode(saved.get())));
        }
        return writes.loadRefused(id, expected).isEmpty() ? Optional.of(deletedMeanwhile(id)) : Optional.empty();
    }

    private Optional<ChangeResult<T>> delete(BsonDocument stored) {
        Optional<Version> expected = mapping.version(stored);
        if (writes.delete(Mapping.idOf(stored), expected)) {
            return Optional.of(new ChangeResult.Deleted<>());
        }
        Optional<BsonDocument> unused = writes.loadRefused(Mapping.idOf(stored), expected);
        return Optional.empty();
    }
}
