package dev.latchkey.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.latchkey.LockListener;
import dev.latchkey.micrometer.LatchkeyMetrics;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.StoreProvider;
import dev.latchkey.store.InMemoryStore;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Metrics of an application that has a registry, and listeners that it declares. */
class MetricsTest {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(LatchkeyAutoConfiguration.class, LatchkeyMetricsAutoConfiguration.class))
            .withBean(InMemoryStore.class);

    @Test
    void givenARegistry_whenLocked_thenCounted() {
        runner.withBean(SimpleMeterRegistry.class).run(context -> {
            context.getBean(LockTemplate.class).run("orders", () -> {});

            MeterRegistry registry = context.getBean(MeterRegistry.class);
            await().untilAsserted(() -> assertThat(registry.find("latchkey.hold")
                            .tags("store", "inmemory", "group", "none", "end", "released")
                            .timer())
                    .isNotNull());
        });
    }

    /** The class that closes its members has another name. */
    @Test
    void givenACombinedStore_thenItIsNamedSo() {
        try (PersistingStore store = StoreProvider.connect("combined:consensus(in-memory,in-memory,in-memory)")) {
            assertThat(StoreName.of(store)).isEqualTo("combined");
            assertThat(StoreName.typeOf(store)).isEqualTo("CombinedStore");
        }
    }

    @Test
    void givenNoRegistry_whenLocked_thenNoMetrics() {
        runner.run(context -> {
            context.getBean(LockTemplate.class).run("orders", () -> {});

            assertThat(context).doesNotHaveBean(LatchkeyMetrics.class);
        });
    }

    /** Which of them it would be is not known: locks do without metrics. */
    @Test
    void givenSeveralRegistriesOfWhichNoneIsPrimary_whenLocked_thenItIsLocked() {
        runner.withBean("one", SimpleMeterRegistry.class)
                .withBean("other", SimpleMeterRegistry.class)
                .run(context -> {
                    AtomicBoolean ran = new AtomicBoolean();
                    context.getBean(LockTemplate.class).run("orders", () -> ran.set(true));

                    assertThat(ran).isTrue();
                    assertThat(context).doesNotHaveBean(LatchkeyMetrics.class);
                });
    }

    @Test
    void givenMetricsOfTheApplication_thenTheseAreUsed() {
        runner.withUserConfiguration(OwnMetrics.class).run(context -> {
            context.getBean(LockTemplate.class).run("orders", () -> {});

            MeterRegistry registry = context.getBean(MeterRegistry.class);
            await().untilAsserted(() -> assertThat(registry.find("latchkey.hold")
                            .tags("group", "orders")
                            .timer())
                    .isNotNull());
            assertThat(context).hasSingleBean(LatchkeyMetrics.class);
        });
    }

    @Test
    void givenAListenerOfTheApplication_whenLocked_thenItHears() {
        runner.withUserConfiguration(OwnListener.class).run(context -> {
            context.getBean(LockTemplate.class).run("orders", () -> {});

            await().untilAsserted(() ->
                    assertThat(context.getBean(OwnListener.class).held).containsExactly("orders"));
        });
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnMetrics {

        @Bean
        MeterRegistry registry() {
            return new SimpleMeterRegistry();
        }

        @Bean
        LatchkeyMetrics metrics(MeterRegistry registry) {
            return LatchkeyMetrics.builder(registry).group(resource -> resource).build();
        }
    }

    static class OwnListener implements LockListener {

        private final List<String> held = new CopyOnWriteArrayList<>();

        @Override
        public void held(Held event) {
            held.add(event.resource());
        }
    }
}
