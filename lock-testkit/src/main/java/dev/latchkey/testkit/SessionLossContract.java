package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LossReason;
import dev.latchkey.spi.ProcessBound;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The session that carries a hold ends under its holder: it knows before a rival has the lock, and is told once. For a
 * {@link ProcessBound} store that has sessions with servers.
 */
@ContractFor(
        value = ProcessBound.class,
        unless = {SingleProcessContract.class, ServerlessContract.class})
public interface SessionLossContract extends OwnServersContract, ClosedStoreContract {

    /**
     * Says that the server frees a hold at the moment its connection breaks: the holder is told of that within moments, and a
     * rival may come first.
     *
     * @return false unless overridden: a session outlives its connection
     */
    default boolean endsWithItsConnection() {
        return false;
    }

    @Test
    @Tag("slow")
    default void givenTheConnectionBreaks_whenARivalHolds_thenTheHolderKnewAndIsToldOnce(Fixture fixture)
            throws Exception {
        cutOff(fixture, FaultProxy::refuse);
    }

    @Test
    @Tag("slow")
    default void givenTheNetworkIsSilent_whenARivalHolds_thenTheHolderKnewAndIsToldOnce(Fixture fixture)
            throws Exception {
        cutOff(fixture, FaultProxy::silence);
    }

    private void cutOff(Fixture fixture, Consumer<FaultProxy> fault) throws Exception {
        try (Detour detour = new Detour(dsn());
                Succession succession = new Succession(detour.dsn(), dsn(), fixture.resource(), Fixture.LONG_TTL)) {
            succession.begin();
            BackgroundCall<Boolean> knew = fixture.start(succession::takeOver);

            detour.each(fault);

            succession.awaitThatTheHolderKnows();
            detour.heal();
            assertThat(knew.result() || endsWithItsConnection())
                    .as("the holder knows")
                    .isTrue();
            assertThat(succession.losses()).containsExactly(LossReason.SESSION_LOST);
        }
    }

    @Test
    @RunsAlone
    @Tag("slow")
    default void givenListenersAndTheCommonPoolAreStuck_whenTheConnectionBreaks_thenTheHolderKnowsAndIsInterrupted(
            Fixture fixture) throws Exception {
        try (Detour detour = new Detour(dsn());
                BusyThreads busy = new BusyThreads();
                LockFactory locks = LockFactory.connect(detour.dsn())) {
            busy.fillListenersOf(locks, fixture.resource() + "-other");
            busy.fillCommonPool();
            Queue<LossReason> losses = new ConcurrentLinkedQueue<>();
            Lock holder = locks.lock(fixture.resource())
                    .interruptOnLoss()
                    .onLost(losses::add)
                    .create();
            InterruptedWork work = InterruptedWork.begin(fixture, holder);

            detour.each(FaultProxy::refuse);

            assertThat(work.endsKnowingly()).as("the worker is interrupted").isTrue();
            assertThat(losses).as("while the listeners are stuck").isEmpty();
            busy.free();
            Awaitility.await().atMost(TimeLimits.LIMIT).until(() -> !losses.isEmpty());
            assertThat(losses).containsExactly(LossReason.SESSION_LOST);
            detour.heal();
        }
    }

    @Test
    @Tag("slow")
    default void givenTheServerStandsStill_whenItGoesOnAndARivalHolds_thenTheHolderKnewAndIsToldOnce(Fixture fixture)
            throws Exception {
        strike(fixture, OwnServer::freeze, OwnServer::thaw);
    }

    @Test
    @Tag("slow")
    default void givenTheServerDies_whenItIsBackAndARivalHolds_thenTheHolderKnewAndIsToldOnce(Fixture fixture)
            throws Exception {
        strike(fixture, OwnServer::kill, OwnServer::restart);
    }

    private void strike(Fixture fixture, Consumer<OwnServer> fault, Consumer<OwnServer> repair) throws Exception {
        List<? extends OwnServer> servers = startServers();
        try (Succession succession = new Succession(dsn(servers), dsn(servers), fixture.resource(), Fixture.LONG_TTL)) {
            succession.begin();
            BackgroundCall<Boolean> knew = fixture.start(succession::takeOver);

            servers.forEach(fault);

            succession.awaitThatTheHolderKnows();
            servers.forEach(repair);
            assertThat(knew.result()).as("the holder knows").isTrue();
            assertThat(succession.losses()).containsExactly(LossReason.SESSION_LOST);
        } finally {
            servers.forEach(OwnServer::close);
        }
    }
}
