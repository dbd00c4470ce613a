package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Leases outlive their server: for a store whose servers, as {@link #startServers()} starts them, keep on disk what they grant. */
public interface DurableServerContract extends ServerFaultContract {

    /** Nobody renews here, so that the lease must end at the time it was given before. */
    @Test
    @Tag("slow")
    default void givenTheServerIsKilledAndComesBackWithinTheLease_whenARivalHolds_thenTheLeaseWasOver(Fixture fixture)
            throws Exception {
        Duration ttl = TimeLimits.ttl(Duration.ofSeconds(8));
        List<? extends OwnServer> servers = startServers();
        try (LockFactory locks = LockFactory.connect(dsn(servers))) {
            Lock holder = locks.createLock(fixture.resource(), ttl);
            Lock rival = locks.createLock(fixture.resource(), ttl);
            assertThat(holder.tryAcquire()).isTrue();

            servers.forEach(OwnServer::kill);
            servers.forEach(OwnServer::restart);

            Awaitility.await("the rival to hold")
                    .atMost(TimeLimits.LIMIT)
                    .ignoreException(LockStorageException.class)
                    .until(() -> rival.tryAcquire(Duration.ofSeconds(10)));
            assertThat(holder.isExpired()).as("the holder knows").isTrue();
            assertThat(rival.isAcquired()).as("the rival holds still").isTrue();
        } finally {
            servers.forEach(OwnServer::close);
        }
    }
}
