package dev.latchkey.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.latchkey.LockFactory;
import dev.latchkey.jdbc.JdbcStore;
import dev.latchkey.servers.PostgresServer;
import dev.latchkey.testkit.SecondProcess;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.server.context.WebServerInitializedEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** SIGTERM while requests are under way: they come to their end under their locks, and leave none behind. */
class ShutdownIT {

    private static final int REQUESTS = 100;

    private static final String HELD = "SELECT count(*) FROM latchkey_lock WHERE resource LIKE 'work:%'"
            + " AND expires_at > extract(epoch FROM clock_timestamp()) * 1000000";

    @TempDir
    private Path directory = Path.of("");

    @ParameterizedTest
    @ValueSource(classes = {Application.class, OwnFactoryApplication.class})
    void givenRequestsUnderWay_whenSigterm_thenTheyEndUnderTheirLocksAndNothingIsHeldAfterwards(Class<?> application)
            throws Exception {
        try (PostgresServer database = PostgresServer.start();
                AppProcess app = AppProcess.start(
                        application,
                        directory,
                        "--server.port=0",
                        "--latchkey.store=jdbc",
                        "--spring.lifecycle.timeout-per-shutdown-phase=100s",
                        "--spring.datasource.url=" + database.jdbcUrl())) {
            String port = app.awaitLine("port ");
            try (var connection = database.connect();
                    var statement = connection.createStatement()) {
                statement.execute("CREATE TABLE done (id int)");
                List<CompletableFuture<HttpResponse<String>>> responses = request(port);
                await().atMost(SecondProcess.LIMIT).until(() -> count(statement.executeQuery(HELD)) == REQUESTS);

                app.terminate();
                int exit = app.awaitEnd();

                assertThat(count(statement.executeQuery(HELD)))
                        .as("held after the end")
                        .isZero();
                assertThat(responses)
                        .allSatisfy(response -> assertThat(response.get().statusCode())
                                .as("%s, exit %s", app.output(), exit)
                                .isEqualTo(200));
                assertThat(count(statement.executeQuery("SELECT count(*) FROM done")))
                        .isEqualTo(REQUESTS);
            }
            assertThat(app.output()
                            .lines()
                            .filter(line -> line.matches(".*( WARN | ERROR |has been closed|Exception).*")))
                    .isEmpty();
        }
    }

    private static List<CompletableFuture<HttpResponse<String>>> request(String port) {
        HttpClient client = HttpClient.newHttpClient();
        return IntStream.range(0, REQUESTS)
                .mapToObj(id -> HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/work/" + id))
                        .build())
                .map(request -> client.sendAsync(request, HttpResponse.BodyHandlers.ofString()))
                .toList();
    }

    private static int count(ResultSet rows) throws Exception {
        rows.next();
        return rows.getInt(1);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(
            excludeName = {
                "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
                "org.springframework.boot.mongodb.autoconfigure.MongoAutoConfiguration"
            })
    @Import({Requests.class, Work.class})
    static class Application {

        public static void main(String[] args) {
            SpringApplication.run(Application.class, args);
        }

        @Bean
        ApplicationListener<WebServerInitializedEvent> port() {
            return event -> {
                System.out.println("port " + event.getWebServer().getPort());
                System.out.flush();
            };
        }

        @Bean
        Closing closing() {
            return new Closing();
        }
    }

    /** Declares the factory itself, and knows nothing of hooks. */
    @Configuration(proxyBeanMethods = false)
    @Import(Application.class)
    static class OwnFactoryApplication {

        public static void main(String[] args) {
            SpringApplication.run(OwnFactoryApplication.class, args);
        }

        @Bean
        JdbcStore ownStore(DataSource dataSource) {
            return new JdbcStore(dataSource);
        }

        @Bean
        LockFactory ownFactory(JdbcStore ownStore) {
            return new LockFactory(ownStore);
        }
    }

    /** What is under way ends no sooner than the shutdown has begun. */
    static final class Closing implements ApplicationListener<ContextClosedEvent> {

        private final CountDownLatch closing = new CountDownLatch(1);

        @Override
        public void onApplicationEvent(ContextClosedEvent event) {
            closing.countDown();
        }

        void await() throws InterruptedException {
            closing.await();
        }
    }

    @RestController
    static class Requests {

        private final Work work;
        private final Closing closing;

        Requests(Work work, Closing closing) {
            this.work = work;
            this.closing = closing;
        }

        @GetMapping("/work/{id}")
        String work(@PathVariable int id) throws InterruptedException {
            work.work(id, closing);
            return "done";
        }
    }

    static class Work {

        private final Table table;

        Work(JdbcClient sql) {
            this.table = new Table(sql);
        }

        @Locked("'work:' + #id")
        void work(int id, Closing closing) throws InterruptedException {
            closing.await();
            // The hook of a factory that is not left to the application would have released it by now.
            var lock = CurrentLock.get();
            Awaitility.await()
                    .atMost(SecondProcess.LIMIT)
                    .failFast("lost while it worked", lock::isLost)
                    .during(Duration.ofMillis(500))
                    .until(() -> !lock.isLost());
            table.insert(id);
        }
    }

    record Table(JdbcClient sql) {
        void insert(int id) {
            sql.sql("INSERT INTO done VALUES (?)").param(id).update();
        }
    }
}
