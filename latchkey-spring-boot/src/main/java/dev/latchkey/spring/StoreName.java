package dev.latchkey.spring;

import dev.latchkey.spi.PersistingStore;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** What a store is called where people look. */
final class StoreName {

    private StoreName() {}

    /** Returns its kind, such as {@code redis}; nothing for a store that is not known. */
    static String of(@Nullable PersistingStore store) {
        return store == null
                ? ""
                : store.getClass().getSimpleName().replaceFirst("Store$", "").toLowerCase(Locale.ROOT);
    }
}
