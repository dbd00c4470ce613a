package dev.latchkey.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Objects;
import java.util.function.LongFunction;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The short form of {@code ./fuzz}: the same schedules each time. */
class FuzzTest {

    private static final long SEEDS = 300;

    @ParameterizedTest
    @EnumSource
    @Tag("slow")
    void givenSchedules_whenRun_thenNoPromiseIsBroken(Fuzz.Kind kind) {
        LongFunction<@Nullable String> fuzz = Fuzz.of(kind);
        for (long seed = 1; seed <= SEEDS; seed++) {
            assertThat(fuzz.apply(seed)).as("./fuzz %s --seed %d", kind, seed).isNull();
        }
    }

    @ParameterizedTest
    @EnumSource
    @Tag("slow")
    void givenASeed_whenRunAgain_thenTheSameHappens(Fuzz.Kind kind) {
        LongFunction<@Nullable String> fuzz = Fuzz.of(kind);
        for (long seed = 1; seed <= 20; seed++) {
            String first = fuzz.apply(-seed);

            assertThat(Fuzz.of(kind).apply(-seed)).isEqualTo(first);
        }
    }

    /** A defect that no schedule finds would say nothing good of the schedules that find none. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NOTHING")
    @Tag("slow")
    void givenADefect_whenSchedulesRun_thenOneFindsIt(Fuzz.Plant plant) {
        LongFunction<@Nullable String> fuzz = Fuzz.of(Fuzz.Kind.STICKY, plant);

        assertThat(LongStream.rangeClosed(1, SEEDS).mapToObj(fuzz).filter(Objects::nonNull))
                .isNotEmpty()
                .allMatch(problem -> problem.startsWith(Violation.class.getName()));
    }
}
