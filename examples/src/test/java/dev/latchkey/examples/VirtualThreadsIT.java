package dev.latchkey.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.latchkey.servers.PatientDsn;
import dev.latchkey.servers.PostgresServer;
import dev.latchkey.servers.RedisServer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who works with locks on virtual threads keeps the threads that carry them for others, on the newest JDK of this machine. */
@Tag("slow")
class VirtualThreadsIT {

    private static final int FIRST_WITH_VIRTUAL_THREADS = 21;

    @TempDir
    private Path directory = Path.of("");

    @ParameterizedTest
    @ValueSource(strings = {"in-memory", "redis", "postgresql", "h2"})
    void givenVirtualThreads_whenTheyWorkWithLocks_thenNoneIsPinned(String store) throws Exception {
        Optional<Path> java = Jdks.newestFrom(FIRST_WITH_VIRTUAL_THREADS);
        assumeTrue(java.isPresent(), () -> "needs a JDK from version 21 on, in " + Jdks.FOLDER);
        List<String> said = new ArrayList<>();
        try (Program program =
                Program.start(java.orElseThrow(), VirtualThreads.class, dsn(store), directory.toString())) {
            for (String line = program.line(); !line.equals("null"); line = program.line()) {
                said.add(line);
            }
            assertThat(program.end()).as("said %s", said).isZero();
        }

        assertThat(said).filteredOn(line -> line.startsWith("pinned: ")).isEmpty();
        // One thread that was pinned on purpose; each of the others has done its rounds, twice.
        assertThat(said).containsExactly("seen: 1", "done: 800");
    }

    private String dsn(String store) {
        return switch (store) {
            case "redis" -> PatientDsn.redis(RedisServer.sharedDsn());
            case "postgresql" -> PostgresServer.sharedDsn();
            case "h2" -> "jdbc:h2:" + directory.resolve("database");
            default -> store;
        };
    }
}
