package dev.latchkey.testkit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Says which capabilities of a store oblige its test to join a contract: {@link StoreRules} looks at it. */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface ContractFor {

    /**
     * Returns the interfaces of {@code dev.latchkey.spi} a store must all have.
     *
     * @return capabilities
     */
    Class<?>[] value();

    /**
     * Returns the contracts that a test must all join before it has to join this one as well: for what the type of a store
     * does not show.
     *
     * @return contracts; none unless said
     */
    Class<?>[] with() default {};

    /**
     * Returns the contracts of which one may take the place of this one: for what a store does not do, and says so.
     *
     * @return contracts; none unless said
     */
    Class<?>[] unless() default {};
}
