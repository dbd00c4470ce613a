package dev.latchkey.mysql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Capability;
import dev.latchkey.LockFactory;
import java.io.File;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
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

    /** It has no fencing tokens, and a combined store would have to do without them unnoticed. */
    @ParameterizedTest
    @ValueSource(strings = {"consensus", "unanimous"})
    void givenAMemberOfACombinedStore_whenConnected_thenRefusedWithWhatToUse(String strategy) {
        assertThatThrownBy(() -> LockFactory.connect(
                        "combined:" + strategy + "(in-memory,in-memory,mysql+getlock://me:secret@db1/orders)"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("MySqlLockStore")
                .hasMessageContaining("neither a fencing token nor a lease")
                .hasMessageContaining("dev.latchkey:lock-store-jdbc")
                .hasMessageNotContaining("secret");
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
    void givenNoDriver_whenConnected_thenAnErrorThatNamesItsArtifact() throws Exception {
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        List<URL> others = new ArrayList<>();
        for (String entry : classPath.split(File.pathSeparator, -1)) {
            if (!entry.contains("mariadb-java-client")) {
                others.add(new File(entry).toURI().toURL());
            }
        }
        try (URLClassLoader loader =
                new URLClassLoader(others.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
            Object provider = loader.loadClass(MySqlLockStore.Provider.class.getName())
                    .getConstructor()
                    .newInstance();
            Method open = provider.getClass().getMethod("open", String.class);

            assertThat(provider.getClass().getMethod("schemes").invoke(provider))
                    .isEqualTo(ConnectionSettings.SCHEMES);
            assertThatThrownBy(() -> open.invoke(provider, "mariadb+getlock://me:secret@db1/?sslMode=trust"))
                    .cause()
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("org.mariadb.jdbc:mariadb-java-client")
                    .hasMessageNotContaining("secret");
        }
    }

    @Test
    void givenTheStore_whenAskedWhatItCannot_thenItSaysSo() {
        try (LockFactory locks = LockFactory.connect("mysql+getlock://me@127.0.0.1:1/")) {
            assertThat(locks.supports(Capability.LEASES)).isFalse();
        }
    }
}
