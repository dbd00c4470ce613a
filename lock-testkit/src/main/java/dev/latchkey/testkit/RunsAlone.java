package dev.latchkey.testkit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * Says that a contract test counts or takes what all tests of the JVM share, such as its threads, its open files or its common
 * pool, or disturbs a server that others use: while it runs, no other contract test does, also where JUnit runs tests
 * concurrently.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
@ResourceLock(value = StoreContract.SHARED_BY_ALL, mode = ResourceAccessMode.READ_WRITE)
public @interface RunsAlone {}
