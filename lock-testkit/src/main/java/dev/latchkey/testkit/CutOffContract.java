package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.LossReason;
import dev.latchkey.spi.ExpiringStore;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Whatever happens on the way between a holder that renews its lease and its servers, it knows that it may have lost the lock
 * before a rival has it, and is told once: for an {@link ExpiringStore} whose {@link #dsn()} names servers with their ports.
 */
@ContractFor(value = ExpiringStore.class, unless = SingleProcessContract.class)
public interface CutOffContract extends ProcessesContract {

    /** All at once: each takes as long as a lease. */
    @Test
    @Tag("slow")
    default void givenTheWayToTheServerFails_whenARivalHolds_thenTheHolderKnewAndIsToldOnce(Fixture fixture)
            throws Exception {
        List<Consumer<FaultProxy>> faults =
                List.of(FaultProxy::refuse, FaultProxy::silence, proxy -> proxy.delay(workingTtl()));

        List<BackgroundCall<List<LossReason>>> calls = IntStream.range(0, faults.size())
                .mapToObj(i -> fixture.start(() -> lose(fixture.resource() + i, faults.get(i))))
                .toList();

        for (BackgroundCall<List<LossReason>> call : calls) {
            // Where the alarm is late, as on a busy machine, a renewal that was delayed is the first to say why.
            assertThat(call.result())
                    .hasSize(1)
                    .isSubsetOf(LossReason.STORE_UNREACHABLE, LossReason.EXPIRED, LossReason.TAKEN_OVER);
        }
    }

    private List<LossReason> lose(String resource, Consumer<FaultProxy> fault) throws Exception {
        try (Detour detour = new Detour(dsn());
                Succession succession = new Succession(detour.dsn(), dsn(), resource, workingTtl())) {
            succession.begin();

            detour.each(fault);

            assertThat(succession.takeOver()).as("the holder knows").isTrue();
            detour.heal();
            return succession.losses();
        }
    }
}
