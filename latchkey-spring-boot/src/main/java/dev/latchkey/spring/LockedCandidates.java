package dev.latchkey.spring;

import java.lang.annotation.Annotation;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.util.ReflectionUtils;

/**
 * Tells cheaply of nearly every class of an application that nothing in it is {@link Locked}: the start looks at the class of each
 * bean, and what those have in common once. Thread-safe.
 */
final class LockedCandidates {

    private final Map<Class<?>, Boolean> types = new ConcurrentHashMap<>();
    private final Map<Class<? extends Annotation>, Boolean> annotations = new ConcurrentHashMap<>();

    /** Whether the class, or anything that it inherits from, has the annotation anywhere. */
    boolean mayHave(Class<?> type) {
        if (type.getName().startsWith("java.")) {
            return false;
        }
        Boolean known = types.get(type);
        if (known == null) {
            known = hasItself(type) || inherits(type);
            types.put(type, known);
        }
        return known;
    }

    private boolean inherits(Class<?> type) {
        Class<?> superclass = type.getSuperclass();
        if (superclass != null && mayHave(superclass)) {
            return true;
        }
        for (Class<?> one : type.getInterfaces()) {
            if (mayHave(one)) {
                return true;
            }
        }
        return false;
    }

    private boolean hasItself(Class<?> type) {
        if (isAny(type.getDeclaredAnnotations())) {
            return true;
        }
        AtomicBoolean found = new AtomicBoolean();
        // Cached by Spring, which has looked at them for other reasons.
        ReflectionUtils.doWithLocalMethods(type, method -> {
            if (!found.get() && isAny(method.getDeclaredAnnotations())) {
                found.set(true);
            }
        });
        return found.get();
    }

    private boolean isAny(Annotation[] declared) {
        for (Annotation one : declared) {
            if (isLocked(one.annotationType())) {
                return true;
            }
        }
        return false;
    }

    /** Itself, or an annotation that is made of it. */
    private boolean isLocked(Class<? extends Annotation> type) {
        return type == Locked.class
                || annotations.computeIfAbsent(
                        type, one -> MergedAnnotations.from(one).isPresent(Locked.class));
    }
}
