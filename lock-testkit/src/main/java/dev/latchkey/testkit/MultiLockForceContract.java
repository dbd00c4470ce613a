package dev.latchkey.testkit;

import static dev.latchkey.testkit.SeveralResources.all;
import static dev.latchkey.testkit.SeveralResources.force;
import static dev.latchkey.testkit.SeveralResources.freeOf;
import static dev.latchkey.testkit.SeveralResources.names;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockLostException;
import dev.latchkey.LossReason;
import dev.latchkey.spi.ForceReleaseStore;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A Lock of several resources is lost with the one that is ended by force: for a {@link ForceReleaseStore}. */
@ContractFor(value = ForceReleaseStore.class, with = MultiLockContract.class)
public interface MultiLockForceContract extends StoreContract {

    @Test
    default void givenOneIsForced_whenRefreshed_thenLostAndTheOthersAreHeldUntilTheRelease(Fixture fixture) {
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
        Lock lock = all(fixture, "a", "b");
        assertThat(lock.tryAcquire()).isTrue();
        force(fixture, lock, "a");

        assertThat(lock.release()).isFalse();

        assertThat(freeOf(fixture, "a", "b")).containsExactly("a", "b");
    }

    @Test
    default void givenLostInPart_whenAcquiredAgain_thenAllAreHeldAnew(Fixture fixture) {
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
        List<LossReason> heard = Collections.synchronizedList(new ArrayList<>());
        CompletableFuture<LossReason> first = new CompletableFuture<>();
        Lock lock = fixture.locks()
                .all(names(fixture, "a", "b", "c"))
                .ttl(Leases.ROOMY_TTL)
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
}
