package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.leader.LeaderElection;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.StoreProvider;
import java.util.List;
import java.util.function.Consumer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The server is away for longer than a lease, or a session, lasts: the leader knows that it leads no more, and when the server is
 * back, with what it had stored of that leader, there are never two. No store has to join it.
 */
public interface LeaderElectionServerContract extends OwnServersContract {

    @Test
    @Tag("slow")
    default void givenTheServerStandsStillPastTheTerm_whenItGoesOn_thenOneLeadsAndNeverTwo(Fixture fixture) {
        strike(fixture, OwnServer::freeze, OwnServer::thaw);
    }

    @Test
    @Tag("slow")
    default void givenTheServerIsKilledPastTheTerm_whenItIsBack_thenOneLeadsAndNeverTwo(Fixture fixture) {
        strike(fixture, OwnServer::kill, OwnServer::restart);
    }

    private void strike(Fixture fixture, Consumer<OwnServer> fault, Consumer<OwnServer> end) {
        List<? extends OwnServer> servers = startServers();
        PersistingStore anns = fixture.closing(StoreProvider.connect(dsn(servers)));
        PersistingStore bobs = fixture.closing(StoreProvider.connect(dsn(servers)));
        try (Candidates candidates = new Candidates(fixture.resource(), workingTtl())) {
            LeaderElection ann = candidates.stand(anns, "ann");
            Belief first = candidates.awaitTermAfter(0);
            LeaderElection bob = candidates.stand(bobs, "bob");

            servers.forEach(fault);
            Awaitility.await("the end of the term").until(() -> !ann.isLeader());
            servers.forEach(end);

            Belief second = candidates.awaitTermAfter(first.number());
            (second.who().equals("ann") ? ann : bob).resign();
            Belief third = candidates.awaitTermAfter(second.number());
            assertThat(third.number()).isGreaterThan(second.number());
            candidates.check();
        } finally {
            servers.forEach(OwnServer::close);
        }
    }
}
