package dev.latchkey.documents;

import java.util.Optional;
import org.bson.BsonValue;

/**
 * Decides between two changes of the same property. Asked only where the two differ: different properties, and equal
 * changes, merge by themselves. Asked again in each attempt, so it must have no effects.
 */
@FunctionalInterface
public interface MergePolicy {

    /** My value wins over another value, and a deletion over any value. */
    MergePolicy MINE_UNLESS_DELETED =
            conflict -> conflict.mine().isEmpty() || conflict.theirs().isEmpty() ? Optional.empty() : conflict.mine();

    /** What is in the database wins. */
    MergePolicy THEIRS = Conflict::theirs;

    /** Every conflict ends the merge with an {@link OptimisticLockException}. */
    MergePolicy REFUSE = conflict -> {
        throw new Refusal();
    };

    /**
     * Decides one conflict.
     *
     * @param conflict the property
     * @return the value the property shall have; empty: none, and for the whole document: that it be deleted
     */
    Optional<BsonValue> resolve(Conflict conflict);

    /**
     * One property that two writers changed differently.
     *
     * @param path the names of the property and of the embedded documents it is in, with dots between; {@code ""} is the
     *     whole document, which one deleted and the other changed
     * @param base what both began with; empty where it was not there
     * @param mine what the caller wants; empty for a deletion
     * @param theirs what is in the database; empty for a deletion
     */
    record Conflict(String path, Optional<BsonValue> base, Optional<BsonValue> mine, Optional<BsonValue> theirs) {}

    /** Carries {@link #REFUSE} to the collection, which knows the versions. */
    final class Refusal extends RuntimeException {

        private Refusal() {
            super("the policy of this merge refuses conflicts", null, false, false);
        }
    }
}
