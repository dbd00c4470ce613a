package dev.latchkey.documents;

import java.util.NoSuchElementException;
import java.util.Optional;

/**
 * The result of a change that is repeated if another writer was faster.
 *
 * @param <T> the type of the documents
 */
public sealed interface ChangeResult<T> {

    /**
     * The document did not exist, and was created.
     *
     * @param stored the document as stored
     * @param <T> the type of the documents
     */
    record Created<T>(T stored) implements ChangeResult<T> {}

    /**
     * The document was changed.
     *
     * @param stored the document as stored
     * @param <T> the type of the documents
     */
    record Updated<T>(T stored) implements ChangeResult<T> {}

    /**
     * There was nothing to change, and nothing was written.
     *
     * @param stored the document as stored
     * @param <T> the type of the documents
     */
    record Unchanged<T>(T stored) implements ChangeResult<T> {}

    /**
     * This call deleted the document.
     *
     * @param <T> the type of the documents
     */
    record Deleted<T>() implements ChangeResult<T> {}

    /**
     * Somebody else deleted the document after it was loaded. It was not created again.
     *
     * @param name the document: database, collection and id
     * @param <T> the type of the documents
     */
    record DeletedMeanwhile<T>(String name) implements ChangeResult<T> {}

    /**
     * The document does not exist, and there was nothing to create it with.
     *
     * @param <T> the type of the documents
     */
    record Absent<T>() implements ChangeResult<T> {}

    /**
     * Other writers were faster in every attempt; nothing was written.
     *
     * @param name the document: database, collection and id
     * @param attempts the number of attempts
     * @param <T> the type of the documents
     */
    record GaveUp<T>(String name, int attempts) implements ChangeResult<T> {}

    /**
     * Returns the document as stored.
     *
     * @return empty if the document does not exist, or if this call gave up
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
     * Returns the document as stored.
     *
     * @return the document
     * @throws OptimisticLockException if somebody else was faster: {@link GaveUp}, {@link DeletedMeanwhile}
     * @throws NoSuchElementException if there is no document: {@link Absent}, {@link Deleted}
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
