package dev.latchkey.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.latchkey.Key;
import dev.latchkey.servers.PatientDsn;
import dev.latchkey.servers.PostgresServer;
import dev.latchkey.servers.RedisServer;
import dev.latchkey.testkit.TimeLimits;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Neither a password of a DSN nor the token of a hold is in what the command prints or the page gets, with {@code --verbose} and
 * after failures too. What a process logs, counts and records, {@link WatchedLocksIT} looks through.
 */
class SecretsIT {

    private static final String PASSWORD = "sesame-0a6c2f";
    private static final String WRONG_PASSWORD = "mistyped-77b1e0";
    private static final String PAGE_SECRET = "open-the-page-5d1c90";
    private static final Pattern KEY = Pattern.compile("\"key\":\"(lk1\\.[^\"]+)\"");

    @TempDir
    Path directory;

    @BeforeAll
    static void build() throws Exception {
        LockScript.buildIfNeedBe();
    }

    @Test
    void givenRedis_whenTheCommandIsUsed_thenNoSecretIsShown() throws Exception {
        try (RedisServer server = RedisServer.start()) {
            server.call("CONFIG", "SET", "requirepass", PASSWORD);

            assertNoSecretIsShown(PatientDsn.redis(server.dsn().replace("redis://", "redis://:" + PASSWORD + "@")));
        }
    }

    @Test
    void givenPostgreSql_whenTheCommandIsUsed_thenNoSecretIsShown() throws Exception {
        try (PostgresServer server = PostgresServer.start()) {
            try (Connection connection = DriverManager.getConnection(PostgresServer.jdbcUrl(server.dsn()));
                    Statement statement = connection.createStatement()) {
                statement.execute("CREATE ROLE watched LOGIN SUPERUSER PASSWORD '" + PASSWORD + "'");
            }

            assertNoSecretIsShown(server.dsn().replaceFirst("//[^@/]*@", "//watched:" + PASSWORD + "@"));
        }
    }

    @Test
    void givenStoresThatCannotBeUsed_whenTheCommandIsUsed_thenNoPasswordIsShown() throws Exception {
        try (RedisServer server = RedisServer.start()) {
            server.call("CONFIG", "SET", "requirepass", PASSWORD);
            for (String dsn : List.of(
                    server.dsn().replace("redis://", "redis://:" + WRONG_PASSWORD + "@"),
                    "redis://:" + WRONG_PASSWORD + "@localhost:1",
                    "redis://:" + WRONG_PASSWORD + "@local host:x",
                    "redis-sentinel://:" + WRONG_PASSWORD + "@localhost:1",
                    "postgresql://me:" + WRONG_PASSWORD + "@localhost:1/none",
                    "jdbc:postgresql://localhost:1/none?user=me&password=" + WRONG_PASSWORD,
                    "mariadb://me:" + WRONG_PASSWORD + "@localhost:1/none",
                    "mongodb://me:" + WRONG_PASSWORD + "@localhost:1/none?serverSelectionTimeoutMS=200",
                    "combined:redis://:" + WRONG_PASSWORD + "@localhost:1;flock",
                    "nosuch://me:" + WRONG_PASSWORD + "@localhost")) {
                try (LockScript lock = new LockScript(directory, dsn)) {
                    run(lock, "acquire", "--verbose", "-n", "orders");
                    run(lock, "ls", "--verbose");
                    // It may serve on, and show that the store is away.
                    LockScript.Started serve = lock.start("serve", "--verbose", "--port", "0");
                    await().atMost(TimeLimits.LIMIT)
                            .until(() -> printed(serve).contains("http://")
                                    || !serve.process().isAlive());

                    assertThat(lock.printed()).as(dsn).isNotEmpty().doesNotContain(WRONG_PASSWORD);
                }
            }
        }
    }

    private void assertNoSecretIsShown(String dsn) throws Exception {
        assertThat(dsn).contains(PASSWORD);
        Path pageSecret = Files.writeString(directory.resolve("page-secret"), PAGE_SECRET + "\n");
        try (LockScript holder = new LockScript(directory, dsn);
                LockScript lock = new LockScript(directory, dsn)) {
            // Its stdout is the only place where a key is meant to be.
            LockScript.Started acquired = holder.start("acquire", "--json", "--verbose", "--ttl", "10m", "orders");
            assertThat(acquired.exitCode(seconds())).as(acquired.printed()).isZero();
            Matcher key = KEY.matcher(Files.readString(acquired.out()));
            assertThat(key.find()).isTrue();
            LockScript.Started waiting = lock.start("run", "--verbose", "orders", "--", "env");
            waitFor(waiting, "acquiring");

            List<String> pages = look(lock, pageSecret);
            change(lock, key.group(1));
            assertThat(waiting.exitCode(seconds())).as(waiting.printed()).isZero();

            String shown = lock.printed() + Files.readString(acquired.err());
            assertThat(shown).contains("acquiring \"orders\"", "\"fencingToken\"", "\u001b[?1049h", "LOCK_TOKEN=");
            assertThat(pages.toString()).contains("event: all", "\"orders\"", "<!doctype html>");
            assertThat(shown + pages)
                    // The environment of the child is that of the command.
                    .satisfies(all ->
                            assertThat(all.replace("LATCHKEY_STORE=" + dsn, "")).doesNotContain(PASSWORD))
                    .doesNotContain(key.group(1), Key.deserialize(key.group(1)).token(), PAGE_SECRET);
        }
    }

