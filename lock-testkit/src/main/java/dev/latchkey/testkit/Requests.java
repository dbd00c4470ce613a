package dev.latchkey.testkit;

import static dev.latchkey.testkit.Fixture.LONG_TTL;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockMode;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import java.time.Duration;
import java.util.Optional;

/** Requests as the core makes them, for tests that ask a store directly. */
public final class Requests {

    private Requests() {}

    /**
     * Asks for an exclusive hold that does not end during a test.
     *
     * @param key who
     * @return the request, of a caller that asks once
     */
    public static Request exclusive(Key key) {
        return exclusive(key, LONG_TTL);
    }

    /**
     * Asks for an exclusive hold.
     *
     * @param key who
     * @param ttl for how long
     * @return the request, of a caller that asks once
     */
    public static Request exclusive(Key key, Duration ttl) {
        return new Request(key, LockMode.EXCLUSIVE, ttl, RetryIntent.ONCE);
    }

    /**
     * Asks for a shared hold that does not end during a test.
     *
     * @param key who
     * @return the request, of a caller that asks once
     */
    public static Request shared(Key key) {
        return shared(key, LONG_TTL);
    }

    /**
     * Asks for a shared hold.
     *
     * @param key who
     * @param ttl for how long
     * @return the request, of a caller that asks once
     */
    public static Request shared(Key key, Duration ttl) {
        return new Request(key, LockMode.SHARED, ttl, RetryIntent.ONCE);
    }

    /**
     * Returns the key as the core passes it on once the store has granted something: with what it holds.
     *
     * @param key who
     * @param response the store's answer
     * @return an equal key that claims to hold what was granted
     * @throws AssertionError if nothing was granted
     */
    public static Key holding(Key key, Response response) {
        return claiming(key, granted(response));
    }

    /**
     * Takes it as granted.
     *
     * @param response the store's answer
     * @return the same
     * @throws AssertionError if it is another answer
     */
    public static Response.Granted granted(Response response) {
        if (response instanceof Response.Granted granted) {
            return granted;
        }
        throw new AssertionError("expected a grant, but the store answered " + response);
    }

    private static Key claiming(Key key, Response.Granted granted) {
        var endless = new Response.Granted(granted.mode(), granted.fencingToken(), Lease.endless());
        try (LockFactory locks = new LockFactory(new Granting(endless))) {
            Lock lock = locks.createLock(key, LONG_TTL);
            if (!lock.tryAcquire()) {
                throw new AssertionError("a store that grants everything refused");
            }
            return lock.transferKey();
        }
    }

    /** Has a Lock believe in a grant, since only a Lock can put into a key what it holds. */
    private record Granting(Response.Granted granted) implements PersistingStore {

        @Override
        public Response save(Request request) {
            return granted;
        }

        @Override
        public boolean delete(Key key) {
            return true;
        }

        @Override
        public Optional<Response.Granted> find(Key key) {
            return Optional.of(granted);
        }
    }
}
