package dev.latchkey.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.spi.StoreProvider;
import java.util.List;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;

/** What is told to the builder of a native image. */
class RuntimeHintsTest {

    @Test
    void givenTheStoresOfTheClassPath_whenHintsAreRegistered_thenEachOfTheirProvidersCanBeCreated() {
        RuntimeHints hints = new RuntimeHints();
        new LatchkeyRuntimeHints().registerHints(hints, getClass().getClassLoader());

        List<? extends Class<?>> providers = ServiceLoader.load(StoreProvider.class).stream()
                .map(ServiceLoader.Provider::type)
                .toList();

        assertThat(providers)
                .hasSizeGreaterThan(5)
                .allMatch(provider -> RuntimeHintsPredicates.reflection()
                        .onType(provider)
                        .withMemberCategory(MemberCategory.INVOKE_PUBLIC_CONSTRUCTORS)
                        .test(hints));
    }
}
