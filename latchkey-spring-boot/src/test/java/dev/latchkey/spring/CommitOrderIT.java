package dev.latchkey.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

/**
 * Two applications append numbers to a table, each the count of what is there: whoever gets the lock has to see the row of the one
 * before, or a number comes twice. {@code -Dlatchkey.rounds=1000} for the long form.
 */
class CommitOrderIT {

    private static final int ROUNDS = Integer.getInteger("latchkey.rounds", 100);
    private static final int THREADS = 2;
    private static final long PID = ProcessHandle.current().pid();

    private static final List<ConfigurableApplicationContext> RIVALS = new ArrayList<>();

    @BeforeAll
    static void start() {
        for (int i = 0; i < 2; i++) {
            RIVALS.add(Apps.start(Application.class, Apps.onPostgres()));
        }
        for (Way way : Way.values()) {
            JdbcClient sql = RIVALS.get(0).getBean(JdbcClient.class);
            sql.sql("CREATE TABLE " + way.table() + " (n bigint)").update();
        }
    }

    @AfterAll
    static void stop() {
        JdbcClient sql = RIVALS.get(0).getBean(JdbcClient.class);
        for (Way way : Way.values()) {
            sql.sql("DROP TABLE " + way.table()).update();
        }
        RIVALS.forEach(ConfigurableApplicationContext::close);
    }

    /** How the lock and the transaction go together. */
    enum Way {
        SAME_METHOD,
        TRANSACTION_INSIDE,
        TRANSACTION_OUTSIDE,
        ON_AN_INTERFACE,
        REQUIRES_NEW,
        REQUIRES_NEW_INSIDE_OF_ANOTHER;

        public String table() {
            // Others may run the same on a server that is given.
            return "rounds_" + name().toLowerCase(Locale.ROOT) + "_" + PID;
        }
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void givenRivals_whenOneGetsTheLock_thenItSeesWhatTheOneBeforeHasWritten(Way way) throws Exception {
        List<Callable<Void>> workers = new ArrayList<>();
        for (int i = 0; i < RIVALS.size() * THREADS; i++) {
            Ways ways = RIVALS.get(i % RIVALS.size()).getBean(Ways.class);
            workers.add(() -> {
                for (int round = 0; round < ROUNDS / (RIVALS.size() * THREADS); round++) {
                    ways.append(way);
                }
                return null;
            });
        }
        ExecutorService threads = Executors.newFixedThreadPool(workers.size());
        try {
            for (Future<Void> done : threads.invokeAll(workers)) {
                done.get();
            }
        } finally {
            threads.shutdownNow();
        }

        List<Long> numbers = RIVALS.get(0)
                .getBean(JdbcClient.class)
                .sql("SELECT n FROM " + way.table() + " ORDER BY n")
                .query(Long.class)
                .list();
        assertThat(numbers)
                .containsExactlyElementsOf(
                        LongStream.range(0, numbers.size()).boxed().toList())
                .hasSize(ROUNDS / workers.size() * workers.size());
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        @Bean
        Table table(JdbcClient sql) {
            return new Table(sql);
        }

        @Bean
        Transactions transactions(Table table) {
            return new Transactions(table);
        }

        @Bean
        Locks locks(Table table, Transactions transactions) {
            return new Locks(table, transactions);
        }

        @Bean
        OnInterface onInterface(Table table) {
            return new Implementation(table);
        }

        @Bean
        Outside outside(Locks locks) {
            return new Outside(locks);
        }

        @Bean
        Ways ways(Locks locks, Outside outside, OnInterface onInterface) {
            return new Ways(locks, outside, onInterface);
        }
    }

    record Ways(Locks locks, Outside outside, OnInterface onInterface) {

        void append(Way way) {
            switch (way) {
                case SAME_METHOD -> locks.sameMethod(way);
                case TRANSACTION_INSIDE -> locks.transactionInside(way);
                case TRANSACTION_OUTSIDE -> outside.append(way);
                case ON_AN_INTERFACE -> onInterface.append(way);
                case REQUIRES_NEW -> locks.requiresNew(way);
                case REQUIRES_NEW_INSIDE_OF_ANOTHER -> outside.requiresNew(way);
            }
        }
    }

    static class Locks {

        private final Table table;
        private final Transactions transactions;

        Locks(Table table, Transactions transactions) {
            this.table = table;
            this.transactions = transactions;
        }

        @Locked("#way.table()")
        @Transactional
        void sameMethod(Way way) {
            table.append(way);
        }

        @Locked("#way.table()")
        void transactionInside(Way way) {
            transactions.append(way);
        }

        @Locked("#way.table()")
        void inATransaction(Way way) {
            table.append(way);
        }

        @Locked("#way.table()")
        @Transactional(propagation = Propagation.REQUIRES_NEW)
        void requiresNew(Way way) {
            table.append(way);
        }
    }

    static class Outside {

        private final Locks locks;

        Outside(Locks locks) {
            this.locks = locks;
        }

        @Transactional
        void append(Way way) {
            locks.inATransaction(way);
        }

        @Transactional
        void requiresNew(Way way) {
            locks.requiresNew(way);
        }
    }

    interface OnInterface {
        @Locked("#p0.table()")
        @Transactional
        void append(Way way);
    }

    static class Implementation implements OnInterface {

        private final Table table;

        Implementation(Table table) {
            this.table = table;
        }

        @Override
        public void append(Way way) {
            table.append(way);
        }
    }

    static class Transactions {

        private final Table table;

        Transactions(Table table) {
            this.table = table;
        }

        @Transactional
        void append(Way way) {
            table.append(way);
        }
    }

    record Table(JdbcClient sql) {

        /** Two statements, between which another could append the same. */
        void append(Way way) {
            long count = sql.sql("SELECT count(*) FROM " + way.table())
                    .query(Long.class)
                    .single();
            sql.sql("INSERT INTO " + way.table() + " VALUES (?)").param(count).update();
        }
    }
}
