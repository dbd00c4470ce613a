package dev.latchkey.etcd;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.LockFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DsnTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "etcd:",
                "etcd://",
                "etcd://me:secret@",
                "etcd://me:secret/@h",
                "etcd://me:sec%ret@h",
                "etcd://me:12?secret@h",
                "etcd://me:12?timeout=5s&secret@h",
                "etcd://h:port",
                "etcd://h,,h",
                "etcd://h?timeout=5",
                "etcd://h?timeout=0s",
                "etcd://h?time=5s"
            })
    void givenAWrongDsn_whenConnected_thenAnErrorThatSaysWhatIsRightAndNoSecret(String dsn) {
        assertThatThrownBy(() -> LockFactory.connect(dsn))
                .isInstanceOf(IllegalArgumentException.class)
                .hasNoCause()
                .hasMessageContaining("DSN")
                .hasMessageNotContaining("secret");
    }
}
