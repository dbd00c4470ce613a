package dev.latchkey.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.locks.ReentrantLock;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class LockEntryTest {

    private static final Duration SHORT = Duration.ofSeconds(10);
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final long NOW = 0;

    private final ReentrantLock guard = new ReentrantLock();
    private final LockEntry room = new LockEntry(new FencingCounter(), new Recalls());
    private final Key key = Key.of("x");
    private final Key reader = Key.of("x");
    private final Waiter promoter = new Waiter(request(held(), LockMode.EXCLUSIVE, SHORT), guard.newCondition());

    @BeforeEach
    void enter() {
        guard.lock();
    }

    @AfterEach
    void leave() {
        guard.unlock();
    }

    @Test
    void givenAPromotionThatNobodyTakes_whenRefreshedBefore_thenTheSharedHoldKeepsTheNewLease() {
        promoteWhenAlone();
        Response unused = room.refresh(request(held(), LockMode.SHARED, LONG), NOW);

        room.leaveWithNothing(promoter, NOW);

        Response.Granted left = room.find(key, NOW).orElseThrow();
        assertThat(left.mode()).isEqualTo(LockMode.SHARED);
        assertThat(left.lease().ttl()).isEqualTo(LONG);
    }

    @Test
    void givenAPromotionThatNobodyTakes_whenReleasedBefore_thenNothingIsPutBack() {
        promoteWhenAlone();
        assertThat(room.delete(key, NOW)).isTrue();

        room.leaveWithNothing(promoter, NOW);

        assertThat(room.find(key, NOW)).isEmpty();
    }

    /** Nobody wakes it for that, and the next lease to end is its own. */
    @Test
    void givenAReaderHasEnded_whenAPromoterBeginsToWait_thenItIsServed() throws InterruptedException {
        long now = System.nanoTime();
        assertThat(room.save(request(reader, LockMode.SHARED, SHORT), now - SHORT.toNanos()))
                .isInstanceOf(Response.Granted.class);
        assertThat(room.save(request(key, LockMode.SHARED, LONG), now)).isInstanceOf(Response.Granted.class);
        assertThat(room.enqueue(promoter)).isTrue();

        boolean waits = room.await(promoter, now + Duration.ofMillis(200).toNanos());

        assertThat(waits).isFalse();
        assertThat(promoter.answer()).get().isInstanceOf(Response.Granted.class);
    }

    /** A9: the second of two Locks over one key was granted anew, which ended the hold of the first. */
    @Test
    void givenOneKeyWaitsTwice_whenItIsServed_thenBothHaveTheSameHold() {
        Waiter first = waiting(key, LockMode.EXCLUSIVE);
        Waiter second = waiting(key, LockMode.EXCLUSIVE);

        assertThat(room.delete(reader, NOW)).isTrue();

        assertThat(token(first)).isPresent().isEqualTo(token(second));
        assertThat(room.refresh(request(key.claiming(claim(first)), LockMode.EXCLUSIVE, SHORT), NOW))
                .isInstanceOf(Response.Granted.class);
    }

    /** A9: the second of two readers with one key was promoted: a shared hold with a fencing token. */
    @Test
    void givenOneKeyWaitsTwiceToRead_whenItIsServed_thenNeitherHasAFencingToken() {
        assertThat(room.save(request(reader, LockMode.EXCLUSIVE, SHORT), NOW)).isInstanceOf(Response.Granted.class);
        Waiter first = new Waiter(request(key, LockMode.SHARED, SHORT), guard.newCondition());
        Waiter second = new Waiter(request(key, LockMode.SHARED, SHORT), guard.newCondition());
        assertThat(room.enqueue(first)).isTrue();
        assertThat(room.enqueue(second)).isTrue();

        assertThat(room.delete(reader, NOW)).isTrue();

        assertThat(token(first)).isEmpty();
        assertThat(token(second)).isEmpty();
        assertThat(room.find(key, NOW).orElseThrow().mode()).isEqualTo(LockMode.SHARED);
    }

    /** A9: who gives up its wait must not end what the other Lock over the same key took. */
    @Test
    void givenOneKeyWaitsTwice_whenOneDoesNotTakeIt_thenTheOtherHoldsItStill() {
        Waiter first = waiting(key, LockMode.EXCLUSIVE);
        Waiter second = waiting(key, LockMode.EXCLUSIVE);
        assertThat(room.delete(reader, NOW)).isTrue();

        room.leaveWithNothing(first, NOW);
        assertThat(room.holders(NOW)).map(Holder::fencingToken).containsExactly(token(second));
        room.leaveWithNothing(second, NOW);
        assertThat(room.holders(NOW)).isEmpty();
    }

    @Test
    void givenTheKeyOfAWaiterWasRefreshed_whenTheWaiterDoesNotTakeIt_thenTheOtherHoldsItStill() {
        Waiter waiter = waiting(key, LockMode.EXCLUSIVE);
        assertThat(room.delete(reader, NOW)).isTrue();
        Response refreshed = room.refresh(request(key, LockMode.EXCLUSIVE, SHORT), NOW);
        assertThat(refreshed).isInstanceOf(Response.Granted.class);

        room.leaveWithNothing(waiter, NOW);

        assertThat(room.find(key, NOW)).map(Response.Granted::fencingToken).contains(token(waiter));
    }

    /** Whoever was told that it holds believes it. */
    @Test
    void givenTheKeyOfAWaiterWasFound_whenTheWaiterDoesNotTakeIt_thenTheOtherHoldsItStill() {
        Waiter waiter = waiting(key, LockMode.EXCLUSIVE);
        assertThat(room.delete(reader, NOW)).isTrue();
        assertThat(room.find(key, NOW)).isPresent();

        room.leaveWithNothing(waiter, NOW);

        assertThat(room.holders(NOW)).hasSize(1);
    }

    @Test
    void givenThePromotionWasFoundByOneThatClaimsASharedHold_whenThePromoterDoesNotTakeIt_thenDemoted() {
        promoteWhenAlone();
        assertThat(room.find(held(), NOW)).isPresent();

        room.leaveWithNothing(promoter, NOW);

        assertThat(room.holders(NOW)).map(Holder::mode).containsExactly(LockMode.SHARED);
    }

    @Test
    void givenTheKeyOfAPromoterWasSavedAgain_whenThePromoterDoesNotTakeIt_thenItIsNotDemoted() {
        promoteWhenAlone();
        assertThat(room.save(request(held(), LockMode.EXCLUSIVE, SHORT), NOW)).isInstanceOf(Response.Granted.class);

        room.leaveWithNothing(promoter, NOW);

        assertThat(room.find(key, NOW).orElseThrow().mode()).isEqualTo(LockMode.EXCLUSIVE);
    }

    /** A hold may last for years, and change its mode each second. */
    @Test
    void givenPromotedAndDemotedAgain_thenNothingIsKeptOfTheFirstTime() {
        assertThat(room.save(request(key, LockMode.SHARED, SHORT), NOW)).isInstanceOf(Response.Granted.class);
        List<WeakReference<String>> names = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            String name = "owner " + i;
            names.add(new WeakReference<>(name));
            Response promoted = room.save(named(held(), LockMode.EXCLUSIVE, name), NOW);
            Optional<Key.Held> claim =
                    Optional.of(new Key.Held(LockMode.EXCLUSIVE, ((Response.Granted) promoted).fencingToken()));
            Response demoted = room.save(named(key.claiming(claim), LockMode.SHARED, name), NOW);
            assertThat(((Response.Granted) demoted).mode()).isEqualTo(LockMode.SHARED);
        }

        Awaitility.await("the first promotion is forgotten").until(() -> {
            System.gc();
            return names.get(0).get() == null;
        });
        assertThat(room.holders(NOW)).hasSize(1);
    }

    private static Request named(Key key, LockMode mode, String owner) {
        return new Request(key, mode, SHORT, RetryIntent.ONCE, LeaseChange.EXTEND, owner);
    }

    private Waiter waiting(Key waits, LockMode mode) {
        assertThat(room.save(request(reader, LockMode.EXCLUSIVE, SHORT), NOW)).isInstanceOf(Response.Granted.class);
        Waiter waiter = new Waiter(request(waits, mode, SHORT), guard.newCondition());
        assertThat(room.enqueue(waiter)).isTrue();
        return waiter;
    }

    private static Optional<Key.Held> claim(Waiter waiter) {
        return Optional.of(new Key.Held(LockMode.EXCLUSIVE, token(waiter)));
    }

    private static OptionalLong token(Waiter waiter) {
        return waiter.answer().map(Response.Granted.class::cast).orElseThrow().fencingToken();
    }

    private void promoteWhenAlone() {
        assertThat(room.save(request(key, LockMode.SHARED, SHORT), NOW)).isInstanceOf(Response.Granted.class);
        assertThat(room.save(request(reader, LockMode.SHARED, SHORT), NOW)).isInstanceOf(Response.Granted.class);
        assertThat(room.enqueue(promoter)).isTrue();
        assertThat(room.delete(reader, NOW)).isTrue();
        assertThat(promoter.answer()).get().isInstanceOf(Response.Granted.class);
    }

    private Key held() {
        return key.claiming(Optional.of(new Key.Held(LockMode.SHARED, OptionalLong.empty())));
    }

    private static Request request(Key key, LockMode mode, Duration ttl) {
        return new Request(key, mode, ttl, RetryIntent.ONCE);
    }
}
