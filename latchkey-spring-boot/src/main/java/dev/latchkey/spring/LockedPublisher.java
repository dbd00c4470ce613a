package dev.latchkey.spring;

import dev.latchkey.LockFactory;
import java.util.Optional;
import org.aopalliance.intercept.MethodInvocation;
import org.reactivestreams.Publisher;
import org.springframework.aop.ProxyMethodInvocation;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.context.ContextView;

/** Holds a lock from the subscription of a {@code Mono} or {@code Flux} until it has ended, by whatever. */
record LockedPublisher(Acquirer acquirer, String resource, LockSettings settings) {

    /** In the context of a subscription that works under a lock. */
    private record UnderLock(LockFactory factory, String resource) {}

    Mono<Object> mono(MethodInvocation call) {
        return Mono.deferContextual(context -> {
            checkNotNested(context);
            SubscriptionLock lock = new SubscriptionLock(this);
            return Mono.<Object, Optional<HeldLock>>usingWhen(
                            lock.acquire(), held -> Mono.from(proceed(call, lock, held)), held -> lock.release())
                    .doOnCancel(lock::cancel)
                    .contextWrite(inner -> inner.put(underLock(), true));
        });
    }

    Flux<Object> flux(MethodInvocation call) {
        return Flux.deferContextual(context -> {
            checkNotNested(context);
            SubscriptionLock lock = new SubscriptionLock(this);
            return Flux.<Object, Optional<HeldLock>>usingWhen(
                            lock.acquire(), held -> Flux.from(proceed(call, lock, held)), held -> lock.release())
                    .doOnCancel(lock::cancel)
                    .contextWrite(inner -> inner.put(underLock(), true));
        });
    }

    private UnderLock underLock() {
        return new UnderLock(acquirer.factory(), resource);
    }

    private void checkNotNested(ContextView context) {
        if (context.hasKey(underLock()) || HeldLocks.find(acquirer, resource) != null) {
            throw new IllegalStateException(
                    "lock \"" + resource + "\": what subscribes holds it already, and would wait"
                            + " for itself: subscribe to what is locked without the outer lock");
        }
    }

    /** Each subscription calls the method anew. */
    private static Publisher<?> proceed(MethodInvocation call, SubscriptionLock lock, Optional<HeldLock> held) {
        if (!lock.take() || held.isEmpty()) {
            return Mono.empty();
        }
        MethodInvocation again = call instanceof ProxyMethodInvocation proxied ? proxied.invocableClone() : call;
        HeldLocks.add(held.get());
        try {
            return again.proceed() instanceof Publisher<?> publisher ? publisher : Mono.empty();
        } catch (Throwable e) {
            return Mono.error(e);
        } finally {
            HeldLocks.remove(held.get());
        }
    }
}
