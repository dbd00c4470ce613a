package dev.latchkey.testkit;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/**
 * Whatever happens between a holder that renews and its server, it knows that it may have lost the lock before a rival has it,
 * and is told once: for a store with leases and a server whose address its DSN names.
 */
public interface CutOffContract extends ProcessesContract, LeaseContract {

    /**
     * Returns where the server is that the DSN names: the first address with a port in it, unless overridden.
     *
     * @return the address, as it stands in {@link #dsn()}
     */
    default ServerAddress server() {
        Matcher address = Pattern.compile("([\\w.-]+):(\\d{2,5})(?=[/?,]|$)").matcher(dsn());
        assertThat(address.find()).as("an address in the DSN").isTrue();
        return new ServerAddress(address.group(1), Integer.parseInt(address.group(2)));
    }

    /** All at once: each takes as long as a lease. */
    @Test
    default void givenTheWayToTheServerFails_whenARivalHolds_thenTheHolderKnewAndIsToldOnce(Fixture fixture)
            throws Exception {
        List<Consumer<FaultProxy>> faults =
                List.of(FaultProxy::refuse, FaultProxy::silence, proxy -> proxy.delay(workingTtl()));

        List<BackgroundCall<List<LossReason>>> calls = Stream.iterate(0, i -> i + 1)
                .limit(faults.size())
                .map(i -> fixture.start(() -> lose(fixture, fixture.resource() + i, faults.get(i))))
                .toList();

        for (BackgroundCall<List<LossReason>> call : calls) {
            assertThat(call.result()).hasSize(1).isSubsetOf(LossReason.STORE_UNREACHABLE, LossReason.EXPIRED);
        }
    }

    private List<LossReason> lose(Fixture fixture, String resource, Consumer<FaultProxy> fault) throws Exception {
        Queue<LossReason> losses = new ConcurrentLinkedQueue<>();
        try (FaultProxy proxy = FaultProxy.to(server());
                LockFactory cutOff = LockFactory.connect(
                        dsn().replace(server().toString(), proxy.address().toString()))) {
            Lock holder = cutOff.lock(resource)
                    .ttl(workingTtl())
                    .autoRefresh()
                    .onLost(losses::add)
                    .create();
            assertThat(holder.tryAcquire(Duration.ofSeconds(30))).isTrue();
            Lock rival = fixture.locks().createLock(resource, LONG_TTL);
            try {
                fault.accept(proxy);

                boolean acquired = rival.tryAcquire(Duration.ofSeconds(30));

                assertThat(holder.isExpired()).as("the holder knows").isTrue();
                assertThat(acquired).as("the rival holds").isTrue();
            } finally {
                proxy.delay(Duration.ZERO);
                proxy.heal();
            }
            Awaitility.await()
                    .atMost(Duration.ofSeconds(30))
                    .ignoreException(LockStorageException.class)
                    .until(() -> !holder.release());
            Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> !losses.isEmpty());
            assertThat(rival.isAcquired()).as("the rival still holds").isTrue();
            assertThat(rival.release()).isTrue();
        }
        return List.copyOf(losses);
    }
}
