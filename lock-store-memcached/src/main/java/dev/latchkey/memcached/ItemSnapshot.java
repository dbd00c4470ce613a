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
record ItemSnapshot(Optional<Long> version, ItemState listed, Map<MarkerItem, Found> signs) {

    /**
     * A sign that is there.
     *
     * @param version to be renewed only if it is still the same: a late request must not shorten what a later one stored
     */
    record Found(HoldRecord holding, long version) {}

    /** Only those who really hold or wait. */
    ItemState live() {
        List<ItemState.Reader> readers = listed.readers().stream()
                .filter(one -> isThere(MarkerItem.Kind.READS, one.owner()))
                .toList();
        Optional<OwnerHash> promoter = listed.promoter().filter(one -> isThere(MarkerItem.Kind.PROMOTES, one));
        return new ItemState(listed.writer(), readers, promoter);
    }

    private boolean isThere(MarkerItem.Kind kind, OwnerHash owner) {
        return signs.containsKey(new MarkerItem(kind, owner));
    }

    /** What the key's owner holds with, if it holds. */
    Optional<HoldRecord> holding(OwnerHash owner) {
        return listed.writer()
                .filter(one -> one.owner().equals(owner))
                .map(ItemState.Writer::holding)
                .or(() -> Optional.ofNullable(signs.get(new MarkerItem(MarkerItem.Kind.READS, owner)))
                        .map(Found::holding));
    }
}
