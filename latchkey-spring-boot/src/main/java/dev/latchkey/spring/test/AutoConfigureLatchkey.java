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
 * Adds locks to a slice test, such as {@code @WebMvcTest} or {@code @DataJpaTest}, which has no auto-configuration but its own. They
 * are kept in memory, unless it is said otherwise, and so are those of any other test with this annotation.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@ImportAutoConfiguration
public @interface AutoConfigureLatchkey {

    /**
     * Returns where locks are kept.
     *
     * @return as {@code latchkey.store}
     */
    @PropertyMapping("latchkey.store")
    String store() default "in-memory";
}
