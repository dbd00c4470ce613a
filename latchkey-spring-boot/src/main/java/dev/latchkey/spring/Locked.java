package dev.latchkey.spring;

import dev.latchkey.LockMode;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Runs a method of a bean under a lock: acquires it before, renews it meanwhile, and releases it after the method and the
 * transaction that it runs in have ended. On a class, for all its public methods.
 *
 * <pre>{@code
 * @Locked("'order:' + #id")
 * @Transactional
 * public void ship(long id) { … }
 * }</pre>
 *
 * <p>A lock that is lost meanwhile interrupts the thread; the transaction is not committed, and the call ends with
 * {@link dev.latchkey.LockLostException}. A call in the same thread for the same key goes on under the hold that is there. A
 * {@code CompletionStage}, {@code Mono} or {@code Flux} that the method returns is under the lock until it has completed.
 *
 * <p>Works as other annotations of Spring do, by a proxy: a call by {@code this} takes no lock. A method that is private or final, a
 * key that is empty or names no argument, and the like end the start of the application.
 *
 * <p>Durations are written as {@code 500ms}, {@code 30s}, {@code 5m} or {@code PT30S}; they may be placeholders, {@code
 * ${report.ttl}}.
 */
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
public @interface Locked {

    /**
     * Returns the key, as an expression of Spring: {@code 'nightly'}, {@code 'order:' + #id}, {@code #order.customer.id},
     * {@code @tenants.current()}. Arguments go by their names, or {@code #p0}, {@code #p1}; {@code #root.target} and
     * {@code #root.method} are there, too. {@code latchkey.prefix} and a colon are put before it.
     *
     * @return an expression whose value is neither null nor empty
     */
    String value();

    /**
     * Returns whether the method runs alone or together with others that only read.
     *
     * @return the mode
     */
    LockMode mode() default LockMode.EXCLUSIVE;

    /**
     * Returns what happens if another holds the lock.
     *
     * @return to wait, unless it is said otherwise
     */
    IfHeld ifHeld() default IfHeld.WAIT;

    /**
     * Returns how long to wait for the lock at the most.
     *
     * @return a duration; empty for as long as it takes, and for not at all if it is to {@linkplain IfHeld#SKIP skip} or to
     *     {@linkplain IfHeld#FAIL fail}
     */
    String maxWait() default "";

    /**
     * Returns the TTL of the lease, which is renewed at every third of it while the method runs: if the process dies, others wait
     * this long.
     *
     * @return a duration; empty for {@code latchkey.ttl}
     */
    String ttl() default "";

    /**
     * Returns how long the lock is kept from others at the least, though the method ends sooner: for a job that several instances
     * begin at about the same time, by clocks that differ.
     *
     * @return a duration, counted from the grant; empty for not at all
     */
    String minHold() default "";

    /**
     * Returns after what time the lock is lost, however long the method runs: for a job that may hang.
     *
     * @return a duration, counted from the grant; empty for never
     */
    String maxHold() default "";
}
