package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.spi.ExpiringStore;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The server dies, forgets or stands still under a holder that renews its lease: it knows that it may have lost the lock before
 * a rival has it, and is told once. For an {@link ExpiringStore}. Of several servers that must agree, so many are struck that
 * the others are too few.
 */
@ContractFor(value = ExpiringStore.class, unless = SingleProcessContract.class)
public interface ServerFaultContract extends OwnServersContract {

    @Test
    @Tag("slow")
    default void givenTheServerStandsStillPastTheLease_whenARivalHolds_thenTheHolderKnewAndIsToldOnce(Fixture fixture)
            throws Exception {
        strike(fixture, (servers, succession) -> {
            BackgroundCall<Boolean> knew = fixture.start(succession::takeOver);
            servers.forEach(OwnServer::freeze);
            outlastLeases();

            servers.forEach(OwnServer::thaw);

            assertThat(knew.result()).as("the holder knows").isTrue();
            assertThat(succession.losses()).hasSize(1);
        });
    }

    @Test
    @Tag("slow")
    default void givenTheServerIsDeadPastTheLease_whenARivalHolds_thenTheHolderKnewAndIsToldOnce(Fixture fixture)
            throws Exception {
        strike(fixture, (servers, succession) -> {
            BackgroundCall<Boolean> knew = fixture.start(succession::takeOver);
            servers.forEach(OwnServer::kill);
            outlastLeases();

            servers.forEach(OwnServer::restart);

            assertThat(knew.result()).as("the holder knows").isTrue();
            assertThat(succession.losses()).hasSize(1);
        });
    }

    /** The one case in which a rival may come first: nobody knows any more that there is a holder, until it asks. */
    @Test
    @Tag("slow")
    default void givenTheServerForgets_whenARivalHolds_thenTheHolderIsToldOnceNoLaterThanAtTheEndOfItsLease(
            Fixture fixture) throws Exception {
        strike(fixture, (servers, succession) -> {
            servers.forEach(OwnServer::kill);
            servers.forEach(OwnServer::restartEmpty);
            fixture.start(succession::takeOver).result();

            succession.awaitThatTheHolderKnows();

            assertThat(succession.losses()).hasSize(1);
        });
    }

    /** No lease that was granted before lasts longer; the holder is not asked whether it knows that. */
    private void outlastLeases() throws InterruptedException {
        TimeUnit.MILLISECONDS.sleep(workingTtl().toMillis());
    }

    private void strike(Fixture fixture, Succession.Strike strike) throws Exception {
        List<? extends OwnServer> servers = startServers();
        try (Succession succession = new Succession(dsn(servers), dsn(servers), fixture.resource(), workingTtl())) {
            succession.begin();
            strike.against(servers.subList(0, servers.size() / 2 + 1), succession);
        } finally {
            servers.forEach(OwnServer::close);
        }
    }
}
