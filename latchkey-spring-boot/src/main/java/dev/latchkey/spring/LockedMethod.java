package dev.latchkey.spring;

import java.lang.reflect.Method;
import org.springframework.expression.Expression;

/** A method that is {@link Locked}, as far as it is the same for all calls. */
record LockedMethod(Method method, Expression key, LockSettings settings, ResultKind result) {

    IllegalArgumentException wrongKey(String problem) {
        return new IllegalArgumentException("the key " + key.getExpressionString() + " of "
                + method.getDeclaringClass().getName() + "." + method.getName() + "() is " + problem);
    }
}
