package dev.latchkey.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.LockFactory;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ProviderTest {

    @ParameterizedTest
    @CsvSource({
        "zookeeper://z1,                              z1:2181",
        "zookeeper://z1:2182,                         z1:2182",
        "'zookeeper://z1:2181,z2:2182,z3',            'z1:2181,z2:2182,z3:2181'",
        "'zookeeper://z1,z2/app/locks',               'z1:2181,z2:2181/app/locks'",
        "zookeeper://z1/,                             z1:2181",
        "zookeeper://[::1]:2182/app,                  [::1]:2182/app",
        "zookeeper://[::1],                           [::1]:2181",
    })
    void givenHostsAndChroot_whenRead_thenTheClientGetsThem(String dsn, String expected) {
        assertThat(Dsn.parse(dsn).connectString()).isEqualTo(expected);
    }

    @Test
    void givenUserAndOptions_whenRead_thenAllOfIt() {
        Dsn dsn = Dsn.parse("zookeeper://me:p%40ss+w%2Fd@z1/app?sessionTimeout=4s&root=/locks@app");

        assertThat(dsn.credentials()).contains("me:p@ss+w/d");
        assertThat(dsn.sessionTimeout()).isEqualTo(Duration.ofSeconds(4));
        assertThat(dsn.root()).isEqualTo("/locks@app");
        assertThat(dsn.toString()).doesNotContain("p@ss");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "zookeeper:",
                "zookeeper://",
                "zookeeper://me:secret@",
                "zookeeper://me:secret/@z1",
                "zookeeper://me:12?secret@z1",
                "zookeeper://me:12//secret@z1",
                "zookeeper://me:sec%ret@z1",
                "zookeeper://z1:port",
                "zookeeper://z1,,z2",
                "zookeeper://z1//app",
                "zookeeper://z1/app/../b",
                "zookeeper://z1?sessionTimeout=5",
                "zookeeper://z1?sessionTimeout=0s",
                "zookeeper://z1?sessionTimeout=25h",
                "zookeeper://z1?root=locks",
                "zookeeper://z1?rot=/locks",
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
        LockFactory.connect("zookeeper://me:secret@127.0.0.1:1/app").close();
    }
}
