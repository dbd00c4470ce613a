package dev.latchkey.memcached;

import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What comes of a look: an answer, and what has to be written for it to be true.
 *
 * @param answer what the caller is told
 * @param signs to be stored before the item is changed, with their seconds
 * @param state what the item becomes, if it is still the one that was looked at; empty if it stays
 * @param obsolete signs to be removed after that, if they are still those that were found
 */
record Decision<T>(T answer, Map<MarkerItem, Integer> signs, Optional<ItemState> state, Set<MarkerItem> obsolete) {

    static <T> Decision<T> leave(T answer) {
        return new Decision<>(answer, Map.of(), Optional.empty(), Set.of());
    }

    static <T> Decision<T> write(T answer, ItemState state) {
        return new Decision<>(answer, Map.of(), Optional.of(state), Set.of());
    }

    Decision<T> with(MarkerItem sign, int seconds) {
        return new Decision<>(answer, Map.of(sign, seconds), state, obsolete);
    }

    Decision<T> without(Set<MarkerItem> signsNoLongerNeeded) {
        return new Decision<>(answer, signs, state, signsNoLongerNeeded);
    }
}
