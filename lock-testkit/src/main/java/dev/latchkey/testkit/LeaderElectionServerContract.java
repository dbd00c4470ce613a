package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.LockFactory;
import dev.latchkey.leader.LeaderElection;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.StoreProvider;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
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

    /** Curator #1137, #1160, #1024: of two reconnections in a row, one led, and the other one deleted its node. */
    @Test
    @Tag("slow")
    default void givenTheConnectionsOfTheLeaderBreakTwiceInARow_whenItIsConnectedAgain_thenNeverTwo(Fixture fixture) {
        try (Detour anns = new Detour(dsn());
                Candidates candidates = new Candidates(fixture.resource(), workingTtl())) {
            stand(candidates, "ann", anns.dsn());
            candidates.awaitTermAfter(0);
            stand(candidates, "bob", dsn());

            for (int i = 0; i < 3; i++) {
                anns.each(LeaderElectionServerContract::breakTwice);
            }

            awaitThatTheyFollowOneAnother(candidates);
        }
    }

    /** Curator #1168, #1169: all were cut off at once, and each looked at what the other one was about to delete. */
    @Test
    @Tag("slow")
    default void givenTheConnectionsOfAllBreakAtOnce_whenTheyAreConnectedAgain_thenNeverTwo(Fixture fixture) {
        try (Detour all = new Detour(dsn());
                Candidates candidates = new Candidates(fixture.resource(), workingTtl())) {
            stand(candidates, "ann", all.dsn());
            candidates.awaitTermAfter(0);
            stand(candidates, "bob", all.dsn());
            stand(candidates, "cleo", all.dsn());

            for (int i = 0; i < 3; i++) {
                all.each(LeaderElectionServerContract::breakTwice);
            }

            awaitThatTheyFollowOneAnother(candidates);
        }
    }

    private static LeaderElection stand(Candidates candidates, String who, String dsn) {
        return candidates.stand(candidates.builder(LockFactory.connect(dsn), who, term -> {}), who);
    }

    private static void breakTwice(FaultProxy proxy) {
        proxy.cut();
        Awaitility.await().until(() -> proxy.connections() > 0);
        proxy.cut();
        Awaitility.await().until(() -> proxy.connections() > 0);
    }

    /** Twice, as somebody who is in the way would be the second one. */
    private static void awaitThatTheyFollowOneAnother(Candidates candidates) {
        for (int i = 0; i < 2; i++) {
            Belief last = Awaitility.await()
                    .until(candidates::leader, Optional::isPresent)
                    .orElseThrow();
            candidates.resign(last.who());
            assertThat(candidates.awaitTermAfter(last.number()).number()).isGreaterThan(last.number());
        }
        candidates.check();
    }

    /** Curator #583, #726: an interrupt came while the node was made, which nobody deleted then: nobody led any more. */
    @Test
    @Tag("slow")
    default void givenAFollowerThatIsCutOff_whenItIsClosed_thenNothingOfItIsInTheWay(Fixture fixture) throws Exception {
        try (Detour bobs = new Detour(dsn());
                Candidates candidates = new Candidates(fixture.resource(), Leases.ROOMY_TTL)) {
            stand(candidates, "ann", dsn());
            Belief first = candidates.awaitTermAfter(0);
            LeaderElection bob = stand(candidates, "bob", bobs.dsn());
            Awaitility.await().until(() -> bob.leader().isPresent());

            bobs.each(FaultProxy::silence);
            BackgroundCall<Boolean> closing = fixture.start(() -> {
                bob.close();
                return true;
            });
            bobs.heal();

            assertThat(closing.result()).isTrue();
            candidates.resign("ann");
            assertThat(candidates.awaitTermAfter(first.number()).who()).isEqualTo("ann");
            candidates.check();
        }
    }

    /** The rest of its lease, and a round trip. */
    @Test
    @Tag("slow")
    default void givenAnotherFollows_whenTheProcessOfTheLeaderIsKilled_thenItLeadsWithinTheTtl(Fixture fixture) {
        Duration limit = crashTtl().plus(TimeLimits.untilWoken());
        Duration took = untilAnotherLeads(fixture, crashTtl());
        // The follower may stand still just then.
        for (int i = 0; i < 2 && took.compareTo(limit) >= 0; i++) {
            took = untilAnotherLeads(fixture, crashTtl());
        }

        assertThat(took).isLessThan(limit);
    }

    private Duration untilAnotherLeads(Fixture fixture, Duration ttl) {
        try (SecondProcess other = SecondProcess.connect(dsn());
                Candidates candidates = new Candidates(fixture.resource(), ttl)) {
            long number = Long.parseLong(other.lead(fixture.resource(), ttl).text());
            LeaderElection bob = candidates.stand(store(), "bob");
            assertThat(bob.leader().orElseThrow().fencingToken()).hasValue(number);

            long killed = System.nanoTime();
            other.kill();

            return Duration.ofNanos(candidates.awaitTermAfter(number).since() - killed);
        }
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
