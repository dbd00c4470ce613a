package dev.latchkey.spring;

import dev.latchkey.micrometer.LatchkeyMetrics;
import dev.latchkey.spi.PersistingStore;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;

/** Metrics of the locks of the factory that the application has from here. */
@AutoConfiguration(
        after = LatchkeyAutoConfiguration.class,
        afterName = "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration")
@ConditionalOnClass({LatchkeyMetrics.class, MeterRegistry.class})
@ConditionalOnSingleCandidate(MeterRegistry.class)
@ConditionalOnBean(PersistingStore.class)
class LatchkeyMetricsAutoConfiguration {

    /** Made with the factory, which opens the store. */
    @Bean
    @Lazy
    @ConditionalOnMissingBean
    LatchkeyMetrics latchkeyMetrics(MeterRegistry registry, PersistingStore store) {
        return LatchkeyMetrics.builder(registry).store(StoreName.of(store)).build();
    }
}
