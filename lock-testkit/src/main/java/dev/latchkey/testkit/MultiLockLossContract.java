package dev.latchkey.testkit;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static dev.latchkey.testkit.SeveralResources.all;
import static dev.latchkey.testkit.SeveralResources.force;
import static dev.latchkey.testkit.SeveralResources.freeOf;
import static dev.latchkey.testkit.SeveralResources.names;
import static dev.latchkey.testkit.SeveralResources.one;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockLostException;
import dev.latchkey.LossReason;
import dev.latchkey.spi.BatchStore;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.ForceReleaseStore;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A Lock of several resources that was held ends as a whole: by the close of its factory, by force, by the end of its TTL, and is
 * renewed as a whole: obligatory for a {@link BatchStore}.
 */
public interface MultiLockLossContract extends StoreContract {

    @Test
    default void givenHeld_whenTheFactoryIsClosed_thenAllAreFree(Fixture fixture) {
        LockFactory others = fixture.closing(new LockFactory(fixture.store()));
        Lock lock = others.all(names(fixture, "a", "b")).create();
        assertThat(lock.tryAcquire()).isTrue();

        others.close();

        assertThat(freeOf(fixture, "a", "b")).containsExactly("a", "b");
        assertThatThrownBy(lock::tryAcquire).isInstanceOf(IllegalStateException.class);
    }

    @Test
    default void givenOneIsForced_whenRefreshed_thenLostAndTheOthersAreHeldUntilTheRelease(Fixture fixture) {
        if (fixture.store().capability(ForceReleaseStore.class).isEmpty()) {
            return;
        }
        Lock lock = all(fixture, "a", "b", "c");
        assertThat(lock.tryAcquire()).isTrue();
        force(fixture, lock, "b");

        assertThatThrownBy(lock::refresh).isInstanceOf(LockLostException.class);

        assertThat(lock.isExpired()).isTrue();
        assertThat(lock.fencingTokens()).isEmpty();
        assertThat(freeOf(fixture, "a", "b", "c")).containsExactly("b");
        assertThat(lock.release()).isFalse();
        assertThat(freeOf(fixture, "a", "b", "c")).containsExactly("a", "b", "c");
    }

    @Test
    default void givenOneIsForcedAndNobodyKnows_whenReleased_thenItSaysSoAndAllAreFree(Fixture fixture) {
        if (fixture.store().capability(ForceReleaseStore.class).isEmpty()) {
            return;
        }
        Lock lock = all(fixture, "a", "b");
        assertThat(lock.tryAcquire()).isTrue();
        force(fixture, lock, "a");

        assertThat(lock.release()).isFalse();

        assertThat(freeOf(fixture, "a", "b")).containsExactly("a", "b");
    }

    @Test
    default void givenLostInPart_whenAcquiredAgain_thenAllAreHeldAnew(Fixture fixture) {
        if (fixture.store().capability(ForceReleaseStore.class).isEmpty()) {
            return;
        }
        Lock lock = all(fixture, "a", "b");
        assertThat(lock.tryAcquire()).isTrue();
        var before = lock.fencingTokens();
        force(fixture, lock, "a");
        assertThatThrownBy(lock::refresh).isInstanceOf(LockLostException.class);

        assertThat(lock.tryAcquire()).isTrue();

        lock.fencingTokens()
                .forEach((resource, token) -> assertThat(token).as(resource).isGreaterThan(before.get(resource)));
    }

    @Test
    default void givenRenewedByTheFactory_whenOneIsForced_thenItsListenerHearsOfItOnce(Fixture fixture)
            throws Exception {
        if (fixture.store().capability(ForceReleaseStore.class).isEmpty()) {
            return;
        }
        List<LossReason> heard = Collections.synchronizedList(new ArrayList<>());
        CompletableFuture<LossReason> first = new CompletableFuture<>();
        Lock lock = fixture.locks()
                .all(names(fixture, "a", "b", "c"))
                .ttl(workingTtl())
                .autoRefresh()
                .onLost(heard::add)
                .onLost(first::complete)
                .create();
        assertThat(lock.tryAcquire()).isTrue();

        force(fixture, lock, "c");

        assertThat(first.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS)).isNotNull();
        assertThat(lock.release()).isFalse();
        assertThat(heard).hasSize(1);
        assertThat(freeOf(fixture, "a", "b", "c")).containsExactly("a", "b", "c");
    }

    @Test
    @Tag("slow")
    default void givenRenewedByTheFactory_whenItsTtlIsOver_thenAllAreHeldStill(Fixture fixture) throws Exception {
        if (fixture.store().capability(ExpiringStore.class).isEmpty()) {
            return;
        }
        Lock lock = fixture.locks()
                .all(names(fixture, "a", "b"))
                .ttl(workingTtl())
                .autoRefresh()
                .create();
        assertThat(lock.tryAcquire()).isTrue();

        Awaitility.await()
                .during(workingTtl().multipliedBy(2))
                .atMost(workingTtl().multipliedBy(2).plus(TimeLimits.LIMIT))
                .until(() -> !lock.isExpired() && freeOf(fixture, "a", "b").isEmpty());

        assertThat(lock.release()).isTrue();
    }

    @Test
    @Tag("slow")
    default void givenNotRenewed_whenItsTtlIsOver_thenItKnowsAndAllAreFree(Fixture fixture) throws Exception {
        if (fixture.store().capability(ExpiringStore.class).isEmpty()) {
            return;
        }
        Lock lock =
                fixture.locks().all(names(fixture, "a", "b")).ttl(shortTtl()).create();
        assertThat(lock.tryAcquire()).isTrue();

        assertThat(one(fixture, "b").tryAcquire(TimeLimits.LIMIT)).isTrue();

        assertThat(lock.isExpired()).isTrue();
        assertThat(one(fixture, "a").tryAcquire(TimeLimits.LIMIT)).isTrue();
        assertThat(lock.release()).isFalse();
        assertThat(freeOf(fixture, "a", "b")).isEmpty();
    }

    @Test
    default void givenAMinimumHoldTime_whenReleased_thenNoneIsFreeYet(Fixture fixture) {
        if (fixture.store().capability(ExpiringStore.class).isEmpty()) {
            return;
        }
        Lock lock =
                fixture.locks().all(names(fixture, "a", "b")).minHold(LONG_TTL).create();
        assertThat(lock.tryAcquire()).isTrue();

        assertThat(lock.release()).isTrue();

        assertThat(freeOf(fixture, "a", "b")).isEmpty();
        assertThat(lock.tryAcquire()).isFalse();
    }

    @Test
    default void givenManyResources_whenAcquired_thenAllAreHeld(Fixture fixture) {
        String[] many = IntStream.range(0, 200).mapToObj(i -> "part-" + i).toArray(String[]::new);
        Lock lock = all(fixture, many);

        assertThat(lock.tryAcquire()).isTrue();

        assertThat(lock.fencingTokens()).hasSize(many.length);
        assertThat(one(fixture, "part-0").tryAcquire()).isFalse();
        assertThat(one(fixture, "part-199").tryAcquire()).isFalse();
        assertThat(lock.refresh().isAcquired()).isTrue();
        assertThat(lock.release()).isTrue();
    }
}
