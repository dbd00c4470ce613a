package dev.latchkey.spring;

import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.PriorityOrdered;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionExecutionListener;

/** Has every transaction manager check locks before a commit. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(TransactionExecutionListener.class)
class TransactionConfiguration {

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static ListenerAdder latchkeyTransactionManagerPostProcessor() {
        return new ListenerAdder();
    }

    /** First of all: a manager may be created early, because another post-processor needs it. */
    static final class ListenerAdder implements BeanPostProcessor, PriorityOrdered {

        @Override
        public int getOrder() {
            return HIGHEST_PRECEDENCE;
        }

        @Override
        public Object postProcessAfterInitialization(Object bean, String name) {
            if (bean instanceof PlatformTransactionManager && bean instanceof ConfigurableTransactionManager manager) {
                addOnce(manager);
            }
            return bean;
        }

        /** The same object may be several beans. */
        private static void addOnce(ConfigurableTransactionManager manager) {
            if (manager.getTransactionExecutionListeners().stream().noneMatch(TransactionHooks.class::isInstance)) {
                manager.addListener(new TransactionHooks());
            }
        }
    }
}
