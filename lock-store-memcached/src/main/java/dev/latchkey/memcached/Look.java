package dev.latchkey.memcached;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What was found of a resource.
 *
 * @param version of the item, to be changed only if it is still the same; empty: there is none
 * @param listed what the item says, also of those whose signs are gone
 * @param signs those of the listed signs that are there
 */
record Look(Optional<Long> version, State listed, Map<Sign, Found> signs) {

    /**
     * A sign that is there.
     *
     * @param version to be renewed only if it is still the same: a late request must not shorten what a later one stored
     */
    record Found(Holding holding, long version) {}

    /** Only those who really hold or wait. */
    State live() {
        List<State.Reader> readers = listed.readers().stream()
                .filter(one -> isThere(Sign.Kind.READS, one.owner()))
                .toList();
        Optional<Owner> promoter = listed.promoter().filter(one -> isThere(Sign.Kind.PROMOTES, one));
        return new State(listed.writer(), readers, promoter);
    }

    private boolean isThere(Sign.Kind kind, Owner owner) {
        return signs.containsKey(new Sign(kind, owner));
    }

    /** What the key's owner holds with, if it holds. */
    Optional<Holding> holding(Owner owner) {
        return listed.writer()
                .filter(one -> one.owner().equals(owner))
                .map(State.Writer::holding)
                .or(() -> Optional.ofNullable(signs.get(new Sign(Sign.Kind.READS, owner)))
                        .map(Found::holding));
    }
}
