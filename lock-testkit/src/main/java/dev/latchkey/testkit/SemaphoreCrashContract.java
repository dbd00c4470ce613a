package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.semaphore.Permit;
import dev.latchkey.semaphore.Semaphore;
import dev.latchkey.spi.SemaphoreStore;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Permits of processes that die: for a {@link SemaphoreStore} that several processes can reach. */
@ContractFor(value = SemaphoreStore.class, unless = SingleProcessContract.class)
public interface SemaphoreCrashContract extends SemaphoreContract, ProcessesContract {

    @Test
    @Tag("slow")
    default void givenAHolderIsKilled_whenItsLeaseEnds_thenItsPermitsAreFree(Fixture fixture) throws Exception {
        Semaphore semaphore = Semaphores.of(fixture, 3);
        Permit kept = semaphore.acquire(1);
        try (SecondProcess other = SecondProcess.connect(dsn())) {
            Duration ttl = TimeLimits.ttl(Duration.ofSeconds(8));
            assertThat(other.semaphore(fixture.resource(), 3, ttl).tryAcquire(2))
                    .isTrue();
            assertThat(semaphore.available()).isZero();

            other.kill();
        }

        Permit two = semaphore.acquire(2, SecondProcess.LIMIT);
        assertThat(semaphore.available()).isZero();
        assertThat(two.release()).isTrue();
        assertThat(kept.release()).isTrue();
        assertThat(semaphore.holders()).isEmpty();
    }

    @Test
    @Tag("slow")
    default void givenAWaiterIsKilled_whenPermitsComeFree_thenThoseBehindItAreServed(Fixture fixture) throws Exception {
        Semaphore semaphore = Semaphores.of(fixture, 3);
        Permit two = semaphore.acquire(2);
        BackgroundCall<Permit> behind;
        try (SecondProcess other = SecondProcess.connect(dsn())) {
            Reply waiting = other.semaphore(fixture.resource(), 3, workingTtl()).startAcquire(3, SecondProcess.LIMIT);
            waiting.awaitWaiting();
            behind = fixture.startWaiting(() -> semaphore.acquire(2));

            other.kill();
        }
        assertThat(two.release()).isTrue();

        assertThat(behind.result().release()).isTrue();
    }
}
