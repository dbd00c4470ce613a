package dev.latchkey.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.cli.PlentyStore;
import dev.latchkey.servers.Browser;
import dev.latchkey.testkit.ServerAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** The page as a user has it: in a browser, by the keyboard. */
@Tag("slow")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PageIT {

    private static final String STATE = "document.getElementById('state').dataset.state";
    private static final String ROWS = "document.querySelectorAll('.space .row:not([hidden])')";

    private final List<AutoCloseable> open = new ArrayList<>();
    private Optional<Browser> started = Optional.empty();

    @BeforeAll
    void startBrowser() throws Exception {
        started = Optional.of(new Browser());
    }

    @AfterAll
    void endBrowser() throws Exception {
        if (started.isPresent()) {
            started.get().close();
        }
    }

    @AfterEach
    void closeServers() throws Exception {
        for (AutoCloseable each : open) {
            each.close();
        }
        open.clear();
    }

    private Browser browser() {
        return started.orElseThrow();
    }

    private ServedStore show(PlentyStore store, boolean allowBreak) throws Exception {
        return show(store, allowBreak, 0);
    }

    private ServedStore show(PlentyStore store, boolean allowBreak, int port) throws Exception {
        ServedStore served = serve(store, Optional.empty(), allowBreak, port);
        browser().open(served.url());
        browser().awaitTrue(STATE + " === 'live'");
        return served;
    }

    private ServedStore serve(PlentyStore store, Optional<String> secret, boolean allowBreak, int port) {
        ServedStore served = new ServedStore(store, secret, allowBreak, port);
        open.add(served);
        return served;
    }

    @Test
    void givenNamesThatAreScripts_thenTheyAreText() throws Exception {
        ServedStore unused = show(PlentyStore.odd(), false);

        browser().awaitTrue("document.getElementById('space').textContent.includes('<script>document.title')");
        assertThat(browser().value("document.title")).isEqualTo("Latchkey");
        assertThat(browser().value("document.scripts.length")).isEqualTo("1");
        assertThat(browser().value("document.querySelectorAll('#space script, #space b:not([class=\"\"])').length"))
                .isEqualTo("0");
        assertThat(browser()
                        .value("/[\\u0000-\\u001f\\u202e\\u009b]/.test(document.getElementById('space').textContent)"))
                .isEqualTo("false");
    }

    /** The second line of defence. */
    @Test
    void givenAScriptInThePage_thenItIsNotRun() throws Exception {
        ServedStore unused = show(PlentyStore.of(1), false);

        String ran = browser()
                .value("(() => { const s = document.createElement('script'); s.textContent = 'window.owned = 1';"
                        + " document.body.append(s); s.remove(); return window.owned; })()");

        assertThat(ran).isEqualTo("undefined");
    }

    @Test
    void given10000_whenScrolledToTheEnd_thenFewRowsAreInTheDocument() throws Exception {
        ServedStore unused = show(PlentyStore.of(10_000), false);
        browser().awaitTrue("document.getElementById('held').textContent === '10,000'");

        browser().type(Browser.DOWN + Browser.END);

        browser()
                .awaitTrue("[..." + ROWS + "].some(row => row.getAttribute('aria-rowindex') === '10000'"
                        + " && row.getAttribute('aria-selected') === 'true'"
                        + " && row.getBoundingClientRect().bottom <= innerHeight)");
        assertThat(Integer.parseInt(browser().value("document.querySelectorAll('.row').length")))
                .isLessThan(60);
    }

    @Test
    void givenKeyboardOnly_whenFiltered_thenOnlyThoseThatBeginSo() throws Exception {
        ServedStore unused = show(PlentyStore.of(300), false);

        browser().type("/job-00010");

        browser().awaitTrue(ROWS + ".length === 10");
        browser().type(Browser.ESCAPE);
        browser().awaitTrue("document.getElementById('scroll').getAttribute('aria-rowcount') === '300'");
    }

    @Test
    void givenBreakAllowed_whenTheTokenIsTyped_thenTheHoldIsEnded() throws Exception {
        ServedStore served = show(PlentyStore.of(3), true);
        browser().type(Browser.DOWN);
        browser().awaitTrue(ROWS + "[0].getAttribute('aria-selected') === 'true'");
        browser().type("b999");
        assertThat(browser().value("document.getElementById('break-do').disabled"))
                .isEqualTo("true");

        browser().type(Browser.ESCAPE + "b1000" + Browser.ENTER);

        browser().awaitTrue("document.getElementById('break-answer').textContent === 'The hold is ended.'");
        assertThat(served.store.holders("job-000000")).isEmpty();
        assertThat(served.store.holders("job-000001")).hasSize(1);
    }

    @Test
    void givenTokenTypedOrAnswerAwaited_whenAnotherIsChosen_thenNeitherIsShownThere() throws Exception {
        ServedStore served = show(PlentyStore.of(3), true);
        browser().type(Browser.DOWN + "b1000");
        assertThat(browser().value("document.getElementById('break-do').disabled"))
                .isEqualTo("false");
        browser().value("document.getElementById('break-input').blur()");
        browser().type("j");
        browser().awaitTrue("chosen === 'job-000001'");
        assertThat(browser().value("document.getElementById('break-input').value"))
                .isEmpty();

        browser().type("b1001");
        served.store.answerAfter(java.time.Duration.ofSeconds(3));
        browser().type(Browser.ENTER);
        browser().value("document.getElementById('break-input').blur()");
        browser().type("j");
        browser().awaitTrue("chosen === 'job-000002'");
        browser().awaitTrue("!locks.has('job-000001')");
        assertThat(browser().value("document.getElementById('break-answer').textContent"))
                .isEmpty();
    }

    @Test
    void givenTrouble_whenSlowIsTold_thenItIsStillTroubleAndGrey() throws Exception {
        ServedStore served = show(PlentyStore.of(3), false);
        String isGrey = "document.getElementById('scroll').classList.contains('stale')";
        served.store.failWith("away");
        browser().awaitTrue(STATE + " === 'trouble' && " + isGrey);
        served.close();
        open.clear();
        browser().awaitTrue(STATE + " === 'gone' && " + isGrey);

        // At once, for the page tries to connect meanwhile.
        String slow =
                "events.dispatchEvent(new MessageEvent('slow', { data: '{\"now\":1}' })), " + STATE + " + " + isGrey;
        assertThat(browser().value("(" + slow + ")")).isEqualTo("slowtrue");
        assertThat(browser().value("(say('trouble', 'away'), " + slow + ")")).isEqualTo("troubletrue");
    }

    @Test
    void givenReadOnly_thenNothingOffersToEndAHold() throws Exception {
        ServedStore unused = show(PlentyStore.of(3), false);

        browser().type(Browser.DOWN + Browser.ENTER);

        browser().awaitTrue("!document.getElementById('detail').hidden");
        assertThat(browser().value("document.getElementById('break').hidden")).isEqualTo("true");
    }

    @Test
    void givenServerGone_whenItIsBack_thenBothAreShown() throws Exception {
        // One that nobody else is given while it is away.
        int port = ServerAddress.unused().port();
        ServedStore first = show(PlentyStore.of(3), false, port);
        first.close();
        open.clear();

        browser().awaitTrue(STATE + " === 'gone' && !document.getElementById('banner').hidden");

        ServedStore unused = serve(PlentyStore.of(4), Optional.empty(), false, port);
        browser().awaitTrue(STATE + " === 'live' && document.getElementById('banner').hidden");
        browser().awaitTrue("document.getElementById('held').textContent === '4'");
    }

    @Test
    void givenStoreFails_whenItIsBack_thenBothAreShown() throws Exception {
        ServedStore served = show(PlentyStore.of(3), false);
        served.store.failWith("away: redis://me:hidden-word@host");

        browser().awaitTrue(STATE + " === 'trouble'");
        assertThat(browser().value("document.getElementById('banner').textContent"))
                .contains("away")
                .doesNotContain("hidden-word");

        served.store.failWith(null);
        browser().awaitTrue(STATE + " === 'live'");
    }

    @Test
    void givenTimeGoesOn_thenTheLeaseRunsDown() throws Exception {
        ServedStore served = show(PlentyStore.of(1), false);
        browser().awaitTrue(ROWS + ".length === 1");
        served.store.answerAfter(java.time.Duration.ofSeconds(20));

        browser().awaitTrue("Number(document.querySelector('.bar i').style.transform.slice(7, -1)) < 0.9");
    }

    @Test
    void givenDarkOrLightIsPreferred_thenThePageIsSo() throws Exception {
        ServedStore unused = show(PlentyStore.of(3), false);
        String ground = "getComputedStyle(document.body).backgroundColor";

        browser().prefer("dark");
        String dark = browser().value(ground);
        browser().prefer("light");

        assertThat(dark).isEqualTo("rgb(16, 18, 22)");
        assertThat(browser().value(ground)).isEqualTo("rgb(246, 246, 243)");
    }

    @Test
    void givenSecret_whenTyped_thenThePageOpens() throws Exception {
        ServedStore served = serve(PlentyStore.of(3), Optional.of("correct-horse-battery"), false, 0);
        browser().open(served.url());
        browser().awaitTrue("document.getElementById('login').open");

        browser().type("wrong" + Browser.ENTER);
        browser().awaitTrue("document.getElementById('login-answer').textContent !== ''");
        assertThat(browser().value("locks.size")).isEqualTo("0");

        browser().type("correct-horse-battery" + Browser.ENTER);
        browser().awaitTrue(STATE + " === 'live' && locks.size === 3");
    }
}
