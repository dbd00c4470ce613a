package dev.latchkey.testkit;

import static dev.latchkey.testkit.Requests.granted;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;

/** Requests for holds that are kept. */
final class StickyRequests {

    private StickyRequests() {}

    static Request sticky(Key key) {
        return sticky(key, Fixture.LONG_TTL);
    }

    static Request sticky(Key key, Duration ttl) {
        return new Request(
                key, LockMode.EXCLUSIVE, ttl, RetryIntent.ONCE, LeaseChange.EXTEND, "", Duration.ofSeconds(1));
    }

    static Key claiming(Key key, long token) {
        return key.claiming(Optional.of(new Key.Held(LockMode.EXCLUSIVE, OptionalLong.of(token))));
    }

    static long token(Response response) {
        return granted(response).fencingToken().orElseThrow();
    }
}
