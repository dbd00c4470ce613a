package dev.latchkey.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What a page says of its servers and of what it does not compare. */
class PageTest {

    @Test
    void givenTablesWithDifferentServers_thenThePageNamesEachOfThemOnce() {
        assertThat(page("One 1, fsync on", "One 1, fsync on", "One 1, fsync off"))
                .contains("| servers | One 1, fsync on; One 1, fsync off |\n");
    }

    @Test
    void givenNoServers_thenThePageSaysSo() {
        assertThat(page("", "")).contains("| servers | none |\n");
    }

    @Test
    void givenATableHasFewerLocksThanAnother_thenThePageNamesThoseThatItDoesNotHave() {
        String page = page(List.of(table("alone", "mine", "peer", "variant"), table("threads", "mine", "peer")));

        assertThat(page).containsOnlyOnce("Not in this table").contains("#what-is-in-a-table): variant.\n");
    }

    @Test
    void givenTablesThatHaveNoLockInCommon_thenNoneIsNamedAsMissing() {
        assertThat(page(List.of(table("writers", "mine"), table("readers", "peer"))))
                .doesNotContain("Not in this table");
    }

    private static String page(String... servers) {
        return page(List.of(servers).stream()
                .map(software -> measured("alone", software, "peer"))
                .toList());
    }

    private static String page(List<Figures.Measured> tables) {
        Setting setting = new Setting("today", "0123456", "model", 1, "system", "java", Map.of(), 14, 500);
        return Page.of(new Figures("store", setting, tables));
    }

    private static Figures.Measured table(String name, String... contenders) {
        return measured(name, "", contenders);
    }

    private static Figures.Measured measured(String name, String software, String... contenders) {
        return new Figures.Measured(
                name,
                name,
                "",
                software,
                1,
                1,
                1,
                List.of(contenders).stream().map(PageTest::row).toList());
    }

    private static Figures.Row row(String contender) {
        return new Figures.Row(
                contender,
                Contender.Role.PEER,
                Contender.Mode.EXCLUSIVE,
                "",
                List.of(),
                "stopped before its first turn");
    }
}
