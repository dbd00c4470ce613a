package dev.latchkey.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LockServeIT extends CliFixture {

    @Test
    void givenServed_whenAsked_thenListed_andASignalEndsIt() throws Exception {
        Path secret = Files.writeString(directory.resolve("secret"), "a-secret-of-the-page\n");
        var serve = serving("--port", "0", "--auth-token-file", secret.toString(), "job-00010");
        await().atMost(Cli.PATIENCE).until(() -> serve.out().endsWith("/\n"));
        assertThat(serve.out()).matches("http://127\\.0\\.0\\.1:[0-9]+/\n");

        HttpRequest request = HttpRequest.newBuilder(URI.create(serve.out().strip() + "api/locks"))
                .header("Authorization", "Bearer a-secret-of-the-page")
                .build();
        var answer = HttpClient.newHttpClient().send(request, BodyHandlers.ofString());

        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.body()).contains("job-000109").doesNotContain("job-000110", "a-secret-of-the-page");
        serve.signal("TERM");
        assertThat(serve.exitCode()).isEqualTo(143);
        assertThat(serve.err()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--bind 0.0.0.0",
                "--bind ::",
                "--port 70000",
                "--interval 1ms",
                "--auth-token-file /no/such/file",
                "--auth-token-file /dev/null"
            })
    void givenWrongOrOpenToOthers_whenServed_then64(String options) {
        var serve = serving(options.split(" "));

        assertThat(serve.exitCode()).as(serve.err()).isEqualTo(64);
        assertThat(serve.err()).startsWith("lock: ").hasLineCount(1);
    }

    private Cli.Running serving(String... arguments) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                "target/lock-cli.jar:target/test-classes",
                Main.class.getName(),
                "serve",
                "--store",
                PlentyStore.DSN + "300"));
        command.addAll(List.of(arguments));
        return cli.start(command, "");
    }
}
