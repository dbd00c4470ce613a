package dev.latchkey.documents;

import java.util.Optional;
import org.bson.BsonValue;

/**
 * Decides between two changes of the same property. It is called only if the two differ: changes of different properties,
 * and equal changes, are merged without it. It is called again in each attempt, so it must not have side effects.
 */
@FunctionalInterface
public interface MergePolicy {

    /** The caller's value has precedence over another value, and a deletion over any value. */
    MergePolicy MINE_UNLESS_DELETED =
            conflict -> conflict.mine().isEmpty() || conflict.theirs().isEmpty() ? Optional.empty() : conflict.mine();

    /** The value in the database has precedence. */
    MergePolicy THEIRS = Conflict::theirs;

    /** Every conflict ends the merge with an {@link OptimisticLockException}. */
    MergePolicy REFUSE = conflict -> {
        throw new Refusal();
    };

    /**
     * Decides one conflict.
     *
     * @param conflict the property
     * @return the value of the property; empty to remove it or, for the whole document, to delete it
     */
    Optional<BsonValue> resolve(Conflict conflict);

    /**
     * A property that two writers have changed differently.
     *
     * @param path the names of the embedded documents and of the property, separated by dots; {@code ""} is the whole
     *     document, which one writer deleted and the other one changed
     * @param base the value before both changes; empty if it did not exist
     * @param mine the value that the caller wants; empty for a deletion
     * @param theirs the value in the database; empty for a deletion
     */
    record Conflict(String path, Optional<BsonValue> base, Optional<BsonValue> mine, Optional<BsonValue> theirs) {}

    /** Carries {@link #REFUSE} to the collection, which knows the versions. */
    final class Refusal extends RuntimeException {

        private Refusal() {
            super("the policy of this merge refuses conflicts", null, false, false);
        }
    }
}
