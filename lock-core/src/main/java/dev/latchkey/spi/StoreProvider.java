package dev.latchkey.spi;

import java.util.Objects;
import java.util.Set;

/**
 * Opens stores by DSN for {@link dev.latchkey.LockFactory#connect(String)}. Found through
 * {@link java.util.ServiceLoader}: a public nested class {@code XStore.Provider}, named in
 * {@code META-INF/services/dev.latchkey.spi.StoreProvider}.
 */
public interface StoreProvider {

    /**
     * Returns what a DSN of this provider begins with.
     *
     * @return the parts before the first colon, in lower case; the whole DSN where it has no colon
     */
    Set<String> schemes();

    /**
     * Opens a store. The caller closes it.
     *
     * @param dsn a DSN with one of the schemes
     * @return a store of its own
     * @throws IllegalArgumentException if the DSN is wrong; the message says what, and what would be right, and repeats
     *     no password
     */
    PersistingStore open(String dsn);

    /**
     * Opens the store a DSN names, with the provider found for it on the class path.
     *
     * @param dsn as for {@link dev.latchkey.LockFactory#connect(String)}
     * @return a store that the caller closes
     * @throws IllegalArgumentException if no provider knows the DSN (the message names the artifact to add), or it is
     *     wrong in itself; no message repeats a password
     */
    static PersistingStore connect(String dsn) {
        return StoreProviders.open(Objects.requireNonNull(dsn, "dsn"));
    }
}
