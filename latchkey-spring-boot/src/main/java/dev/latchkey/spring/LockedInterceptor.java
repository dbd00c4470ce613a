package dev.latchkey.spring;

import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;

/** Takes the lock of a method before it, and gives it back after it. */
final class LockedInterceptor implements MethodInterceptor {

    private final LockedMethods methods;
    private final Supplier<Acquirer> acquirer;
    private final Supplier<KeyEvaluator> keys;

    LockedInterceptor(LockedMethods methods, Supplier<Acquirer> acquirer, Supplier<KeyEvaluator> keys) {
        this.methods = methods;
        this.acquirer = acquirer;
        this.keys = keys;
    }

    /** A method may return null, which NullAway does not see in what it infers for the work. */
    @Override
    @SuppressWarnings("NullAway")
    public @Nullable Object invoke(MethodInvocation call) throws Throwable {
        Object target = call.getThis();
        Class<?> type = target == null ? call.getMethod().getDeclaringClass() : AopUtils.getTargetClass(target);
        LockedMethod locked = methods.find(call.getMethod(), type);
        if (locked == null) {
            return call.proceed();
        }
        String resource = locked.settings().resource(keys.get().resource(locked, call));
        return switch (locked.result()) {
            case VALUE, OPTIONAL -> {
                LockedWork<@Nullable Object, Throwable> work =
                        new LockedWork<>(acquirer.get(), resource, locked.settings());
                yield work.run(call::proceed, locked.result()::skipped);
            }
            case STAGE -> new LockedStage(acquirer.get(), resource, locked.settings()).run(call, locked.result());
            case MONO -> new LockedPublisher(acquirer.get(), resource, locked.settings()).mono(call);
            case FLUX -> new LockedPublisher(acquirer.get(), resource, locked.settings()).flux(call);
        };
    }
}
