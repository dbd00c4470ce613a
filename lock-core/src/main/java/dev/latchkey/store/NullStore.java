package dev.latchkey.store;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.SharedStore;
import dev.latchkey.spi.StoreProvider;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * A store that grants every request and keeps nothing. Use it to switch off locking without changing the code that locks.
 * Every key counts as the holder of every resource, without a lease and without a fencing token.
 *
 * <p>Thread-safe.
 */
public final class NullStore implements SharedStore {

    /** Creates a store. All instances behave alike. */
    public NullStore() {}

    @Override
    public Response save(Request request) {
        return granted(request.mode());
    }

    @Override
    public boolean delete(Key key) {
        return true;
    }

    @Override
    public Optional<Response.Granted> find(Key key) {
        return Optional.of(granted(key.held().map(Key.Held::mode).orElse(LockMode.EXCLUSIVE)));
    }

    private static Response.Granted granted(LockMode mode) {
        return new Response.Granted(mode, OptionalLong.empty(), Lease.endless());
    }

    /** Opens {@code null}. */
    public static final class Provider implements StoreProvider {

        /** Called by {@link java.util.ServiceLoader}. */
        public Provider() {}

        @Override
        public Set<String> schemes() {
            return Set.of("null");
        }

        @Override
        public PersistingStore open(String dsn) {
            if (!dsn.equals("null")) {
                throw new IllegalArgumentException("the null store has no address: its DSN is \"null\"");
            }
            return new NullStore();
        }
    }
}
