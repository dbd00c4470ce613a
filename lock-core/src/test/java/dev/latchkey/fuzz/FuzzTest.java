package dev.latchkey.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The short form of {@code ./fuzz}: the same schedules each time. */
@Timeout(300)
class FuzzTest {

    private static final long SEEDS = 300;

    private final LongFunction<@Nullable String> fuzz = Fuzz.inSimulation();

    @Test
    void givenSchedules_whenRun_thenNoPromiseIsBroken() {
        for (long seed = 1; seed <= SEEDS; seed++) {
            assertThat(fuzz.apply(seed)).as("./fuzz --seed %d", seed).isNull();
        }
    }

    @Test
    void givenASeed_whenRunAgain_thenTheSameHappens() {
        for (long seed = 1; seed <= 20; seed++) {
            String first = fuzz.apply(-seed);

            assertThat(Fuzz.inSimulation().apply(-seed)).isEqualTo(first);
        }
    }
}
