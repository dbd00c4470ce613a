package dev.latchkey.spring.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.context.PropertyMapping;

/**
 * Adds the auto-configuration of locks to a test slice such as {@code @WebMvcTest} or {@code @DataJpaTest}. By default, locks are
 * kept in memory.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@ImportAutoConfiguration
public @interface AutoConfigureLatchkey {

    /**
     * Returns the store of the locks.
     *
     * @return as {@code latchkey.store}
     */
    @PropertyMapping("latchkey.store")
    String store() default "in-memory";
}
