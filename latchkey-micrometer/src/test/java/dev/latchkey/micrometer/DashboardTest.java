package dev.latchkey.micrometer;

import static dev.latchkey.micrometer.TestLimit.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.store.InMemoryStore;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Whatever the dashboard asks for is there, in a registry in which each meter has been used. */
class DashboardTest {

    private static final Path DASHBOARD = Path.of("..", "docs", "grafana-dashboard.json");
    private static final Pattern SERIES = Pattern.compile("(latchkey_[a-z_]+)\\{([^}]*)}");
    private static final Pattern LABEL = Pattern.compile("(\\w+)(?:=~|!~|!=|=)\"");
    private static final Pattern BY = Pattern.compile("by \\(([^)]*)\\)");

    @Test
    void givenTheDashboard_thenEachSeriesAndLabelExists() throws Exception {
        List<String> queries = queries();
        String scraped = scraped();

        assertThat(queries).hasSizeGreaterThan(9);
        for (String query : queries) {
            List<MatchResult> series = SERIES.matcher(query).results().toList();
            assertThat(series).as(query).isNotEmpty();
            for (MatchResult each : series) {
                Set<String> labels = labelsOf(scraped, each.group(1));
                assertThat(labels).as("labels of %s", each.group(1)).isNotEmpty();
                assertThat(labels).as(query).containsAll(asked(query, each.group(2)));
            }
        }
    }

    private static Set<String> asked(String query, String selector) {
        Stream<String> selected = LABEL.matcher(selector).results().map(label -> label.group(1));
        Stream<String> grouped =
                BY.matcher(query).results().flatMap(by -> Stream.of(by.group(1).split(", ")));
        return Stream.concat(selected, grouped).collect(Collectors.toCollection(TreeSet::new));
    }

    /** Empty if there is no such series. */
    private static Set<String> labelsOf(String scraped, String series) {
        return scraped.lines()
                .filter(line -> line.startsWith(series + "{"))
                .flatMap(line -> LABEL.matcher(line).results().map(label -> label.group(1)))
                .collect(Collectors.toSet());
    }

    private static List<String> queries() throws Exception {
        JsonNode dashboard = new ObjectMapper().readTree(DASHBOARD.toFile());
        return dashboard.findValuesAsText("expr");
    }

    private static String scraped() throws Exception {
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        try (LockFactory locks = LockFactory.builder(new InMemoryStore())
                .listener(LatchkeyMetrics.builder(registry).build())
                .build()) {
            Lock lock = locks.createLock("orders", Duration.ofSeconds(30)).acquire();
            lock.refresh();
            assertThat(lock.release()).isTrue();
            await().atMost(LIMIT).until(() -> registry.scrape().contains("latchkey_hold_seconds_count"));
        }
        return registry.scrape();
    }
}
