package dev.latchkey.spring;

import dev.latchkey.LockFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** The endpoint {@code locks}. */
@AutoConfiguration(after = LatchkeyAutoConfiguration.class)
@ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
@ConditionalOnBean(Acquirer.class)
@ConditionalOnAvailableEndpoint(LocksEndpoint.class)
class LocksEndpointAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    LocksEndpoint latchkeyLocksEndpoint(Acquirer acquirer, ObjectProvider<LockFactory> factory) {
        return new LocksEndpoint(acquirer, factory);
    }
}
