package dev.latchkey.spring;

import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionExecutionListener;

/** Has every transaction manager check locks before a commit. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(TransactionExecutionListener.class)
class TransactionConfiguration {

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static BeanPostProcessor latchkeyTransactionManagerPostProcessor() {
        return new ListenerAdder();
    }

    private static final class ListenerAdder implements BeanPostProcessor {

        @Override
        public Object postProcessAfterInitialization(Object bean, String name) {
            if (bean instanceof PlatformTransactionManager && bean instanceof ConfigurableTransactionManager manager) {
                manager.addListener(new TransactionHooks());
            }
            return bean;
        }
    }
}
