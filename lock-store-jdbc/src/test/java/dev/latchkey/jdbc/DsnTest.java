package dev.latchkey.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a DSN may say, and that nothing in it is dropped in silence. */
class DsnTest {

    /** C24: {@code sslmod=require} connected without TLS. */
    @ParameterizedTest
    @CsvSource({
        "postgresql://me:secret@host/db?sslmod=require,sslmod",
        "postgresql://me:secret@host/db?SSLMODE=require,SSLMODE",
        "postgresql://me:secret@host/db?sslmode=require&socketTimeot=3,socketTimeot",
        "jdbc:postgresql://host/db?user=me&password=secret&prefx=a,prefx",
        "mysql://me:secret@host/db?sslMod=REQUIRED,sslMod",
        "jdbc:mysql://host/db?password=secret&socketTimeot=3,socketTimeot",
        "mariadb://me:secret@host/db?sslMod=disable,sslMod",
        "jdbc:mariadb://host/db?password=secret&socketTimeot=3,socketTimeot",
        "jdbc:sqlite:/tmp/latchkey-unused.db?busy_timeot=1,busy_timeot",
        "jdbc:sqlserver://host;databaseName=db;password=secret;encrpt=true,encrpt",
        "jdbc:hsqldb:mem:options;password=secret;hsqlb.tx=mvcc,hsqlb.tx"
    })
    void givenAnOptionThatTheDriverDoesNotKnow_whenOpened_thenItIsNamedAndNothingSecret(String dsn, String option) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new JdbcStore.Provider().open(dsn).close())
                .withMessageContaining(option)
                .withMessageNotContaining("secret");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "postgresql://me:secret@host/db?sslmode=require&ApplicationName=a&options=-c%20x&currentSchema=s",
                "jdbc:postgresql://host/db?user=me&password=a&loggerLevel=OFF",
                "mysql://me:secret@host/db?sslMode=REQUIRED&useAffectedRows=true&serverTimezone=UTC&useSSL=false",
                "mariadb://me:secret@host/db?sslMode=disable&useAffectedRows=true&socketTimeout=3&nullCatalogMeansCurrent=true",
                "jdbc:mariadb://host/db?user=me&password=a&sslmode=disable",
                "jdbc:sqlite:/tmp/latchkey-unused.db?busy_timeout=1&journal_mode=WAL",
                "jdbc:sqlserver://host;databaseName=db;user=a;password=b;encrypt=true;trustServerCertificate=true",
                "jdbc:sqlserver://host;database=db;userName=a;password={b;c=d}",
                "jdbc:hsqldb:mem:options;user=SA;hsqldb.tx=mvlocks;ifexists=true;sql.syntax_pgs=true",
                "jdbc:h2:mem:options;DB_CLOSE_DELAY=0;LOCK_TIMEOUT=5;MODE=PostgreSQL;USER=sa",
                "jdbc:oracle:thin:@//host:1521/db",
                "jdbc:oracle:thin:@tcps://host:1521/db?wallet_location=/w&retry_count=3"
            })
    void givenOptionsThatTheDriverKnows_whenOpened_thenAStore(String dsn) {
        assertThat(new JdbcStore.Provider().open(dsn)).isInstanceOf(JdbcStore.class);
    }

    /** E8: PostgreSQL's driver prints an address that it cannot read, with the password. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "jdbc:postgresql://me:secret@host/db",
                "jdbc:postgresql://me:secret@host",
                "jdbc:postgresql://host:port/db?user=me&password=secret",
                "jdbc:postgresql://host?password=secret",
                "jdbc:mariadb://me:secret@host/db",
                "jdbc:sqlserver://me:secret@host;databaseName=db"
            })
    void givenAPasswordWhereTheDriverDoesNotReadIt_whenOpened_thenRefusedAndNothingSecretIsPrinted(String dsn) {
        PrintStream before = System.err;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        System.setErr(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> new JdbcStore.Provider().open(dsn))
                    .withMessageNotContaining("secret");
        } finally {
            System.setErr(before);
        }
        assertThat(printed.toString(StandardCharsets.UTF_8)).doesNotContain("secret");
    }

    /** E8: the driver's logger may have been given its stream before. */
    @Test
    void givenAnAddressThatTheDriverCannotRead_whenOpened_thenItsLoggerStaysSilentAndIsAsItWas() {
        java.util.logging.Logger logger = java.util.logging.Logger.getLogger("org.postgresql.Driver");
        StringBuilder logged = new StringBuilder();
        java.util.logging.Handler handler = new java.util.logging.Handler() {
            @Override
            public void publish(java.util.logging.LogRecord line) {
                logged.append(new java.util.logging.SimpleFormatter().format(line));
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        logger.addHandler(handler);
        try {
            assertThatIllegalArgumentException()
                    .isThrownBy(() ->
                            new JdbcStore.Provider().open("jdbc:postgresql://host:port/db?user=me&password=secret"));
            assertThat(logger.isLoggable(java.util.logging.Level.WARNING)).isTrue();
        } finally {
            logger.removeHandler(handler);
        }
        assertThat(logged.toString()).doesNotContain("secret");
    }
}
