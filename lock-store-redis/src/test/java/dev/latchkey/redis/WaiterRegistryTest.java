package dev.latchkey.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.spi.KeptHolds;
import io.lettuce.core.RedisClient;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

/** Grants that come while a waiter leaves. {@link WaiterRegistryModelTest} tries all orders. */
class WaiterRegistryTest {

    private static final RedisClient CLIENT = RedisClient.create("redis://localhost");

    private final KeyNames names = new KeyNames("lock:");
    private final WaiterRegistry registry = new WaiterRegistry(
            new ScriptRunner(Connections.of(CLIENT), new Failures("server", names), Duration.ofSeconds(1)),
            "1",
            names,
            new ForcedReleases(names),
            new KeptHolds());

    @AfterAll
    static void closeClient() {
        CLIENT.shutdown();
    }

    /** A server that has taken over may not know that it has left. */
    @Test
    void givenAWaiterHasLeftTheQueue_whenItIsGrantedBeforeTheRegistryForgetsIt_thenGivenBack() {
        Leaving waiter = new Leaving(false);

        registry.add(waiter).close();

        assertThat(waiter.givenBack).isEqualTo(1);
    }

    @Test
    void givenAWaiterHasLeftTheRegistry_whenItIsGranted_thenGivenBack() {
        Leaving waiter = new Leaving(false);
        registry.add(waiter).close();
        int before = waiter.givenBack;

        waiter.grant();

        assertThat(waiter.givenBack).isEqualTo(before + 1);
    }

    /** The message of a grant that it has from a reply is no news. */
    @Test
    void givenAWaiterWasGranted_whenAMessageSaysSoAsItLeaves_thenNothingIsGivenBack() {
        Leaving waiter = new Leaving(true);

        registry.add(waiter).close();
        waiter.grant();

        assertThat(waiter.givenBack).isZero();
    }

    /** Is granted the lock while it leaves. */
    private final class Leaving implements Waiter {

        private final boolean isGranted;
        private int givenBack;

        Leaving(boolean isGranted) {
            this.isGranted = isGranted;
        }

        void grant() {
            registry.message(attempt() + " x 1 1000 7");
        }

        @Override
        public String attempt() {
            return "1.1";
        }

        @Override
        public String resource() {
            return "report";
        }

        @Override
        public String token() {
            return "token";
        }

        @Override
        public boolean isGranted() {
            return isGranted;
        }

        @Override
        public boolean isGrantedInTurn() {
            return isGranted;
        }

        @Override
        public void granted(Grant grant) {
            // Nobody looks any more.
        }

        @Override
        public void granted(Grant grant, QueuePosition position) {
            throw new AssertionError("no release grants it");
        }

        @Override
        public void queued(QueuePosition position, long millisToLeaseEnd) {
            throw new AssertionError("no release takes it along");
        }

        @Override
        public void leaveHome() {
            throw new AssertionError("it is not at home");
        }

        @Override
        public void askAgain() {
            throw new AssertionError("it is not asked");
        }

        @Override
        public void fail() {
            throw new AssertionError("the store is open");
        }

        @Override
        public void leave() {
            grant();
        }

        @Override
        public void giveBack() {
            givenBack++;
        }
    }
}
