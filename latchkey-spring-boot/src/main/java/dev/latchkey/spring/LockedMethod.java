package dev.latchkey.spring;

import java.lang.reflect.Method;
import org.springframework.expression.Expression;

/** A method that is {@link Locked}, as far as it is the same for all calls. */
record LockedMethod(Method method, Expression key, LockSettings settings, ResultKind result) {}
