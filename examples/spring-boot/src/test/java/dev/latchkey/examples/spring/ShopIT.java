package dev.latchkey.examples.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.latchkey.servers.PostgresServer;
import dev.latchkey.testkit.ChildJvm;
import dev.latchkey.testkit.SecondProcess;
import dev.latchkey.testkit.ServerAddress;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Three instances on one database. */
class ShopIT {

    private static final int REQUESTS = 60;

    private final PostgresServer database = PostgresServer.start();
    private final List<Process> instances = new ArrayList<>();
    private final List<String> addresses = new ArrayList<>();
    private final HttpClient client = HttpClient.newHttpClient();

    @TempDir
    private Path directory = Path.of("");

    @BeforeEach
    void start() throws Exception {
        for (int i = 0; i < 3; i++) {
            addresses.add("http://" + start(i));
            // One after the other: all create the tables.
            await().atMost(SecondProcess.LIMIT.multipliedBy(2)).until(() -> isUp(addresses.size() - 1));
        }
    }

    @AfterEach
    void stop() {
        instances.forEach(instance -> instance.destroyForcibly().onExit().join());
        database.close();
    }

    @Test
    void givenThreeInstances_whenTheyChangeOneOrder_thenNoItemIsLost_andTheJobIsRunByOne() throws Exception {
        List<CompletableFuture<HttpResponse<String>>> responses = new ArrayList<>();
        for (int i = 0; i < REQUESTS; i++) {
            responses.add(client.sendAsync(
                    post(addresses.get(i % addresses.size()) + "/orders/7/items/1"),
                    HttpResponse.BodyHandlers.ofString()));
        }
        for (CompletableFuture<HttpResponse<String>> response : responses) {
            assertThat(response.get().statusCode()).as(this::printed).isEqualTo(200);
        }
        // The job may hold its own lock just then.
        assertThat(get(addresses.get(0) + "/actuator/locks"))
                .startsWith("{\"locks\":[")
                .doesNotContain("order:7");
        assertThat(get(addresses.get(0) + "/actuator/health")).contains("UP");

        try (var connection = database.connect();
                Statement statement = connection.createStatement()) {
            assertThat(number(statement, "SELECT items FROM orders")).isEqualTo(REQUESTS);
            await().atMost(SecondProcess.LIMIT).until(() -> number(statement, "SELECT count(*) FROM report") >= 3);
            // The token is the time of the grant, in microseconds.
            assertThat(
                            number(
                                    statement,
                                    "SELECT min(d) / 1000 FROM (SELECT token - lag(token) OVER (ORDER BY token) AS d FROM report) AS t"))
                    .isGreaterThanOrEqualTo(900);
        }
    }

    private ServerAddress start(int number) throws IOException {
        ServerAddress address = ServerAddress.unused();
        instances.add(ChildJvm.of("shop")
                .start(new ProcessBuilder(
                                "-Xmx256m",
                                ShopApplication.class.getName(),
                                "--server.port=" + address.port(),
                                "--spring.datasource.url=" + database.jdbcUrl(),
                                "--report.cron=* * * * * *",
                                "--report.min-hold=900ms")
                        .redirectErrorStream(true)
                        .redirectOutput(directory.resolve(number + ".log").toFile())));
        return address;
    }

    private boolean isUp(int number) throws InterruptedException {
        if (!instances.get(number).isAlive()) {
            throw new AssertionError("ended: " + printed());
        }
        try {
            return get(addresses.get(number) + "/actuator/health").contains("UP");
        } catch (IOException e) {
            return false;
        }
    }

    private String printed() {
        StringBuilder all = new StringBuilder();
        for (int i = 0; i < instances.size(); i++) {
            try {
                all.append(Files.readString(directory.resolve(i + ".log")));
            } catch (IOException e) {
                all.append(e);
            }
        }
        return all.toString();
    }

    private String get(String uri) throws IOException, InterruptedException {
        return client.send(HttpRequest.newBuilder(URI.create(uri)).build(), HttpResponse.BodyHandlers.ofString())
                .body();
    }

    private static HttpRequest post(String uri) {
        return HttpRequest.newBuilder(URI.create(uri))
                .POST(HttpRequest.BodyPublishers.noBody())
                .build();
    }

    private static long number(Statement statement, String sql) throws Exception {
        try (ResultSet rows = statement.executeQuery(sql)) {
            return rows.next() ? rows.getLong(1) : 0;
        }
    }
}
