package dev.latchkey.documents;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Thrown when somebody else has changed or deleted the document since it was loaded. Nothing was written. */
public final class OptimisticLockException extends RuntimeException {

    private final String document;
    private final @Nullable Version expected;
    private final @Nullable Version actual;

    OptimisticLockException(String document, Optional<Version> expected, Optional<Version> actual, boolean isThere) {
        super(document + ": " + shown(expected) + " was expected, but "
                + (isThere ? "it has " + shown(actual) : "it is gone")
                + ": load it again and repeat the change, or merge");
        this.document = document;
        this.expected = expected.orElse(null);
        this.actual = actual.orElse(null);
    }

    /** Used if other writers were faster and the current version is not known. */
    OptimisticLockException(String document, String problem) {
        super(document + ": " + problem);
        this.document = document;
        this.expected = null;
        this.actual = null;
    }

    private static String shown(Optional<Version> version) {
        return version.map(known -> "version " + known).orElse("no version");
    }

    /**
     * Returns the document.
     *
     * @return database, collection and id
     */
    public String document() {
        return document;
    }

    /**
     * Returns the version that the writer had loaded.
     *
     * @return empty if that document had no version, or if the change was tried with several versions
     */
    public Optional<Version> expected() {
        return Optional.ofNullable(expected);
    }

    /**
     * Returns the current version of the document.
     *
     * @return empty if the document was deleted, or has no version
     */
    public Optional<Version> actual() {
        return Optional.ofNullable(actual);
    }
}
