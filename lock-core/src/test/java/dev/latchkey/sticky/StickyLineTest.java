package dev.latchkey.sticky;

import static dev.latchkey.TestLimit.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

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
import java.util.concurrent.atomic.AtomicReference;
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

    /** The store knows the new hold under a later token. */
    @Test
    void givenALockThatHoldsAnew_whenItsLastHoldIsFoundLost_thenTheNewOneIsAsItWas() {
        LineUse.Begun begun = releasedWithARequestInFlight();
        assertThat(line.begin(request(key))).isInstanceOf(NextStep.Holds.class);

        assertThat(line.lose(key, begun.hold())).isEmpty();

        assertThat(line.answerTo(key)).isNotNull();
    }

    /** What is taken to end sooner than the store ends it would be forgotten, and left to its lease. */
    @Test
    void givenALockThatHasReleased_whenTheAnswerToItsRenewalComes_thenWhatIsKeptLastsAsLong() {
        LineUse.Begun begun = releasedWithARequestInFlight();
        Duration longer = TTL.multipliedBy(10);

        assertThat(line.confirm(request(key), begun.asked(), begun.hold(), granted(longer)))
                .isNull();

        Request another = request(Key.of("x"), LockMode.EXCLUSIVE, TTL.multipliedBy(5));
        assertThat(line.begin(another)).isInstanceOf(NextStep.Holds.class);
    }

    @Test
    void givenALockThatHasReleased_whenItsRenewalIsNotAnswered_thenWhatIsKeptIsGivenBack() {
        LineUse.Begun begun = releasedWithARequestInFlight();

        line.notAnswered(begun.asked(), begun.hold().kept());

        assertThat(line.due()).isSameAs(begun.hold().kept());
    }

    /** Its request comes late, and the store keeps it for that long. */
    @Test
    void givenARenewalThatIsNotAnswered_whenTheTimeThatIsKnownIsOver_thenItIsGivenBackAllTheSame() {
        Duration instant = Duration.ofMillis(1);
        Request request = request(key);
        Request asked = KeptHold.asked(request, key.renewed(), true);
        assertThat(line.begin(request)).isInstanceOf(NextStep.Ask.class);
        KeptHold kept = new KeptHold(asked, granted(instant), Request::reservedTokens);
        assertThat(line.granted(request, asked, kept)).isNotNull();
        await().atMost(LIMIT).until(() -> kept.isGone(System.nanoTime()));

        line.notAnswered(asked, kept);

        assertThat(line.due()).isSameAs(kept);
    }

    /** Who holds under it still is to release it, however long that takes. */
    @Test
    void givenNotKeptSinceARenewalWasSent_whenThatIsAnswered_thenItIsKnownToLastAsLong() {
        Request request = request(key);
        Request asked = KeptHold.asked(request, key.renewed(), true);
        assertThat(line.begin(request)).isInstanceOf(NextStep.Ask.class);
        KeptHold kept = new KeptHold(asked, granted(Duration.ofNanos(1)), Request::reservedTokens);
        Response.Granted held = line.granted(request, asked, kept);
        Key claiming = key.claiming(Optional.of(new Key.Held(LockMode.EXCLUSIVE, held.fencingToken())));
        assertThat(line.beginUse(request(claiming).with(LeaseChange.SET))).isNotNull();

        assertThat(line.renewed(request(Key.of("x")), asked, kept, granted(asked.ttl())))
                .isNull();

        assertThat(kept.isGone(System.nanoTime())).isFalse();
    }

    /** It waits for what ends by time, when the one before it is passed the hold that is too short for it. */
    @Test
    void givenAReaderThatNeedsARenewal_whenAnotherIsPassedTheHold_thenItMayRenewAtOnce() throws Exception {
        Request reader = request(key, LockMode.SHARED, TTL);
        Request asked = KeptHold.asked(reader, key.renewed(), true);
        assertThat(line.begin(reader)).isInstanceOf(NextStep.Ask.class);
        Response.Granted shared = new Response.Granted(
                LockMode.SHARED, OptionalLong.empty(), granted(asked.ttl()).lease());
        assertThat(line.granted(reader, asked, new KeptHold(asked, shared, Request::reservedTokens)))
                .isNotNull();
        LocalWaiter writer = joined(LockMode.EXCLUSIVE, TTL);
        LocalWaiter passedOn = joined(LockMode.SHARED, TTL);
        LocalWaiter needsMore = joined(LockMode.SHARED, TTL.multipliedBy(5));
        AtomicReference<NextStep> step = new AtomicReference<>();
        Thread waiting = new Thread(() -> step.set(awaited(needsMore)));
        waiting.start();
        await().atMost(LIMIT).until(() -> waiting.getState() == Thread.State.TIMED_WAITING);
        assertThat(line.leave(writer, NextStep.Refused.REFUSED)).isFalse();

        assertThat(line.release(key)).isInstanceOf(NextStep.Holds.class);

        assertThat(passedOn.granted()).isNotNull();
        waiting.join(TTL.toMillis() / 2);
        assertThat(step.get()).isInstanceOf(NextStep.Renew.class);
    }

    private LocalWaiter joined(LockMode mode, Duration ttl) {
        return Objects.requireNonNull(line.join(request(Key.of("x"), mode, ttl)));
    }

    private NextStep awaited(LocalWaiter waiter) {
        try {
            return line.await(waiter, System.nanoTime() + LIMIT.toNanos());
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A Lock was granted a hold, has asked to renew it, and has released it since. */
    private LineUse.Begun releasedWithARequestInFlight() {
        Request request = request(key);
        Request asked = KeptHold.asked(request, key.renewed(), true);
        assertThat(line.begin(request)).isInstanceOf(NextStep.Ask.class);
        KeptHold kept = new KeptHold(asked, granted(asked.ttl()), Request::reservedTokens);
        Response.Granted held = line.granted(request, asked, kept);
        Key claiming = key.claiming(Optional.of(new Key.Held(LockMode.EXCLUSIVE, held.fencingToken())));
        LineUse.Begun begun = Objects.requireNonNull(line.beginUse(request(claiming)));
        assertThat(line.release(key)).isInstanceOf(NextStep.Holds.class);
        return begun;
    }

    private static Request request(Key key) {
        return request(key, LockMode.EXCLUSIVE, TTL);
    }

    private static Request request(Key key, LockMode mode, Duration ttl) {
        return new Request(key, mode, ttl, RetryIntent.ONCE, LeaseChange.EXTEND, "", TTL);
    }

    private static Response.Granted granted(Duration ttl) {
        Lease lease =
                new Lease(OptionalLong.of(System.nanoTime()), ttl, Optional.empty(), Lease.ALWAYS, Optional.empty());
        return new Response.Granted(LockMode.EXCLUSIVE, OptionalLong.of(1), lease);
    }
}
