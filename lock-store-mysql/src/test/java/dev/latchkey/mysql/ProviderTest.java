package dev.latchkey.mysql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Capability;
import dev.latchkey.LockFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ProviderTest {

    @Test
    void givenWholeDsn_whenRead_thenTheDriverGetsAllOfIt() {
        ConnectionSettings settings =
                ConnectionSettings.parse("mysql+getlock://me:p%40ss+w%2Fd@db1:3307/orders?sslMode=verify-full");

        assertThat(settings.url())
                .isEqualTo(
                        "jdbc:mariadb://db1:3307/orders?connectTimeout=10000&socketTimeout=10000&sslMode=verify-full");
        assertThat(settings.user()).isEqualTo("me");
        assertThat(settings.password()).isEqualTo("p@ss+w/d");
        assertThat(settings.source().getUser()).isEqualTo("me");
        assertThat(settings.toString()).doesNotContain("p@ss");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "mariadb+getlock://[::1]:3306/orders",
                "mariadb+getlock://db1",
                "mysql+getlock://me@db1/",
                "mysql+getlock://me@db1/?connectTimeout=2000"
            })
    void givenDsnWithLess_whenConnected_thenNothingHappensUntilItIsUsed(String dsn) {
        LockFactory.connect(dsn).close();
    }

    @Test
    void givenALimitOfTheUser_whenRead_thenItCounts() throws Exception {
        String url = ConnectionSettings.parse("mysql+getlock://db1/?connectTimeout=2000")
                .url();

        assertThat(org.mariadb.jdbc.Configuration.parse(url).connectTimeout()).isEqualTo(2_000);
        assertThat(org.mariadb.jdbc.Configuration.parse(url).socketTimeout()).isEqualTo(10_000);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "mysql+getlock:",
                "mysql+getlock://",
                "mysql+getlock:///orders",
                "mysql+getlock://db1,db2/orders",
                "mysql+getlock://sequential:db1/orders",
                "mysql+getlock://me:top@secret@host/orders",
                "mysql+getlock://me:top/secret@host/orders",
                "mysql+getlock://me:top%secret@host/orders",
                "mysql+getlock://me:secret@host:port/orders",
                "mysql+getlock://host/orders?sslmod=trust&password=secret",
                "mariadb+getlock://host/orders?socketTimeot=3",
                "mariadb+getlock://host/orders?sslMode",
            })
    void givenWrongDsn_whenConnected_thenAnErrorThatSaysWhatIsRightAndNoSecret(String dsn) {
        assertThatThrownBy(() -> LockFactory.connect(dsn))
                .isInstanceOf(IllegalArgumentException.class)
                .hasNoCause()
                .hasMessageContaining("DSN")
                .hasMessageNotContaining("secret");
    }

    @Test
    void givenTheStore_whenAskedWhatItCannot_thenItSaysSo() {
        try (LockFactory locks = LockFactory.connect("mysql+getlock://me@127.0.0.1:1/")) {
            assertThat(locks.supports(Capability.LEASES)).isFalse();
        }
    }
}
