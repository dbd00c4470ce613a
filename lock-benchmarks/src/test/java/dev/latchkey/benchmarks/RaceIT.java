package dev.latchkey.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.benchmarks.Contender.Role;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Races of a few cycles; what they measure means nothing. */
class RaceIT {

    /** Whoever hangs costs this patience once. */
    private static final Effort IMPATIENT =
            new Effort(3, Duration.ofMillis(200), 1, 200, Duration.ofMillis(200), 0, Duration.ofSeconds(10));

    private static final Effort WARMED =
            new Effort(3, Duration.ofMillis(200), 1, 200, Duration.ofMillis(500), 2, Duration.ofSeconds(60));

    @Test
    void givenALockThatIsNoneAndOneThatHangs_whenRace_thenBothAreFoundOutAndTheRestGoesOn() {
        Contest planted = new Planted();

        Figures.Measured table =
                new Race(planted, IMPATIENT).run(planted.tables()).tables().get(0);

        Figures.Row sound = table.rows().get(0);
        Figures.Row open = table.rows().get(1);
        Figures.Row stuck = table.rows().get(2);
        assertThat(sound.overlaps()).isZero();
        assertThat(sound.turns()).hasSize(3);
        assertThat(sound.cyclesPerSecond()).isPositive();
        assertThat(open.overlaps()).isPositive();
        assertThat(stuck.cut()).contains("did not come to an end");
        assertThat(Page.table(table)).contains("**Not exclusive:** open").contains("Cut: stuck");
    }

    @Test
    void givenRedis_whenRace_thenEachIsExclusiveAndCounted() {
        Redis redis = new Redis();
        List<Contender> some = List.of(
                redis.contender("Latchkey"),
                redis.contender("SET NX PX + compare-and-delete"),
                redis.contender("Redisson RLock"));
        List<Table> tables = List.of(
                Table.alone(Placement.ONE_PROCESSOR, some),
                Table.processes(Placement.ONE_PROCESSOR, some.subList(0, 1)));

        Figures figures = new Race(redis, WARMED).run(tables);

        assertThat(figures.tables().get(0).servers()).startsWith("Redis ");
        assertThat(figures.setting().libraries().get("redisson")).matches("\\d+\\.\\d+\\.\\d+");
        Figures.Measured alone = figures.tables().get(0);
        assertThat(alone.rows()).allSatisfy(row -> {
            assertThat(row.cut()).isNull();
            assertThat(row.turns()).hasSize(3);
            assertThat(row.cyclesPerSecond()).isPositive();
        });
        assertThat(alone.rows().get(0).requestsPerCycle()).isBetween(6.0, 6.5);
        Figures.Row contended = figures.tables().get(1).rows().get(0);
        assertThat(contended.role()).isEqualTo(Role.LATCHKEY);
        assertThat(contended.cut()).isNull();
        assertThat(contended.overlaps()).isZero();
        assertThat(contended.turns())
                .allSatisfy(turn -> assertThat(turn.cyclesPerThread()).hasSize(8));
    }
}
