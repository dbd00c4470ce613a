package dev.latchkey.flock;

import org.jspecify.annotations.Nullable;

/** One would-be holder: two stores are rivals, even with the same key. */
record Owner(ResourceFiles store, String token) {

    /** Not the generated ones, whose linking at their first use takes a short command a twentieth of its time. */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Owner owner && store == owner.store && token.equals(owner.token);
    }

    @Override
    public int hashCode() {
        return 31 * System.identityHashCode(store) + token.hashCode();
    }
}
