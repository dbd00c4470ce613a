package dev.latchkey.chaos;

import dev.latchkey.testkit.FaultProxy;
import dev.latchkey.testkit.OwnServer;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** Has faults strike, and writes down when. Each lane is a thread of its own. */
final class FaultInjector {

    /** What a message to a subscriber of Redis begins with; the answer to SUBSCRIBE cannot be lost alone. */
    private static final String MESSAGE = "message\r\n";

    /** Those of networks that last; the others strike at one moment. */
    private static final Set<FaultKind> LASTING =
            EnumSet.of(FaultKind.REFUSE, FaultKind.SILENCE, FaultKind.MUTE, FaultKind.SLOW);

    private final AtomicInteger numbers = new AtomicInteger();

    private final StoreUnderTest backing;
    private final List<WorkerSlot> places;
    private final EventLog log;

    FaultInjector(StoreUnderTest backing, List<WorkerSlot> places, EventLog log) {
        this.backing = backing;
        this.places = places;
        this.log = log;
    }

    /** Strikes at their times; when this returns, all is well again. */
    void strikeAll(List<Fault> faults, long beganNanos, Duration length) throws InterruptedException {
        for (Fault fault : faults) {
            long wait = TimeUnit.MILLISECONDS.toNanos(fault.atMillis()) - (System.nanoTime() - beganNanos);
            TimeUnit.NANOSECONDS.sleep(wait);
            if (System.nanoTime() - beganNanos > length.toNanos()) {
                return;
            }
            strike(fault);
        }
    }

    /** When this returns, all is well again. */
    void strike(Fault fault) throws InterruptedException {
        switch (fault.kind()) {
            case CRASH -> crash(places.get(fault.place()));
            case FREEZE -> freeze(fault, places.get(fault.place()).worker().name(), List.of(places.get(fault.place())));
            case SUSPEND -> freeze(fault, History.ALL, places);
            case RESTART -> restart(fault, List.of(server(fault)), OwnServer::restart);
            case RESTART_MOST -> restart(fault, allBut(server(fault)), OwnServer::restart);
            case FORGET -> restart(fault, List.of(server(fault)), OwnServer::restartEmpty);
            case PAUSE -> pause(fault, List.of(server(fault)));
            case PAUSE_MOST -> pause(fault, allBut(server(fault)));
            case CUT, REFUSE, SILENCE, MUTE, SLOW -> strikeNetworks(fault);
            case LOST_REPLY, LOST_REQUEST, LOST_MESSAGE, CUT_AT_MESSAGE ->
                struck(fault).forEach(place -> setTrap(place, fault));
            case DEPOSE, FAILOVER, READONLY, EVICT, FLUSH_SCRIPTS, CUT_SUBSCRIBERS, CUT_CLIENTS ->
                trouble(fault, Objects.requireNonNull(backing.troubles().get(fault.kind())));
        }
    }

    private void crash(WorkerSlot place) {
        WorkerProcess worker = place.worker();
        int number = struck(FaultKind.CRASH, worker.name());
        worker.kill();
        over(number);
        place.restart();
        healed(number);
    }

    private void freeze(Fault fault, String target, List<WorkerSlot> struck) throws InterruptedException {
        int number = struck(fault.kind(), target);
        struck.forEach(place -> place.worker().freeze());
        try {
            last(fault);
        } finally {
            struck.forEach(place -> place.worker().thaw());
            over(number);
            healed(number);
        }
    }

    private void restart(Fault fault, List<? extends OwnServer> struck, Consumer<OwnServer> restart)
            throws InterruptedException {
        int number = struck(fault.kind(), History.ALL);
        struck.forEach(OwnServer::kill);
        over(number);
        try {
            last(fault);
        } finally {
            struck.forEach(restart);
            healed(number);
        }
    }

    private void pause(Fault fault, List<? extends OwnServer> struck) throws InterruptedException {
        int number = struck(fault.kind(), History.ALL);
        struck.forEach(OwnServer::freeze);
        try {
            last(fault);
        } finally {
            struck.forEach(OwnServer::thaw);
            over(number);
            healed(number);
        }
    }

    private void trouble(Fault fault, ServerTrouble trouble) throws InterruptedException {
        int number = struck(fault.kind(), History.ALL);
        trouble.strike();
        over(number);
        try {
            last(fault);
        } finally {
            trouble.heal();
            healed(number);
        }
    }

    private void strikeNetworks(Fault fault) throws InterruptedException {
        List<WorkerSlot> struck = struck(fault);
        int number = struck(
                fault.kind(),
                fault.place() == Fault.EVERYWHERE ? History.ALL : struck.get(0).name());
        struck.forEach(place -> spoil(place, fault));
        over(number);
        if (LASTING.contains(fault.kind())) {
            try {
                last(fault);
            } finally {
                struck.forEach(place -> heal(place, fault.server()));
                healed(number);
            }
        }
    }

    private List<WorkerSlot> struck(Fault fault) {
        return fault.place() == Fault.EVERYWHERE ? places : List.of(places.get(fault.place()));
    }

    private static void heal(WorkerSlot place, int server) {
        place.relay(server).heal();
        place.network(server).heal();
        place.network(server).delay(Duration.ZERO);
    }

    private static void spoil(WorkerSlot place, Fault fault) {
        FaultProxy network = place.network(fault.server());
        switch (fault.kind()) {
            case CUT -> network.cut();
            case REFUSE -> network.refuse();
            case SILENCE -> network.silence();
            case MUTE -> place.relay(fault.server()).mute();
            case SLOW -> network.delay(Duration.ofMillis(fault.delayMillis()));
            default -> throw new AssertionError(fault.kind() + " is none of a network");
        }
    }

    /**
     * It strikes when it springs: at some time, or never, for a process asks one server of several. Before the process sees the
     * connection break.
     */
    private void setTrap(WorkerSlot place, Fault fault) {
        FaultProxy network = place.network(fault.server());
        CompletableFuture<Void> sprung = switch (fault.kind()) {
            case LOST_REPLY -> network.loseReplyTo(Workload.RESOURCE);
            case LOST_REQUEST -> network.loseRequest(Workload.RESOURCE);
            case LOST_MESSAGE -> network.dropMessage(MESSAGE);
            case CUT_AT_MESSAGE -> network.cutAtMessage(MESSAGE);
            default -> throw new AssertionError(fault.kind() + " is no trap");
        };
        var unused = sprung.thenRun(() -> over(struck(fault.kind(), place.name())));
    }

    private OwnServer server(Fault fault) {
        return backing.servers().get(fault.server());
    }

    private List<OwnServer> allBut(OwnServer one) {
        return backing.servers().stream()
                .map(OwnServer.class::cast)
                .filter(server -> server != one)
                .toList();
    }

    private static void last(Fault fault) throws InterruptedException {
        TimeUnit.MILLISECONDS.sleep(fault.millis());
    }

    private int struck(FaultKind kind, String target) {
        int number = numbers.incrementAndGet();
        log.struck(number, kind, target, System.nanoTime());
        return number;
    }

    private void over(int number) {
        log.over(number, System.nanoTime());
    }

    private void healed(int number) {
        log.healed(number, System.nanoTime());
    }
}
