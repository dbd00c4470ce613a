package dev.latchkey.chaos;

import dev.latchkey.testkit.FaultProxy;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Where one {@link Worker} runs after the other, each with the same network to the servers. Used by one thread at a time. */
final class WorkerSlot implements AutoCloseable {

    private final String name;
    private final List<Relay> relays;
    private final List<FaultProxy> proxies;
    private final String dsn;
    private final int registerPort;
    private final Path directory;
    private final Workload workload;
    private final Optional<Path> findsFirst;
    private int generation;
    private long operationsBefore;
    private volatile WorkerProcess worker;

    WorkerSlot(String name, StoreUnderTest backing, Workload workload, int registerPort, Path directory) {
        this.name = name;
        this.relays = backing.servers().stream()
                .map(server -> Relay.to(server::address))
                .toList();
        this.proxies =
                relays.stream().map(relay -> FaultProxy.to(relay.address())).toList();
        this.dsn = backing.dsn().apply(proxies.stream().map(FaultProxy::address).toList());
        this.registerPort = registerPort;
        this.directory = directory;
        this.workload = workload;
        this.findsFirst = backing.findsFirst();
        this.worker = start();
    }

    /** The number of the place of a process. */
    static int number(String process) {
        return Integer.parseInt(process.substring(1, process.indexOf('-')));
    }

    String name() {
        return name;
    }

    FaultProxy network(int server) {
        return proxies.get(server);
    }

    /** The part of {@link #network} next to the server. */
    Relay relay(int server) {
        return relays.get(server);
    }

    WorkerProcess worker() {
        return worker;
    }

    /** Starts another process in place of one that was killed. */
    void restart() {
        operationsBefore += worker.operations();
        worker = start();
        worker.awaitReady();
    }

    /** How many calls of Locks have asked the store, without the last ones of processes that were killed. */
    long operations() {
        return operationsBefore + worker.operations();
    }

    private WorkerProcess start() {
        return WorkerProcess.start(name + "-" + generation++, dsn, registerPort, directory, workload, findsFirst);
    }

    @Override
    public void close() {
        worker.close();
        proxies.forEach(FaultProxy::close);
        relays.forEach(Relay::close);
    }
}
