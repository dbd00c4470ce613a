package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.LockFactory;
import dev.latchkey.store.InMemoryStore;
import dev.latchkey.testkit.PermitHistory.Belief;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The witness itself: that it finds what it is there for. */
class PermitHistoryTest {

    private static final int OPERATIONS = Integer.getInteger("latchkey.permits.operations", 2_000);

    private final PermitHistory history = new PermitHistory();

    @Test
    void givenTwoHoldOneAfterTheOther_thenNothingIsViolated() {
        history.add(new Belief(3, 3, 10, 20));
        history.add(new Belief(3, 3, 20, 30));

        assertThat(history.violations()).isEmpty();
        assertThat(history.most()).isEqualTo(3);
    }

    @Test
    void givenMoreAreHeldThanThereAre_thenItIsFound() {
        history.add(new Belief(2, 3, 10, 20));
        history.add(new Belief(2, 3, 19, 30));

        assertThat(history.violations())
                .singleElement()
                .satisfies(holders -> assertThat(holders).hasSize(2));
    }

    @Test
    void givenAHolderKnowsFewer_whenMoreAreHeld_thenItIsFound() {
        history.add(new Belief(1, 1, 10, 20));
        history.add(new Belief(1, 5, 19, 30));

        assertThat(history.violations()).hasSize(1);
    }

    /** The model of all stores, without faults; as many operations as latchkey.permits.operations says. */
    @Test
    @Tag("slow")
    void givenTheInMemoryStore_whenStressed_thenNeverMoreAreHeldThanThereAre() throws Exception {
        try (InMemoryStore store = new InMemoryStore();
                LockFactory one = new LockFactory(store);
                LockFactory other = new LockFactory(store)) {
            PermitStress stress =
                    new PermitStress("stressed", List.of(one, other), OPERATIONS, Duration.ofMillis(100), 1);

            for (BackgroundCall<Integer> call : stress.start()) {
                assertThat(call.result()).isPositive();
            }

            assertThat(stress.history().violations()).isEmpty();
            assertThat(stress.history().most()).isEqualTo(PermitStress.PERMITS);
            assertThat(stress.failures()).isZero();
        }
    }
}
