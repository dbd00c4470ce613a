package dev.latchkey.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.LockFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

class ProviderTest {

    @Test
    void givenWholeDsn_whenRead_thenTheDriverGetsAllOfIt() {
        PGSimpleDataSource source = ConnectionSettings.parse(
                        "postgresql+advisory://me:p%40ss+w%2Fd@db1:5433,db2/orders?targetServerType=primary&sslmode=require")
                .source();

        assertThat(source.getServerNames()).containsExactly("db1", "db2");
        assertThat(source.getPortNumbers()).containsExactly(5433, 5432);
        assertThat(source.getDatabaseName()).isEqualTo("orders");
        assertThat(source.getUser()).isEqualTo("me");
        assertThat(source.getPassword()).isEqualTo("p@ss+w/d");
        assertThat(source.getTargetServerType()).isEqualTo("primary");
        assertThat(source.getSslMode()).isEqualTo("require");
    }

    /** The data source keeps what was set before its URL: an option that we have a default of was ignored. */
    @Test
    void givenOptionsThatWeHaveDefaultsOf_whenRead_thenTheDsnSaysWhatTheyAre() throws Exception {
        PGSimpleDataSource source = ConnectionSettings.parse(
                        "postgresql+advisory://db1/orders?connectTimeout=3&loginTimeout=4&cancelSignalTimeout=5"
                                + "&tcpKeepAlive=false&ApplicationName=x")
                .source();

        assertThat(source.getConnectTimeout()).isEqualTo(3);
        assertThat(source.getLoginTimeout()).isEqualTo(4);
        assertThat(source.getCancelSignalTimeout()).isEqualTo(5);
        assertThat(source.getTcpKeepAlive()).isFalse();
        assertThat(source.getApplicationName()).isEqualTo("x");
    }

    @ParameterizedTest
    @CsvSource({"db1/orders, 10, 10", "db1/orders?connectTimeout=40, 40, 40", "db1/orders?connectTimeout=3, 3, 10"})
    void givenATimeToConnect_whenRead_thenThereIsAsMuchToLogIn(String rest, int toConnect, int toLogIn)
            throws Exception {
        PGSimpleDataSource source =
                ConnectionSettings.parse("postgresql+advisory://" + rest).source();

        assertThat(source.getConnectTimeout()).isEqualTo(toConnect);
        assertThat(source.getLoginTimeout()).isEqualTo(toLogIn);
        assertThat(source.getCancelSignalTimeout()).isEqualTo(2);
        assertThat(source.getTcpKeepAlive()).isTrue();
        assertThat(source.getApplicationName()).isEqualTo("latchkey");
    }

    @Test
    void givenDsnWithoutUser_whenRead_thenItIsLeftToTheDriver() {
        PGSimpleDataSource source = ConnectionSettings.parse("postgresql+advisory://[::1]:5432/orders")
                .source();

        assertThat(source.getUser()).isNull();
        assertThat(source.getServerNames()).containsExactly("[::1]");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "postgresql+advisory:",
                "postgresql+advisory://",
                "postgresql+advisory://host",
                "postgresql+advisory://host/",
                "postgresql+advisory:///orders",
                "postgresql+advisory://me:top@secret@host/orders",
                "postgresql+advisory://me:top/secret@host/orders",
                "postgresql+advisory://me:top%secret@host/orders",
                "postgresql+advisory://me:secret@host:port/orders",
                "postgresql+advisory://host:port/orders?password=secret",
                "postgresql+advisory://host/orders?sslmod=require&password=secret",
                "postgresql+advisory://host/orders?socketTimeot=3",
                "postgresql+advisory://host/orders?password=se%cret",
                "postgresql+advisory://host/orders?sslmode",
                "postgresql+advisory://host/orders?connectTimeout=secret",
            })
    void givenWrongDsn_whenConnected_thenAnErrorThatSaysWhatIsRightAndNoSecret(String dsn) {
        assertThatThrownBy(() -> LockFactory.connect(dsn))
                .isInstanceOf(IllegalArgumentException.class)
                .hasNoCause()
                .hasMessageContaining("DSN")
                .hasMessageNotContaining("secret");
    }

    @Test
    void givenNoServerThere_whenConnected_thenNothingHappensUntilItIsUsed() {
        LockFactory.connect("postgresql+advisory://me:secret@127.0.0.1:1/orders")
                .close();
    }
}
