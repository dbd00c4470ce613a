package dev.latchkey.postgres;

import dev.latchkey.servers.PostgresServer;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.testkit.BlockingStoreContract;
import dev.latchkey.testkit.CrashContract;
import dev.latchkey.testkit.FairStoreContract;
import dev.latchkey.testkit.FencingContract;
import dev.latchkey.testkit.InspectableStoreContract;
import dev.latchkey.testkit.LeaderElectionContract;
import dev.latchkey.testkit.MultiLockContentionContract;
import dev.latchkey.testkit.MultiLockContract;
import dev.latchkey.testkit.OwnServer;
import dev.latchkey.testkit.PersistingStoreContract;
import dev.latchkey.testkit.ProcessBoundContract;
import dev.latchkey.testkit.ProcessContentionContract;
import dev.latchkey.testkit.SessionLossContract;
import dev.latchkey.testkit.SharedBlockingContract;
import dev.latchkey.testkit.SharedFencingContract;
import dev.latchkey.testkit.SharedOwnershipContract;
import dev.latchkey.testkit.SharedStoreContract;
import dev.latchkey.testkit.StoreRules;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@Execution(ExecutionMode.CONCURRENT)
class PostgresAdvisoryStoreIT
        implements PersistingStoreContract,
                MultiLockContract,
                MultiLockContentionContract,
                SharedStoreContract,
                SharedOwnershipContract,
                BlockingStoreContract,
                SharedBlockingContract,
                FencingContract,
                SharedFencingContract,
                FairStoreContract,
                InspectableStoreContract,
                ProcessBoundContract,
                CrashContract,
                SessionLossContract,
                LeaderElectionContract,
                ProcessContentionContract {

    private static final String OTHERS = "latchkey_others";

    private static PostgresAdvisoryStore store;

    @BeforeAll
    static void open() throws SQLException {
        try (Connection connection = DriverManager.getConnection(PostgresServer.jdbcUrl(PostgresServer.sharedDsn()));
                Statement statement = connection.createStatement()) {
            statement.execute("DROP DATABASE IF EXISTS " + OTHERS);
            statement.execute("CREATE DATABASE " + OTHERS);
        }
        store = Stores.open(PostgresServer.sharedDsn());
    }

    @AfterAll
    static void close() {
        store.close();
    }

    @Override
    public PersistingStore store() {
        return store;
    }

    @Override
    public PersistingStore separateStore() {
        return Stores.open(PostgresServer.sharedDsn().replaceFirst("/[^/]*$", "/" + OTHERS));
    }

    @Override
    public String dsn() {
        return Stores.advisory(PostgresServer.sharedDsn());
    }

    @Override
    public List<PostgresServer> startServers() {
        return List.of(PostgresServer.start());
    }

    @Override
    public String dsn(List<? extends OwnServer> servers) {
        return Stores.advisory(servers.get(0).dsn());
    }

    @Override
    public boolean endsWithItsConnection() {
        return true;
    }

    @Test
    @Tag("slow")
    void keepsTheRules() {
        StoreRules.of(PostgresAdvisoryStore.class)
                .testedBy(PostgresAdvisoryStoreIT.class)
                .check();
    }
}
