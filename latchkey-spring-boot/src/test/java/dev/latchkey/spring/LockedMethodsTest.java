package dev.latchkey.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class LockedMethodsTest {

    /** The default TTL is that of a bean, which may be created only then, and be looked at itself. */
    @Test
    void givenOtherClassesAreLookedAtWhileOneIsParsed_thenAllAreFound() {
        List<LockedMethods> methods = new ArrayList<>();
        methods.add(new LockedMethods(new LockedMethodParser(text -> text, () -> {
            // So many that some would come to the same bin of a map.
            Stream.<Class<?>>iterate(String.class, Class::arrayType)
                    .limit(200)
                    .forEach(type -> assertThat(methods.get(0).of(type)).isEmpty());
            return Duration.ofSeconds(1);
        })));

        assertThat(methods.get(0).of(Work.class)).hasSize(1);
    }

    static class Work {
        @Locked("'a'")
        void work() {}
    }
}
