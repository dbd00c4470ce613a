package dev.latchkey.spring;

import java.lang.reflect.Method;
import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.core.Ordered;

/**
 * Puts the lock around the transaction of a method, if it has one, and inside of what decides whether it is called at all, as
 * security does. Looks at no bean again that has no locked method.
 */
final class LockedBeanPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor
        implements SmartInitializingSingleton {

    private static final long serialVersionUID = 1L;

    /** After the creator of proxies, and before what has a method called in another thread, which is put around the lock. */
    private static final int AMONG_PROCESSORS = Ordered.LOWEST_PRECEDENCE - 100;

    /** As much as possible is outside, other than transactions and caches, which have the lowest precedence. */
    private static final int AMONG_ADVISORS = Ordered.LOWEST_PRECEDENCE - 100;

    private final transient LockedMethods methods;
    private final transient EarlyBeans early;

    LockedBeanPostProcessor(LockedMethods methods, LockedInterceptor interceptor, EarlyBeans early) {
        this.methods = methods;
        this.early = early;
        this.advisor = advisor(methods, interceptor);
        setOrder(AMONG_PROCESSORS);
        setProxyTargetClass(true);
    }

    private static Advisor advisor(LockedMethods methods, LockedInterceptor interceptor) {
        StaticMethodMatcherPointcut pointcut = new StaticMethodMatcherPointcut() {
            @Override
            public boolean matches(Method method, Class<?> type) {
                return methods.find(method, type) != null;
            }
        };
        DefaultPointcutAdvisor advisor = new DefaultPointcutAdvisor(pointcut, interceptor);
        advisor.setOrder(AMONG_ADVISORS);
        return advisor;
    }

    @Override
    protected boolean isEligible(Class<?> type) {
        return !methods.of(type).isEmpty();
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        early.wasSeen(beanName);
        if (bean instanceof AopInfrastructureBean) {
            return bean;
        }
        if (bean instanceof Advised advised && this.advisor != null) {
            if (isEligible(AopUtils.getTargetClass(bean)) || isAnyEligible(advised.getProxiedInterfaces())) {
                addOnce(advised, beanName, this.advisor);
            }
            return bean;
        }
        return super.postProcessAfterInitialization(bean, beanName);
    }

    /** The same object may be several beans: a second lock would wait for the first. */
    private static void addOnce(Advised advised, String bean, Advisor lock) {
        if (advised.indexOf(lock) >= 0) {
            return;
        }
        if (advised.isFrozen()) {
            throw passedBy(bean, "its proxy is frozen", "Create the proxy without setFrozen(true)");
        }
        advised.addAdvisor(position(advised), lock);
    }

    /** Refuses beans that would run without their lock. */
    @Override
    public void afterSingletonsInstantiated() {
        early.unseen().forEach((bean, type) -> {
            if (isEligible(type)) {
                throw passedBy(
                        bean,
                        "a BeanPostProcessor needs it, so it was created before there could be a proxy",
                        "Have the BeanPostProcessor get the bean through an ObjectProvider when it needs it");
            }
        });
    }

    private static LatchkeyConfigurationException passedBy(String bean, String problem, String action) {
        return new LatchkeyConfigurationException(
                "@Locked cannot lock the methods of the bean \"" + bean + "\": " + problem + ".",
                action + ", or call a LockTemplate in the method instead of @Locked.");
    }

    /** A repository is implemented by a class of another's, which knows nothing of the annotations of its interface. */
    private boolean isAnyEligible(Class<?>[] interfaces) {
        for (Class<?> one : interfaces) {
            if (isEligible(one)) {
                return true;
            }
        }
        return false;
    }

    private static int position(Advised advised) {
        Advisor[] advisors = advised.getAdvisors();
        int position = 0;
        while (position < advisors.length && isOutside(advisors[position])) {
            position++;
        }
        return position;
    }

    /** A transaction is inside of the lock, whatever order the application gave it: it has to end first. */
    private static boolean isOutside(Advisor other) {
        int order = other instanceof Ordered ordered ? ordered.getOrder() : Ordered.LOWEST_PRECEDENCE;
        return order < AMONG_ADVISORS
                && !other.getClass().getName().startsWith("org.springframework.transaction.")
                && !other.getAdvice().getClass().getName().startsWith("org.springframework.transaction.");
    }
}
