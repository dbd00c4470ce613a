package dev.latchkey.testkit;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.StickyLocks.STICKY;
import static dev.latchkey.testkit.StickyLocks.sticky;
import static dev.latchkey.testkit.StickyLocks.usedToken;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.spi.RecallableStore;
import dev.latchkey.spi.Response;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** What nobody has to wait for, elsewhere or in the same process, because a lock is sticky. */
public interface StickyRivalContract extends RecallableStoreContract {

    /** The server may be slow to answer, or one of several. */
    @Test
    default void givenAReleaseIsNotAnswered_whenAnotherLockIsRecalled_thenThatIsReleased(Fixture fixture)
            throws Exception {
        RecallableStore store = fixture.store(RecallableStore.class);
        String slow = fixture.resource() + "-slow";
        CompletableFuture<Void> begun = new CompletableFuture<>();
        CompletableFuture<Void> answered = new CompletableFuture<>();
        LockFactory here = fixture.closing(new LockFactory(new CountedStore(store) {
            @Override
            public boolean delete(Key key) {
                if (key.resource().equals(slow) && begun.complete(null)) {
                    answered.join();
                }
                return super.delete(key);
            }
        }));
        assertThat(usedToken(
                        here.lock(slow).ttl(Fixture.LONG_TTL).sticky(STICKY).create()))
                .isPositive();
        assertThat(usedToken(sticky(fixture, here))).isPositive();
        assertThat(store.save(exclusive(fixture.key(slow)))).isInstanceOf(Response.Conflicted.class);
        begun.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS);
        Lock rival = fixture.lock();

        try {
            assertThat(fixture.woken(fixture.start(() -> rival.tryAcquire(TimeLimits.LIMIT))))
                    .isTrue();
        } finally {
            answered.complete(null);
        }
    }

    @Test
    default void givenKept_whenARivalTriesItWithAnother_thenBothAreGranted(Fixture fixture) {
        LockFactory here = fixture.closing(new LockFactory(fixture.store()));
        assertThat(usedToken(sticky(fixture, here))).isPositive();
        Lock both = fixture.locks()
                .all(List.of(fixture.resource(), fixture.resource() + "-other"))
                .ttl(Fixture.LONG_TTL)
                .create();

        boolean isGranted = both.tryAcquire();

        // On a busy machine the holder may need longer than the try waits.
        Awaitility.await().atMost(TimeLimits.LIMIT).until(() -> isGranted || both.tryAcquire());
        assertThat(both.release()).isTrue();
    }

    /** What is only kept beside it stands in its way in the store. */
    @Test
    default void givenAnotherHoldIsKeptBeside_whenAReaderIsPromoted_thenItIsGranted(Fixture fixture) throws Exception {
        LockFactory here = fixture.closing(new LockFactory(fixture.store()));
        Lock first = sticky(fixture, here);
        Lock second = sticky(fixture, here);
        assertThat(first.tryAcquireShared()).isTrue();
        // What is used in another way is kept no more: the second gets a hold of its own.
        assertThat(first.refresh(Fixture.LONG_TTL.dividedBy(2)).isExpired()).isFalse();
        assertThat(second.tryAcquireShared()).isTrue();
        BackgroundCall<Boolean> promotion = fixture.startWaiting(() -> first.tryAcquire(TimeLimits.LIMIT));

        assertThat(second.release()).isTrue();

        assertThat(fixture.woken(promotion)).isTrue();
        assertThat(first.release()).isTrue();
        assertThat(second.tryAcquireShared()).isTrue();
    }

    /** In a queue, the other reader waits behind the rival, the rival for the first reader, and that must not for the other. */
    @Test
    default void givenAnotherLockHereWaitsBehindARival_whenAReaderIsPromoted_thenAllAreGranted(Fixture fixture)
            throws Exception {
        LockFactory here = fixture.closing(new LockFactory(fixture.store()));
        Lock first = sticky(fixture, here);
        Lock second = sticky(fixture, here);
        Lock rival = fixture.lock();
        assertThat(first.tryAcquireShared()).isTrue();
        // What is used in another way is kept no more: the second asks for a hold of its own.
        assertThat(first.refresh(Fixture.LONG_TTL.dividedBy(2)).isExpired()).isFalse();
        BackgroundCall<Boolean> writing =
                fixture.startWaiting(() -> rival.tryAcquire(TimeLimits.LIMIT) && rival.release());
        BackgroundCall<Boolean> reading =
                fixture.startWaiting(() -> second.tryAcquireShared(TimeLimits.LIMIT) && second.release());

        boolean isPromoted = first.tryAcquire(TimeLimits.LIMIT);

        assertThat(isPromoted).isTrue();
        assertThat(first.release()).isTrue();
        assertThat(fixture.woken(writing)).isTrue();
        assertThat(fixture.woken(reading)).isTrue();
    }
}