    private List<String> look(LockScript lock, Path pageSecret) throws Exception {
        for (String verb : List.of("status orders", "who orders", "ls", "top")) {
            run(lock, (verb + " --verbose").split(" "));
            run(lock, (verb + " --json").split(" "));
        }
        run(lock, "acquire", "--verbose", "-n", "orders");
        LockScript.Started top = lock.startInTerminal("top --verbose");
        waitFor(top, "q quit");
        top.process().getOutputStream().write('q');
        top.process().getOutputStream().flush();
        assertThat(top.exitCode(seconds())).isZero();

        LockScript.Started serve =
                lock.start("serve", "--verbose", "--port", "0", "--auth-token-file", pageSecret.toString());
        waitFor(serve, "/\n");
        Matcher url = Pattern.compile("http://\\S+/").matcher(serve.printed());
        assertThat(url.find()).isTrue();
        List<String> pages = new ArrayList<>();
        for (String path : List.of("", "page.js", "api/session", "api/locks", "nothing")) {
            pages.add(get(url.group() + path, "Bearer " + PAGE_SECRET));
            pages.add(get(url.group() + path, "Bearer of-something-else"));
        }
        pages.add(firstEvents(url.group() + "api/events"));
        return pages;
    }

    private static void change(LockScript lock, String key) throws Exception {
        LockScript.Started refreshed = lock.startWithKey(key, "refresh", "--verbose", "--json");
        assertThat(refreshed.exitCode(seconds())).as(refreshed.printed()).isZero();
        String token = Files.readString(refreshed.out()).replaceAll("(?s).*\"fencingToken\":(\\d+).*", "$1");
        run(lock, "break", "--verbose", "--yes", "--token", "1", "orders");
        LockScript.Started ended = lock.start("break", "--verbose", "--yes", "--token", token, "orders");
        assertThat(ended.exitCode(seconds())).as(ended.printed()).isZero();
        LockScript.Started released = lock.startWithKey(key, "release", "--verbose");
        assertThat(released.exitCode(seconds())).as("a hold that is lost").isNotZero();
    }

    private static void run(LockScript lock, String... arguments) throws Exception {
        int unused = lock.start(arguments).exitCode(seconds());
    }

    private static String get(String url, String authorization) throws Exception {
        var answer = HttpClient.newHttpClient().send(request(url, authorization), BodyHandlers.ofString());
        return answer.statusCode() + " " + answer.headers().map() + " " + answer.body();
    }

    private static String firstEvents(String url) throws Exception {
        var answer =
                HttpClient.newHttpClient().send(request(url, "Bearer " + PAGE_SECRET), BodyHandlers.ofInputStream());
        StringBuilder events = new StringBuilder();
        long began = System.nanoTime();
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(answer.body(), StandardCharsets.UTF_8))) {
            while (!events.toString().contains("orders")) {
                String line = lines.readLine();
                assertThat(line).as("after %s", events).isNotNull();
                // A page that is told nothing else gets a comment every two seconds.
                assertThat(Duration.ofNanos(System.nanoTime() - began))
                        .as("for %s", events)
                        .isLessThan(TimeLimits.LIMIT);
                events.append(line).append('\n');
            }
        }
        return events.toString();
    }

    private static HttpRequest request(String url, String authorization) {
        return HttpRequest.newBuilder(URI.create(url))
                .header("Authorization", authorization)
                .build();
    }

    private static void waitFor(LockScript.Started started, String part) {
        await().atMost(TimeLimits.LIMIT)
                .until(() ->
                        started.printed().contains(part) || !started.process().isAlive());
        assertThat(printed(started)).contains(part);
    }

    private static String printed(LockScript.Started started) {
        try {
            return started.printed();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static long seconds() {
        return TimeLimits.LIMIT.toSeconds();
    }
}
