package dev.latchkey.spring;

import dev.latchkey.spi.PersistingStore;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;

/** Health of the store of locks. */
@AutoConfiguration(after = LatchkeyAutoConfiguration.class)
@ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
@ConditionalOnSingleCandidate(PersistingStore.class)
@ConditionalOnEnabledHealthIndicator("latchkey")
class LatchkeyHealthAutoConfiguration {

    /** The store is opened when health is first asked for. */
    @Bean
    @ConditionalOnMissingBean(name = "latchkeyHealthIndicator")
    HealthIndicator latchkeyHealthIndicator(ObjectProvider<PersistingStore> store) {
        return new LatchkeyHealthIndicator(store::getObject);
    }
}
