package dev.latchkey.spring;

import java.util.Optional;
import org.aopalliance.intercept.MethodInvocation;
import org.reactivestreams.Publisher;
import org.springframework.aop.ProxyMethodInvocation;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** Holds a lock from the subscription of a {@code Mono} or {@code Flux} until it has ended, by whatever. */
record LockedPublisher(Acquirer acquirer, String resource, LockSettings settings) {

    Mono<Object> mono(MethodInvocation call) {
        return Mono.usingWhen(
                acquire(), held -> held.isEmpty() ? Mono.empty() : Mono.from(proceed(call)), this::release);
    }

    Flux<Object> flux(MethodInvocation call) {
        return Flux.usingWhen(
                acquire(), held -> held.isEmpty() ? Flux.empty() : Flux.from(proceed(call)), this::release);
    }

    /** Waiting blocks: on a thread that may. */
    private Mono<Optional<HeldLock>> acquire() {
        return Mono.fromCallable(
                        () -> Optional.ofNullable(acquirer.acquire(resource, settings, Acquirer.OnLoss.IS_ONLY_KNOWN)))
                .subscribeOn(Schedulers.boundedElastic());
    }

    private Mono<Void> release(Optional<HeldLock> held) {
        return Mono.<Void>fromRunnable(() -> held.ifPresent(this::releaseOrThrow))
                .subscribeOn(Schedulers.boundedElastic());
    }

    private void releaseOrThrow(HeldLock held) {
        if (!acquirer.release(held)) {
            throw held.lost("it was lost before the work under it had ended");
        }
    }

    /** Each subscription calls the method anew. */
    private static Publisher<?> proceed(MethodInvocation call) {
        MethodInvocation again = call instanceof ProxyMethodInvocation proxied ? proxied.invocableClone() : call;
        try {
            return again.proceed() instanceof Publisher<?> publisher ? publisher : Mono.empty();
        } catch (Throwable e) {
            return Mono.error(e);
        }
    }
}
