package dev.latchkey.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.servers.PostgresServer;
import dev.latchkey.testkit.FaultProxy;
import dev.latchkey.testkit.Fixture;
import dev.latchkey.testkit.TimeLimits;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What becomes of a sticky lock on PostgreSQL that is to be released while there is no connection: nobody knows of it any more. */
class FailedReleasesIT {

    /** Longer than anybody waits here: nothing ends by time. */
    private static final Duration LONG = Fixture.LONG_TTL;

    private static final Duration LIMIT = TimeLimits.LIMIT;
    private static final String RESOURCE = "report";

    /** A pool that has no connection to give when a test says so. */
    private static final class RefusingSource extends DelegatingSource {

        private final AtomicInteger refusals = new AtomicInteger();
        private volatile boolean refuses;

        RefusingSource(DataSource target) {
            super(target);
        }

        @Override
        public Connection getConnection() throws SQLException {
            if (refuses) {
                refusals.incrementAndGet();
                throw new SQLTransientConnectionException("none is free");
            }
            return super.getConnection();
        }

        void refuse() {
            refuses = true;
        }

        void heal() {
            refuses = false;
        }

        void awaitRefusals(int number) {
            Awaitility.await().atMost(LIMIT).until(() -> refusals.get() >= number);
        }
    }

    private PostgresServer server;
    private FaultProxy proxy;
    private HikariDataSource pool;
    private RefusingSource source;
    private JdbcStore store;
    private LockFactory locks;
    private LockFactory rivals;

    @BeforeEach
    void connect() {
        server = PostgresServer.start();
        proxy = FaultProxy.to(server.address());
        pool = new HikariDataSource();
        pool.setJdbcUrl(PostgresServer.jdbcUrl(PostgresServer.dsn(proxy.address())));
        source = new RefusingSource(pool);
        store = new JdbcStore(source);
        locks = new LockFactory(store);
        rivals = LockFactory.connect(server.dsn());
    }

    @AfterEach
    void end() {
        source.heal();
        locks.close();
        rivals.close();
        store.close();
        pool.close();
        proxy.close();
        server.close();
    }

    /** Has it kept, and returns the token of that hold. */
    private long keep() {
        Lock lock = locks.lock(RESOURCE).ttl(LONG).sticky(LONG).create();
        return Awaitility.await()
                .atMost(LIMIT)
                .until(() -> cycle(lock), unused -> !rivals.holders(RESOURCE).isEmpty());
    }

    private static long cycle(Lock lock) {
        assertThat(lock.tryAcquire()).isTrue();
        long token = lock.fencingToken().orElseThrow();
        assertThat(lock.release()).isTrue();
        return token;
    }

    @Test
    void givenARivalAsks_whenThePoolHasNoConnectionForTheRelease_thenItIsReleasedWhenThereIsOne() throws Exception {
        long token = keep();
        source.refuse();
        Lock rival = rivals.createLock(RESOURCE, LONG);
        Task<Boolean> waiting = Task.start(() -> rival.tryAcquire(LIMIT));
        source.awaitRefusals(1);

        source.heal();

        assertThat(waiting.result()).isTrue();
        assertThat(rival.fencingToken().orElseThrow()).isGreaterThan(token);
    }

    /** The listener recalls all that is kept if it cannot listen, as on a server that allows only reads. */
    @Test
    void givenTheServerIsGone_whenItGoesAgainBeforeTheStoreListens_thenItIsReleasedWhenTheServerIsBack()
            throws Exception {
        long token = keep();
        CompletableFuture<Void> gone =
                proxy.loseRequest("LISTEN \"latchkey_lock\"").thenRun(source::refuse);
        proxy.cut();
        assertThat(gone).succeedsWithin(LIMIT);
        // That of the release, and one of the listener.
        source.awaitRefusals(2);

        source.heal();

        Lock rival = rivals.createLock(RESOURCE, LONG);
        assertThat(rival.tryAcquire(LIMIT)).isTrue();
        assertThat(rival.fencingToken().orElseThrow()).isGreaterThan(token);
    }
}
