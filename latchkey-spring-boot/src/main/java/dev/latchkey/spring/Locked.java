package dev.latchkey.spring;

import dev.latchkey.LockMode;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Runs a method of a bean under a lock. On a class, it applies to all public methods.
 *
 * <pre>{@code
 * @Locked("'order:' + #id")
 * @Transactional
 * public void ship(long id) { … }
 * }</pre>
 *
 * <p>The lock is acquired before the call, renewed while the method runs, and released after the method and its transaction
 * have ended. If the lock is lost, the thread is interrupted, the transaction is rolled back, and the call fails with
 * {@link dev.latchkey.LockLostException}. A nested call with the same key in the same thread reuses the lock. If the method
 * returns a {@code CompletionStage}, {@code Mono} or {@code Flux}, the lock is held until that has completed.
 *
 * <p>The annotation works through a proxy, like others of Spring: a call on {@code this} does not acquire the lock. Invalid
 * uses make the startup of the application fail.
 *
 * <p>Durations are written as {@code 500ms}, {@code 30s}, {@code 5m} or {@code PT30S}. Placeholders such as
 * {@code ${report.ttl}} are resolved.
 */
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
public @interface Locked {

    /**
     * Returns the key as a Spring expression, for example {@code 'nightly'}, {@code 'order:' + #id},
     * {@code #order.customer.id} or {@code @tenants.current()}.
     *
     * <p>Arguments are referred to by name, or as {@code #p0}, {@code #p1}. {@code #root.target} and {@code #root.method}
     * are available as well. The resource that is locked is {@code latchkey.prefix}, a colon and the key.
     *
     * @return an expression whose value must be neither null nor empty
     */
    String value();

    /**
     * Returns the mode of the lock: exclusive, or shared with other readers.
     *
     * @return the mode
     */
    LockMode mode() default LockMode.EXCLUSIVE;

    /**
     * Returns how many calls may run at the same time, in all processes together: each then holds one permit of a semaphore in
     * place of a lock, and the mode has no meaning. A nested call needs a permit of its own, unless it has the same key and
     * number. Needs a store with {@link dev.latchkey.Capability#SEMAPHORES}.
     *
     * @return the number of permits; 0 for a lock
     */
    int permits() default 0;

    /**
     * Returns what a call does if another holder has the lock.
     *
     * @return by default, to wait
     */
    IfHeld ifHeld() default IfHeld.WAIT;

    /**
     * Returns how long a call waits for the lock at most.
     *
     * @return a duration; empty for no limit with {@link IfHeld#WAIT}, and for no wait with {@link IfHeld#SKIP} and
     *     {@link IfHeld#FAIL}
     */
    String maxWait() default "";

    /**
     * Returns the TTL of the lease, which is renewed after each third of it while the method runs. If the process dies, others
     * have to wait until the TTL is over.
     *
     * @return a duration; empty for {@code latchkey.ttl}
     */
    String ttl() default "";

    /**
     * Returns for how long nobody else can acquire the lock, even if the method ends sooner. It prevents instances whose
     * clocks differ from running a scheduled job twice.
     *
     * @return a duration, counted from the grant; empty for none
     */
    String minHold() default "";

    /**
     * Returns the time after which the lock is lost even if the method is still running, for jobs that may hang.
     *
     * @return a duration, counted from the grant; empty for no limit
     */
    String maxHold() default "";
}
