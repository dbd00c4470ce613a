package dev.latchkey.chaos;

import dev.latchkey.testkit.OwnServer;
import dev.latchkey.testkit.ServerAddress;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * A store under trial, with servers of its own.
 *
 * @param promise what is judged
 * @param faults what is done to it, and could be done to any; what is missing is beyond what its page speaks of, or cannot be done to it
 * @param troubles what can be done to it alone
 * @param servers in the order of the addresses that {@code dsn} takes
 * @param dsn makes of addresses what a process connects to
 * @param leftovers looks past the store, when nobody holds or waits any more, for what should be gone
 * @param observers look past the store at what happens on the servers, from a time on until they are closed, each with a log
 * @param findsFirst what the processes find before all else, as a defect that is planted to try the judge
 */
record StoreUnderTest(
        Guarantees promise,
        Set<FaultKind> faults,
        Map<FaultKind, ServerTrouble> troubles,
        List<? extends OwnServer> servers,
        Function<List<ServerAddress>, String> dsn,
        Supplier<List<String>> leftovers,
        List<Function<EventLog, ServerObserver>> observers,
        Optional<Path> findsFirst)
        implements AutoCloseable {

    StoreUnderTest(
            Guarantees promise,
            Set<FaultKind> faults,
            Map<FaultKind, ServerTrouble> troubles,
            List<? extends OwnServer> servers,
            Function<List<ServerAddress>, String> dsn,
            Supplier<List<String>> leftovers) {
        this(promise, faults, troubles, servers, dsn, leftovers, List.of(), Optional.empty());
    }

    /** The same, watched. */
    StoreUnderTest observedBy(List<Function<EventLog, ServerObserver>> all) {
        return new StoreUnderTest(promise, faults, troubles, servers, dsn, leftovers, all, findsFirst);
    }

    /** The same, of which processes find something else than what is there. */
    StoreUnderTest findingFirst(Path classes) {
        return new StoreUnderTest(promise, faults, troubles, servers, dsn, leftovers, observers, Optional.of(classes));
    }

    /** All that can go wrong. */
    Set<FaultKind> allFaults() {
        Set<FaultKind> all = EnumSet.copyOf(faults);
        all.addAll(troubles.keySet());
        return all;
    }

    /** What a process connects to that no fault is to reach. */
    String directDsn() {
        return dsn.apply(servers.stream().map(OwnServer::address).toList());
    }

    @Override
    public void close() {
        servers.forEach(OwnServer::close);
    }
}
