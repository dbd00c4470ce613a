package dev.latchkey.spi;

import java.util.Objects;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Opens stores by DSN for {@link dev.latchkey.LockFactory#connect(String)}. Providers are found by
 * {@link java.util.ServiceLoader}: a provider is a public nested class {@code XStore.Provider}, named in
 * {@code META-INF/services/dev.latchkey.spi.StoreProvider}.
 */
public interface StoreProvider {

    /**
     * Returns the schemes of the DSNs that this provider opens.
     *
     * @return the parts before the first colon, in lower case; the whole DSN if it has no colon
     */
    Set<String> schemes();

    /**
     * Opens a store. The caller closes it.
     *
     * @param dsn a DSN with one of the schemes
     * @return a new store
     * @throws IllegalArgumentException if the DSN is invalid; the message says what is wrong and what would be right, and
     *     contains no password
     */
    PersistingStore open(String dsn);

    /**
     * Opens the store that a DSN names, with the matching provider on the class path.
     *
     * @param dsn as for {@link dev.latchkey.LockFactory#connect(String)}
     * @return a store that the caller closes
     * @throws IllegalArgumentException if no provider supports the DSN (the message names the artifact to add), or if the
     *     DSN is invalid; no message contains a password
     */
    static PersistingStore connect(String dsn) {
        int colon = Objects.requireNonNull(dsn, "dsn").indexOf(':');
        String scheme = colon < 0 ? dsn : dsn.substring(0, colon);
        ClassLoader ours = StoreProvider.class.getClassLoader();
        return Stream.of(Thread.currentThread().getContextClassLoader(), ours)
                .flatMap(StoreProvider::providers)
                .filter(provider -> provider.schemes().contains(scheme))
                .findFirst()
                .orElseThrow(() -> StoreSchemes.unknown(
                        scheme,
                        providers(ours)
                                .flatMap(provider -> provider.schemes().stream())
                                .collect(Collectors.toSet())))
                .open(dsn);
    }

    private static Stream<StoreProvider> providers(ClassLoader loader) {
        return ServiceLoader.load(StoreProvider.class, loader).stream().map(ServiceLoader.Provider::get);
    }
}
