package dev.latchkey.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What a page says of its servers. */
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

    private static String page(String... servers) {
        Figures.Row row = new Figures.Row(
                "peer", Contender.Role.PEER, Contender.Mode.EXCLUSIVE, "", List.of(), "stopped before its first turn");
        Setting setting = new Setting("today", "0123456", "model", 1, "system", "java", Map.of(), 14, 500);
        return Page.of(new Figures(
                "store",
                setting,
                List.of(servers).stream()
                        .map(software -> new Figures.Measured("alone", "alone", "", software, 1, 1, 1, List.of(row)))
                        .toList()));
    }
}
