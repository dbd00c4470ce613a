package dev.latchkey.spring;

import dev.latchkey.LockFactory;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * The lock factories that end with the context, whoever declared them: the exit of the JVM must not end their locks, since
 * requests still run under them then. A factory without a destroy method is the application's own to close. Thread-safe.
 */
final class ContextFactories implements BeanPostProcessor {

    private final ConfigurableListableBeanFactory beans;
    private final Set<LockFactory> factories = ConcurrentHashMap.newKeySet();

    ContextFactories(ConfigurableListableBeanFactory beans) {
        this.beans = beans;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String name) {
        if (bean instanceof LockFactory factory && endsWithContext(name)) {
            factories.add(factory.withoutShutdownHook());
        }
        return bean;
    }

    private boolean endsWithContext(String name) {
        return beans.containsBeanDefinition(name)
                && !"".equals(beans.getMergedBeanDefinition(name).getDestroyMethodName());
    }

    void close() {
        factories.forEach(LockFactory::close);
    }
}
