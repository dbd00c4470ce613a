package dev.latchkey.documents;

import java.util.NoSuchElementException;
import java.util.Optional;

/**
 * What became of a change that is repeated when others are faster.
 *
 * @param <T> the documents
 */
public sealed interface ChangeResult<T> {

    /**
     * The document was not there, and is now.
     *
     * @param stored as it is in the database
     * @param <T> the documents
     */
    record Created<T>(T stored) implements ChangeResult<T> {}

    /**
     * The document was changed.
     *
     * @param stored as it is in the database
     * @param <T> the documents
     */
    record Updated<T>(T stored) implements ChangeResult<T> {}

    /**
     * Nothing was to be changed, and nothing was written.
     *
     * @param stored as it is in the database
     * @param <T> the documents
     */
    record Unchanged<T>(T stored) implements ChangeResult<T> {}

    /**
     * The document was deleted by this call.
     *
     * @param <T> the documents
     */
    record Deleted<T>() implements ChangeResult<T> {}

    /**
     * Somebody else deleted the document after it was loaded. It was not created again.
     *
     * @param name of the document: database, collection and id
     * @param <T> the documents
     */
    record DeletedMeanwhile<T>(String name) implements ChangeResult<T> {}

    /**
     * There is no such document, and nothing to create it with.
     *
     * @param <T> the documents
     */
    record Absent<T>() implements ChangeResult<T> {}

    /**
     * Others were faster each time; nothing was written.
     *
     * @param name of the document: database, collection and id
     * @param attempts how often it was tried
     * @param <T> the documents
     */
    record GaveUp<T>(String name, int attempts) implements ChangeResult<T> {}

    /**
     * Returns the document as it is in the database.
     *
     * @return empty if it is not there, or if this call gave up
     */
    default Optional<T> document() {
        if (this instanceof Created<T> created) {
            return Optional.of(created.stored());
        }
        if (this instanceof Updated<T> updated) {
            return Optional.of(updated.stored());
        }
        return this instanceof Unchanged<T> unchanged ? Optional.of(unchanged.stored()) : Optional.empty();
    }

    /**
     * Returns the document as it is in the database.
     *
     * @return the document
     * @throws OptimisticLockException if somebody else was faster: {@link GaveUp}, {@link DeletedMeanwhile}
     * @throws NoSuchElementException if there is none: {@link Absent}, {@link Deleted}
     */
    default T orElseThrow() {
        if (this instanceof GaveUp<T> gaveUp) {
            throw new OptimisticLockException(
                    gaveUp.name(),
                    "somebody else was faster in each of " + gaveUp.attempts() + " attempts, nothing was written");
        }
        if (this instanceof DeletedMeanwhile<T> deleted) {
            throw new OptimisticLockException(
                    deleted.name(), "somebody else deleted it since it was loaded, it was not made again");
        }
        return document().orElseThrow(() -> new NoSuchElementException("no document: " + this));
    }
}
