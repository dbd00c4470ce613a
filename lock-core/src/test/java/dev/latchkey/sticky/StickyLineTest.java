package dev.latchkey.sticky;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class StickyLineTest {

    private static final Duration TTL = Duration.ofSeconds(60);

    private final StickyLine line = new StickyLine(new AtomicBoolean());
    private final Key key = Key.of("x");

    /** It would end the new hold sooner than its Lock believes, and others would hold beside it. */
    @Test
    void givenALockThatHoldsAnew_whenTheAnswerAboutItsLastHoldComes_thenTheNewOneIsAsItWas() {
        Request request = request(key);
        Request asked = KeptHold.asked(request, key.renewed(), true);
        Response.Granted granted = granted(asked.ttl());
        assertThat(line.begin(request)).isInstanceOf(NextStep.Ask.class);
        Response.Granted first = line.granted(request, asked, new KeptHold(asked, granted, Request::reservedTokens));
        Request renewal = request(key.claiming(Optional.of(new Key.Held(LockMode.EXCLUSIVE, first.fencingToken()))));
        LineUse.Begun begun = Objects.requireNonNull(line.beginUse(renewal));
        assertThat(line.release(key)).isInstanceOf(NextStep.Holds.class);
        assertThat(line.begin(request)).isInstanceOf(NextStep.Holds.class);
        Response.Granted second = Objects.requireNonNull(line.answerTo(key));

        assertThat(line.confirm(renewal, begun.asked(), begun.hold(), granted)).isNull();

        Response.Granted then = Objects.requireNonNull(line.answerTo(key));
        assertThat(then.fencingToken()).isEqualTo(second.fencingToken()).isNotEqualTo(first.fencingToken());
        assertThat(then.lease().since()).isEqualTo(second.lease().since());
    }

    private static Request request(Key key) {
        return new Request(key, LockMode.EXCLUSIVE, TTL, RetryIntent.ONCE, LeaseChange.EXTEND, "", TTL);
    }

    private static Response.Granted granted(Duration ttl) {
        Lease lease =
                new Lease(OptionalLong.of(System.nanoTime()), ttl, Optional.empty(), Lease.ALWAYS, Optional.empty());
        return new Response.Granted(LockMode.EXCLUSIVE, OptionalLong.of(1), lease);
    }
}
