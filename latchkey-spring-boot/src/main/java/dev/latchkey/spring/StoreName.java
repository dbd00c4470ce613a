package dev.latchkey.spring;

import dev.latchkey.combined.CombinedStore;
import dev.latchkey.spi.PersistingStore;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** What a store is called where people look. */
final class StoreName {

    private StoreName() {}

    /** Returns its kind, such as {@code redis}; nothing for a store that is not known. */
    static String of(@Nullable PersistingStore store) {
        return store == null ? "" : typeOf(store).replaceFirst("Store$", "").toLowerCase(Locale.ROOT);
    }

    /** Returns its type, such as {@code RedisStore}. A DSN wraps a combined store in another type. */
    static String typeOf(PersistingStore store) {
        Class<?> type = store.capability(CombinedStore.class).isPresent() ? CombinedStore.class : store.getClass();
        return type.getSimpleName();
    }
}
