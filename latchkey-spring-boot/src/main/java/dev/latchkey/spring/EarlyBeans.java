package dev.latchkey.spring;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.core.PriorityOrdered;

/**
 * Remembers the beans that are created before {@link LockedBeanPostProcessor} is there, because another post-processor needs them.
 * What a test puts in the place of a bean is not created by the container, and not remembered. Thread-safe.
 */
final class EarlyBeans implements BeanPostProcessor, PriorityOrdered {

    private final Map<String, Class<?>> early = new ConcurrentHashMap<>();

    @Override
    public Object postProcessAfterInitialization(Object bean, String name) {
        if (!(bean instanceof AopInfrastructureBean)) {
            early.put(name, AopUtils.getTargetClass(bean));
        }
        return bean;
    }

    void wasSeen(String name) {
        early.remove(name);
    }

    /** Returns those that were not seen by {@link LockedBeanPostProcessor}. */
    Map<String, Class<?>> unseen() {
        return early;
    }

    @Override
    public int getOrder() {
        return HIGHEST_PRECEDENCE;
    }
}
