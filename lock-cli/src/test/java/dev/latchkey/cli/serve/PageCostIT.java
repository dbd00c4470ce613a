package dev.latchkey.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.Socket;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What open pages cost a Redis server with 10,000 locks, counted by the server: its CPU time, and the commands that it has run.
 *
 * <p>{@code -Dlatchkey.page.seconds=60} measures for so long with pages, and for so long without, and asks for 1 %.
 */
@Tag("slow")
class PageCostIT {

    private static final int HELD = 10_000;
    private static final int PAGES = 3;
    private static final int SECONDS = Integer.getInteger("latchkey.page.seconds", 15);

    /** In a short time, one listing more or less counts for much. */
    private static final double LARGEST_SHARE = SECONDS < 60 ? 0.04 : 0.01;

    @TempDir
    private Path directory = Path.of("");

    @Test
    void givenOpenPages_whenTenThousandAreHeld_thenTheServerIsHardlyBusy() throws Exception {
        try (ServedRedis served = new ServedRedis(HELD, directory)) {
            Cost without = cost(served, () -> {});
            Socket[] pages = new Socket[PAGES];
            Cost with = cost(served, () -> openAll(served, pages));
            for (Socket page : pages) {
                page.close();
            }
            double share = with.cpu() - without.cpu();
            System.out.printf(
                    "%d locks, %d pages: %.2f s of CPU a minute on the server, %.2f without a page: %.2f %% of a core;"
                            + " %.0f commands a minute, %.0f without%n",
                    HELD,
                    PAGES,
                    60 * with.cpu(),
                    60 * without.cpu(),
                    100 * share,
                    60 * with.commands(),
                    60 * without.commands());

            assertThat(with.commands()).as("commands for the pages").isGreaterThan(without.commands());
            assertThat(share).as("part of a core").isLessThan(LARGEST_SHARE);
        }
    }

    /** Returns when each page has got its first list. */
    private static void openAll(ServedRedis served, Socket[] pages) throws Exception {
        CountDownLatch shown = new CountDownLatch(PAGES);
        for (int i = 0; i < PAGES; i++) {
            Socket page = served.ask("/api/events", 0);
            pages[i] = page;
            Thread reader = new Thread(() -> read(page, shown), "page");
            reader.setDaemon(true);
            reader.start();
        }
        assertThat(shown.await(5, TimeUnit.MINUTES)).isTrue();
    }

    private static void read(Socket page, CountDownLatch shown) {
        try {
            byte[] bytes = new byte[64 * 1024];
            long all = 0;
            for (int read = 0; read >= 0; read = page.getInputStream().read(bytes)) {
                // The first list has more than a hundred bytes for each lock.
                if (all < HELD * 100L && all + read >= HELD * 100L) {
                    shown.countDown();
                }
                all += read;
            }
        } catch (IOException e) {
            // It is closed when all is measured.
        }
    }

    /** In each second. */
    private record Cost(double cpu, double commands) {}

    private interface Step {
        void run() throws Exception;
    }

    /** What the server spends from the begin of a step, for so many seconds after its end. */
    private static Cost cost(ServedRedis served, Step step) throws Exception {
        Cost before = cost(served);
        long began = System.nanoTime();
        step.run();
        TimeUnit.SECONDS.sleep(SECONDS);
        double seconds = (System.nanoTime() - began) / 1e9;
        Cost after = cost(served);
        return new Cost((after.cpu() - before.cpu()) / seconds, (after.commands() - before.commands()) / seconds);
    }

    private static Cost cost(ServedRedis served) {
        Map<String, String> cpu = info(served, "cpu");
        double seconds = Double.parseDouble(cpu.getOrDefault("used_cpu_user", ""))
                + Double.parseDouble(cpu.getOrDefault("used_cpu_sys", ""));
        return new Cost(
                seconds, Double.parseDouble(info(served, "stats").getOrDefault("total_commands_processed", "")));
    }

    private static Map<String, String> info(ServedRedis served, String section) {
        return served.redis
                .text("INFO", section)
                .lines()
                .filter(line -> line.contains(":"))
                .collect(Collectors.toMap(line -> line.split(":", 2)[0], line -> line.split(":", 2)[1].strip()));
    }
}
