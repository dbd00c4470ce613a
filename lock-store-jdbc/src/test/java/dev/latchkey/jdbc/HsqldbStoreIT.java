package dev.latchkey.jdbc;

import dev.latchkey.spi.PersistingStore;
import dev.latchkey.testkit.CutOffContract;
import dev.latchkey.testkit.ServerAddress;
import java.nio.file.Path;
import org.hsqldb.server.Server;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/** All contracts on an HSQLDB server. */
@Tag("slow")
class HsqldbStoreIT implements JdbcContracts, CutOffContract {

    @TempDir
    static Path directory;

    private static final Server SERVER = new Server();
    private static String url;

    private static JdbcStore store;

    @BeforeAll
    static void open() {
        int port = ServerAddress.unused().port();
        SERVER.setPort(port);
        SERVER.setDatabaseName(0, "locks");
        SERVER.setDatabasePath(0, "file:" + directory.resolve("locks"));
        SERVER.setSilent(true);
        SERVER.setLogWriter(null);
        SERVER.start();
        url = "jdbc:hsqldb:hsql://localhost:" + port + "/locks;user=SA";
        store = Stores.open(url);
    }

    @AfterAll
    static void close() {
        store.close();
        SERVER.stop();
    }

    @Override
    public PersistingStore store() {
        return store;
    }

    @Override
    public PersistingStore separateStore() {
        return Stores.openOthers(url);
    }

    @Override
    public String dsn() {
        return url;
    }
}
