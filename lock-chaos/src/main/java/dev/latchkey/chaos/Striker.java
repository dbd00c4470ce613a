package dev.latchkey.chaos;

import dev.latchkey.testkit.FaultProxy;
import dev.latchkey.testkit.OwnServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Has faults strike, and writes down when. Each lane is a thread of its own. */
final class Striker {

    private static final int SLOWEST_MILLIS = 200;
    private final AtomicInteger numbers = new AtomicInteger();

    private final Backing backing;
    private final List<Place> places;
    private final EventLog log;

    Striker(Backing backing, List<Place> places, EventLog log) {
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

    private void strike(Fault fault) throws InterruptedException {
        switch (fault.kind()) {
            case CRASH -> crash(places.get(fault.place()));
            case FREEZE -> freeze(fault, places.get(fault.place()).worker());
            case RESTART -> restart(fault, server(fault)::restart);
            case FORGET -> restart(fault, server(fault)::restartEmpty);
            case PAUSE -> pause(fault);
            case CUT, REFUSE, SILENCE, SLOW, LOST_REPLY -> strikeNetworks(fault);
        }
    }

    private void crash(Place place) {
        WorkerProcess worker = place.worker();
        int number = struck(FaultKind.CRASH, worker.name());
        worker.kill();
        over(number);
        place.restart();
        healed(number);
    }

    private void freeze(Fault fault, WorkerProcess worker) throws InterruptedException {
        int number = struck(fault.kind(), worker.name());
        worker.freeze();
        try {
            last(fault);
        } finally {
            worker.thaw();
            over(number);
            healed(number);
        }
    }

    private void restart(Fault fault, Runnable restart) throws InterruptedException {
        int number = struck(fault.kind(), History.ALL);
        server(fault).kill();
        over(number);
        try {
            last(fault);
        } finally {
            restart.run();
            healed(number);
        }
    }

    private void pause(Fault fault) throws InterruptedException {
        int number = struck(fault.kind(), History.ALL);
        server(fault).freeze();
        try {
            last(fault);
        } finally {
            server(fault).thaw();
            over(number);
            healed(number);
        }
    }

    private void strikeNetworks(Fault fault) throws InterruptedException {
        List<Place> struck = fault.place() == Fault.EVERYWHERE ? places : List.of(places.get(fault.place()));
        int number = struck(
                fault.kind(),
                fault.place() == Fault.EVERYWHERE ? History.ALL : struck.get(0).name());
        List<FaultProxy> networks =
                struck.stream().map(place -> place.network(fault.server())).toList();
        networks.forEach(network -> spoil(network, fault));
        over(number);
        if (fault.kind() != FaultKind.CUT && fault.kind() != FaultKind.LOST_REPLY) {
            try {
                last(fault);
            } finally {
                networks.forEach(FaultProxy::heal);
                networks.forEach(network -> network.delay(Duration.ZERO));
                healed(number);
            }
        }
    }

    private static void spoil(FaultProxy network, Fault fault) {
        switch (fault.kind()) {
            case CUT -> network.cut();
            case REFUSE -> network.refuse();
            case SILENCE -> network.silence();
            case SLOW -> network.delay(Duration.ofMillis(fault.millis() % SLOWEST_MILLIS));
            case LOST_REPLY -> {
                var unused = network.loseReplyTo(Worker.RESOURCE);
            }
            default -> throw new AssertionError(fault.kind() + " is none of a network");
        }
    }

    private OwnServer server(Fault fault) {
        return backing.servers().get(fault.server());
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
