package dev.latchkey.jdbc;

import dev.latchkey.spi.PersistingStore;
import dev.latchkey.testkit.CutOffContract;
import java.nio.file.Path;
import java.sql.SQLException;
import org.h2.tools.Server;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/** All contracts on an H2 server. */
@Tag("slow")
class H2StoreIT implements JdbcContracts, CutOffContract {

    @TempDir
    static Path directory;

    private static Server server;
    private static String url;

    private static JdbcStore store;

    @BeforeAll
    static void open() throws SQLException {
        server = Server.createTcpServer("-tcpPort", "0", "-baseDir", directory.toString(), "-ifNotExists")
                .start();
        url = "jdbc:h2:tcp://localhost:" + server.getPort() + "/./locks;WRITE_DELAY=0";
        store = Stores.open(url);
    }

    @AfterAll
    static void close() {
        store.close();
        server.stop();
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
