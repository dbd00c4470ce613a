package dev.latchkey.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.servers.Browser;
import dev.latchkey.servers.PatientDsn;
import dev.latchkey.servers.RedisServer;
import dev.latchkey.testkit.ServerAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

/** The page under the actuator of a real application, over a real Redis: in a browser, and as foreign pages would use it. */
@Tag("slow")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class LockConsoleIT {

    private static final String EXPOSED = "management.endpoints.web.exposure.include=lockconsole";
    private static final String UNRESTRICTED = "management.endpoint.lockconsole.access=unrestricted";
    private static final String PAGE = "/actuator/lockconsole";
    private static final String STATE = "document.getElementById('state').dataset.state";
    private static final Duration TTL = Duration.ofMinutes(5);

    private final RedisServer redis = RedisServer.start();
    private final LockFactory elsewhere = LockFactory.connect(PatientDsn.redis(redis.dsn()));
    private final HttpClient http = HttpClient.newHttpClient();
    private final List<Lock> held = new ArrayList<>();
    private Optional<ConfigurableApplicationContext> started = Optional.empty();
    private Optional<Browser> browser = Optional.empty();

    @AfterEach
    void stop() {
        started.ifPresent(ConfigurableApplicationContext::close);
        held.forEach(Lock::release);
        held.clear();
    }

    @BeforeAll
    void startBrowser() throws Exception {
        browser = Optional.of(new Browser());
    }

    @AfterAll
    void end() throws Exception {
        if (browser.isPresent()) {
            browser.get().close();
        }
        elsewhere.close();
        redis.close();
    }

    @Test
    void givenHeldByAnotherProcess_whenOpenedInABrowser_thenShownAsItChanges() throws Exception {
        Lock scripted = hold("<script>document.title='owned'</script>");
        start(EXPOSED);

        Browser page = open(PAGE);

        page.awaitTrue("document.getElementById('space').textContent.includes('<script>document.title')");
        assertThat(page.value("document.title")).isEqualTo("Latchkey");
        assertThat(page.value("document.getElementById('store').textContent")).isEqualTo("redis");
        Lock unused = hold("nightly");
        page.awaitTrue("locks.has('nightly') && locks.size === 2");
        assertThat(scripted.release()).isTrue();
        page.awaitTrue("locks.size === 1");
        page.type(Browser.DOWN + Browser.ENTER);
        page.awaitTrue("!document.getElementById('detail').hidden");
        assertThat(page.value("document.getElementById('break').hidden")).isEqualTo("true");
        assertThat(page.value("(() => { const s = document.createElement('script'); s.textContent = 'window.owned = 1';"
                        + " document.body.append(s); return window.owned; })()"))
                .isEqualTo("undefined");
    }

    @Test
    void givenUnrestricted_whenTheTokenIsTyped_thenTheHoldIsEnded() throws Exception {
        Lock lock = hold("nightly");
        Lock other = hold("other");
        start(EXPOSED, UNRESTRICTED);
        Browser page = open(PAGE);
        page.awaitTrue("locks.size === 2");

        page.type("/nightly" + Browser.ENTER + Browser.DOWN);
        page.awaitTrue("chosen === 'nightly'");
        page.type("b" + lock.fencingToken().orElseThrow() + Browser.ENTER);

        page.awaitTrue("document.getElementById('break-answer').textContent === 'The hold is ended.'");
        assertThat(elsewhere.holders("nightly")).isEmpty();
        assertThat(other.isAcquired()).isTrue();
    }

    @Test
    void givenTheApplicationIsGone_whenItIsBack_thenBothAreShown() throws Exception {
        Lock unused = hold("nightly");
        // One that nobody else is given while it is away.
        int port = start(ServerAddress.unused().port(), EXPOSED);
        Browser page = open(PAGE);
        page.awaitTrue(STATE + " === 'live'");

        started.orElseThrow().close();
        page.awaitTrue(STATE + " === 'gone'");

        int again = start(port, EXPOSED);
        assertThat(again).isEqualTo(port);
        page.awaitTrue(STATE + " === 'live' && locks.size === 1");
    }

    @ParameterizedTest
    @CsvSource({
        "management.endpoints.web.path-mapping.lockconsole=ops/locks, /actuator/ops/locks",
        "management.endpoints.web.base-path=/manage, /manage/lockconsole",
        "management.endpoints.web.base-path=/, /lockconsole",
        "server.servlet.context-path=/shop, /shop/actuator/lockconsole"
    })
    void givenAnotherPath_whenOpened_thenThePageFindsItsFilesAndData(String property, String path) throws Exception {
        Lock unused = hold("nightly");
        start(EXPOSED, property);

        open(path).awaitTrue(STATE + " === 'live' && locks.has('nightly')");
    }

    @Test
    void givenAPortOfItsOwn_whenOpened_thenThePageIsThere() throws Exception {
        Lock unused = hold("nightly");
        int port = start(EXPOSED, "management.server.port=0");
        int management =
                started.orElseThrow().getEnvironment().getRequiredProperty("local.management.port", Integer.class);

        assertThat(management).isNotEqualTo(port);
        assertThat(get("http://localhost:" + port + PAGE).statusCode()).isEqualTo(404);
        Browser page = browser.orElseThrow();
        page.open("http://localhost:" + management + PAGE);
        page.awaitTrue(STATE + " === 'live' && locks.has('nightly')");
        assertGuarded(get("http://localhost:" + management + PAGE));
    }

    @Test
    void givenNotExposed_thenNothingIsThere() throws Exception {
        start();

        for (String path : List.of("", "/page.js", "/api/changes")) {
            assertThat(get(url(PAGE + path)).statusCode()).isEqualTo(404);
        }
    }

    @Test
    void givenAnyAnswer_thenNotStoredAndNoForeignScript() throws Exception {
        start(EXPOSED);

        for (String path : List.of("", "/page.js", "/page.css", "/icon.svg", "/api/session", "/api/changes")) {
            HttpResponse<String> answer = get(url(PAGE + path));
            assertThat(answer.statusCode()).as(path).isEqualTo(200);
            assertGuarded(answer);
        }
        assertThat(get(url(PAGE + "/no/such")).statusCode()).isEqualTo(404);
        assertThat(get(url(PAGE + "/../../etc/passwd")).statusCode()).isIn(400, 404);
    }

    private static void assertGuarded(HttpResponse<String> answer) {
        assertThat(answer.headers().firstValue("Content-Security-Policy"))
                .hasValueSatisfying(policy ->
                        assertThat(policy).contains("default-src 'none'; script-src 'self'", "frame-ancestors 'none'"));
        assertThat(answer.headers().firstValue("Cache-Control")).hasValue("no-store");
        assertThat(answer.headers().firstValue("X-Content-Type-Options")).hasValue("nosniff");
        assertThat(answer.headers().firstValue("Access-Control-Allow-Origin")).isEmpty();
    }

    @Test
    void givenPrefix_whenOpened_thenOnlyTheNamesOfThisApplication() throws Exception {
        Lock other = hold("other");
        Lock unused = hold("billing:nightly");
        start(EXPOSED, UNRESTRICTED, "latchkey.prefix=billing");

        HttpResponse<String> all = get(url(PAGE + "/api/changes"));

        assertThat(all.body()).contains("\"name\":\"billing:nightly\"").doesNotContain("\"other\"");
        assertThat(endByJson("other", other).statusCode()).isEqualTo(403);
        assertThat(other.isAcquired()).isTrue();
    }

    @Test
    void givenHeld_whenListed_thenNoSecretTokenIsShown() throws Exception {
        Lock lock = hold("nightly");
        start(EXPOSED);

        HttpResponse<String> all = get(url(PAGE + "/api/changes"));

        assertThat(all.body()).contains("\"token\":\"" + lock.fencingToken().orElseThrow() + "\"");
        assertThat(all.body()).doesNotContain(lock.key().token(), lock.key().serialize());
    }

    @Test
    void givenReadOnly_whenEnded_thenRefusedAndStillHeld() throws Exception {
        Lock lock = hold("nightly");
        start(EXPOSED);

        assertThat(endByJson("nightly", lock).statusCode()).isIn(404, 405);
        assertThat(lock.isAcquired()).isTrue();
    }

    /** What a form, or a script of another site, can send without asking first: browsers ask before they send JSON. */
    @ParameterizedTest
    @ValueSource(strings = {"application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=x", ""})
    void givenUnrestricted_whenAnotherSiteSendsWhatItCan_thenRefusedAndStillHeld(String type) throws Exception {
        Lock lock = hold("nightly");
        start(EXPOSED, UNRESTRICTED);
        String form = "resource=nightly&token=" + lock.fencingToken().orElseThrow();

        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url(PAGE + "/api/break?" + form)));
        if (!type.isEmpty()) {
            request.header("Content-Type", type);
        }
        HttpResponse<String> answer = http.send(
                request.POST(HttpRequest.BodyPublishers.ofString(form)).build(), HttpResponse.BodyHandlers.ofString());

        assertThat(answer.statusCode()).as(answer.body()).isBetween(400, 499);
        assertThat(lock.isAcquired()).isTrue();
        assertThat(preflight().headers().firstValue("Access-Control-Allow-Origin"))
                .isEmpty();
        assertThat(endByJson("nightly", lock).body()).isEqualTo("{\"ended\":true}");
    }

    private HttpResponse<String> preflight() throws Exception {
        return http.send(
                HttpRequest.newBuilder(URI.create(url(PAGE + "/api/break")))
                        .header("Origin", "http://evil.example")
                        .header("Access-Control-Request-Method", "POST")
                        .header("Access-Control-Request-Headers", "content-type")
                        .method("OPTIONS", HttpRequest.BodyPublishers.noBody())
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    /** A store that hangs must not take all threads of the application. */
    @Test
    void givenTheStoreHangs_whenManyPagesAsk_thenTheApplicationGoesOn() throws Exception {
        Lock unused = hold("nightly");
        start(EXPOSED, "server.tomcat.threads.max=20");
        assertThat(get(url(PAGE + "/api/changes")).statusCode()).isEqualTo(200);
        redis.freeze();
        var executor = Executors.newCachedThreadPool();
        try {
            List<Future<HttpResponse<String>>> answers = new ArrayList<>();
            for (int i = 0; i < 60; i++) {
                answers.add(executor.submit(() -> get(url(PAGE + "/api/changes"))));
            }
            assertThat(get(url(PAGE + "/page.js")).statusCode()).isEqualTo(200);
            redis.thaw();
            for (Future<HttpResponse<String>> answer : answers) {
                assertThat(answer.get().statusCode()).isEqualTo(200);
            }
        } finally {
            redis.thaw();
            executor.shutdownNow();
        }
    }

    private Lock hold(String resource) {
        Lock lock = elsewhere.createLock(resource, TTL);
        assertThat(lock.tryAcquire()).isTrue();
        held.add(lock);
        return lock;
    }

    private HttpResponse<String> endByJson(String resource, Lock lock) throws Exception {
        String json = "{\"resource\":\"" + resource + "\",\"token\":\""
                + lock.fencingToken().orElseThrow() + "\"}";
        HttpRequest request = HttpRequest.newBuilder(URI.create(url(PAGE + "/api/break")))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(json))
                .build();
        return http.send(request, HttpResponse.BodyHandlers.ofString());
    }

    private HttpResponse<String> get(String url) throws Exception {
        return http.send(HttpRequest.newBuilder(URI.create(url)).build(), HttpResponse.BodyHandlers.ofString());
    }

    private Browser open(String path) throws Exception {
        Browser page = browser.orElseThrow();
        page.open(url(path));
        return page;
    }

    private String url(String path) {
        return "http://localhost:" + port() + path;
    }

    private int port() {
        return started.orElseThrow().getEnvironment().getRequiredProperty("local.server.port", Integer.class);
    }

    private int start(String... properties) {
        return start(0, properties);
    }

    private int start(int port, String... properties) {
        List<String> all = new ArrayList<>(List.of(
                "server.port=" + port,
                "latchkey.store=redis",
                "spring.data.redis.url=" + redis.dsn(),
                Apps.PATIENT_REDIS));
        all.addAll(List.of(properties));
        started = Optional.of(Apps.serve(Application.class, all.toArray(String[]::new)));
        return port();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(
            excludeName = {
                "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
                "org.springframework.boot.mongodb.autoconfigure.MongoAutoConfiguration"
            })
    static class Application {}
}
