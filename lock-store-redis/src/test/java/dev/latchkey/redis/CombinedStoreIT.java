package dev.latchkey.redis;

import dev.latchkey.servers.PatientDsn;
import dev.latchkey.servers.RedisServer;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.StoreProvider;
import dev.latchkey.testkit.CutOffContract;
import dev.latchkey.testkit.DurableServerContract;
import dev.latchkey.testkit.FullPoolsContract;
import dev.latchkey.testkit.LeaderElectionContract;
import dev.latchkey.testkit.LeaderElectionServerContract;
import dev.latchkey.testkit.OwnServer;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Staying the owner on three servers of which two must agree: two of them are struck. */
@Tag("slow")
@Execution(ExecutionMode.CONCURRENT)
class CombinedStoreIT
        implements FullPoolsContract,
                CutOffContract,
                DurableServerContract,
                LeaderElectionContract,
                LeaderElectionServerContract {

    private static List<RedisServer> shared;

    private PersistingStore store;

    private static List<RedisServer> threeServers() {
        return Stream.generate(RedisServer::startDurable).limit(3).toList();
    }

    @BeforeEach
    void open() {
        store = StoreProvider.connect(dsn());
    }

    @AfterEach
    void close() {
        store.close();
    }

    @BeforeAll
    static void start() {
        shared = threeServers();
    }

    @AfterAll
    static void stop() {
        shared.forEach(RedisServer::close);
    }

    @Override
    public PersistingStore store() {
        return store;
    }

    @Override
    public PersistingStore separateStore() {
        throw new UnsupportedOperationException("no contract of this test asks for it");
    }

    @Override
    public String dsn() {
        return dsn(shared);
    }

    @Override
    public List<RedisServer> startServers() {
        return threeServers();
    }

    @Override
    public String dsn(List<? extends OwnServer> servers) {
        return servers.stream()
                .map(server -> PatientDsn.redis(server.dsn()))
                .collect(Collectors.joining(",", "combined:consensus(", ")"));
    }
}
