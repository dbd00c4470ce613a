package dev.latchkey.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ServerSearchTest {

    private static final Launcher FIRST = new BinaryLauncher(Path.of("first"));
    private static final Launcher SECOND = new BinaryLauncher(Path.of("second"));

    @Test
    void givenTheFirstWayFails_whenSearched_thenTheSecond() {
        ServerSearch search = new ServerSearch("Redis server", "apt-get install redis-server")
                .or("Docker", () -> Optional.of(FIRST))
                .or("binary", () -> Optional.of(SECOND));

        Launcher found = search.first(launcher -> {
            if (launcher == FIRST) {
                throw new IllegalStateException("does not start");
            }
        });

        assertThat(found).isSameAs(SECOND);
    }

    @Test
    void givenNoWay_whenSearched_thenItFailsWithTheLineThatHelps() {
        ServerSearch search = new ServerSearch("Redis server", "apt-get install redis-server")
                .or("Docker", Optional::empty)
                .or("binary", () -> Optional.of(SECOND));

        assertThatThrownBy(() -> search.first(launcher -> {
                    throw new IllegalStateException("does not start");
                }))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("apt-get install redis-server")
                .hasSuppressedException(new IllegalStateException("does not start"));
    }
}
