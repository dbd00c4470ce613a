package dev.latchkey.spring;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/** Finds the methods of a class that are {@link Locked}, once per class. Thread-safe. */
final class LockedMethods {

    private final LockedMethodParser parser;
    private final LockedCandidates candidates = new LockedCandidates();
    private final Map<Class<?>, Map<Method, LockedMethod>> known = new ConcurrentHashMap<>();

    LockedMethods(LockedMethodParser parser) {
        this.parser = parser;
    }

    /**
     * Returns all of a class by their most specific declaration.
     *
     * @throws LatchkeyConfigurationException if one cannot be locked as it says
     */
    Map<Method, LockedMethod> of(Class<?> type) {
        Class<?> userType = ClassUtils.getUserClass(type);
        Map<Method, LockedMethod> found = known.get(userType);
        if (found == null) {
            // Not computeIfAbsent: parsing may create beans, whose classes are looked at meanwhile.
            found = find(userType);
            known.put(userType, found);
        }
        return found;
    }

    /** An interface that the class does not implement may be that of a repository, or of a client. */
    @Nullable LockedMethod find(Method method, Class<?> type) {
        Map<Method, LockedMethod> all = of(type);
        LockedMethod found = all.get(method);
        if (found == null && !all.isEmpty()) {
            found = all.get(AopUtils.getMostSpecificMethod(method, type));
        }
        Class<?> declaring = method.getDeclaringClass();
        return found == null && declaring.isInterface() ? of(declaring).get(method) : found;
    }

    /** Returns all that were found so far. */
    List<LockedMethod> all() {
        return known.values().stream()
                .flatMap(methods -> methods.values().stream())
                .toList();
    }

    private Map<Method, LockedMethod> find(Class<?> type) {
        if (!candidates.mayHave(type)) {
            return Map.of();
        }
        Map<Method, LockedMethod> found = new LinkedHashMap<>();
        if (Proxy.isProxyClass(type)) {
            for (Class<?> one : type.getInterfaces()) {
                found.putAll(find(one));
            }
            return found;
        }
        Locked ofType = AnnotatedElementUtils.findMergedAnnotation(type, Locked.class);
        for (Method method : declared(type)) {
            Locked locked = locked(method, ofType);
            if (locked != null) {
                found.put(method, parser.parse(method, type, locked));
            }
        }
        return found.isEmpty() ? Map.of() : found;
    }

    private static @Nullable Locked locked(Method method, @Nullable Locked ofType) {
        if (method.isBridge() || method.isSynthetic() || method.getDeclaringClass() == Object.class) {
            return null;
        }
        Locked own = AnnotatedElementUtils.findMergedAnnotation(method, Locked.class);
        boolean byType = Modifier.isPublic(method.getModifiers()) && !Modifier.isStatic(method.getModifiers());
        return own == null && byType ? ofType : own;
    }

    /** Those of the class and its superclasses, and what it inherits from interfaces. */
    private static Set<Method> declared(Class<?> type) {
        Set<Method> methods = new LinkedHashSet<>(Arrays.asList(ReflectionUtils.getUniqueDeclaredMethods(type)));
        Stream.of(ClassUtils.getAllInterfacesForClass(type))
                .flatMap(one -> Stream.of(one.getMethods()))
                .map(method -> AopUtils.getMostSpecificMethod(method, type))
                .forEach(methods::add);
        return methods;
    }
}
