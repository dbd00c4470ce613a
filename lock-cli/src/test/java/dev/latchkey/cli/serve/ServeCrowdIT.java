package dev.latchkey.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Many ask for a long list at once: all get the same bytes, which are in the heap once. Who does not read has to go. */
@Tag("slow")
class ServeCrowdIT {

    private static final int HELD = 10_000;
    private static final int NOT_READING = 120;

    /** More than there are threads: some of them are closed. */
    private static final int CROWD = 300;

    private static final int FEWER = 60;
    private static final int LIMIT_MILLIS = (int) Duration.ofMinutes(5).toMillis();

    @TempDir
    private Path directory = Path.of("");

    @Test
    void givenManyConnections_whenTheyAskForTenThousandLocks_thenTheServerGoesOnWithin256Megabytes() throws Exception {
        List<Socket> idle = new ArrayList<>();
        try (ServedRedis served = new ServedRedis(HELD, directory)) {
            for (int i = 0; i < NOT_READING; i++) {
                idle.add(served.ask("/api/locks", 4096));
            }
            assertThat(ask(served, CROWD)).anySatisfy(ServeCrowdIT::assertComplete);
            assertThat(ask(served, FEWER)).allSatisfy(ServeCrowdIT::assertComplete);
            assertThat(served.isRunning()).isTrue();
            assertThat(served.errors()).isEmpty();
        } finally {
            for (Socket socket : idle) {
                socket.close();
            }
        }
    }

    private static void assertComplete(String answer) {
        assertThat(answer)
                .startsWith("HTTP/1.1 200 ")
                .contains("\"name\":\"order-" + (HELD - 1) + "\"")
                .endsWith("}]}");
    }

    /** What so many get who ask at once; nothing for those that are closed. */
    private static List<String> ask(ServedRedis served, int many) throws Exception {
        ExecutorService executor = Executors.newFixedThreadPool(many);
        try {
            List<Future<String>> asked = new ArrayList<>();
            for (int i = 0; i < many; i++) {
                asked.add(executor.submit(() -> answer(served)));
            }
            List<String> answers = new ArrayList<>();
            for (Future<String> one : asked) {
                answers.add(one.get());
            }
            return answers;
        } finally {
            executor.shutdownNow();
        }
    }

    private static String answer(ServedRedis served) throws Exception {
        try (Socket socket = served.ask("/api/locks", 0);
                InputStream in = socket.getInputStream()) {
            socket.setSoTimeout(LIMIT_MILLIS);
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (SocketException e) {
            return "";
        }
    }
}
