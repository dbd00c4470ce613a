package dev.latchkey.spring;

import dev.latchkey.LockMode;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.GenericTypeResolver;
import org.springframework.expression.Expression;
import org.springframework.util.ClassUtils;

/** Reads the annotation of a method, and refuses what could not lock as it says. */
final class LockedMethodParser {

    private final UnaryOperator<String> placeholders;
    private final Supplier<Duration> ttl;
    private final KeyExpressions expressions = new KeyExpressions();

    LockedMethodParser(UnaryOperator<String> placeholders, Supplier<Duration> ttl) {
        this.placeholders = placeholders;
        this.ttl = ttl;
    }

    LockedMethod parse(Method method, Class<?> type, Locked locked) {
        checkProxied(method, type);
        Class<?> result = GenericTypeResolver.resolveReturnType(method, type);
        checkResult(method, result, locked);
        Expression key = expressions.parse(method, locked.value());
        return new LockedMethod(method, key, settings(method, locked), ResultKind.of(result));
    }

    private static void checkProxied(Method method, Class<?> type) {
        String obstacle = "";
        if (Modifier.isPrivate(method.getModifiers())) {
            obstacle = "private";
        } else if (Modifier.isStatic(method.getModifiers())) {
            obstacle = "static";
        } else if (Modifier.isFinal(method.getModifiers())) {
            obstacle = "final";
        }
        if (isOutOfReach(method, type)) {
            throw wrong(
                    method,
                    "it is package-private, and " + type.getName()
                            + " is in another package, so the proxy that takes the lock is passed by",
                    "Make the method public or protected.");
        }
        if (!obstacle.isEmpty()) {
            throw wrong(
                    method,
                    "it is " + obstacle + ", so the proxy that takes the lock is passed by",
                    "Make the method neither private nor static nor final, or call a LockTemplate in it instead of @Locked.");
        }
        if (Modifier.isFinal(type.getModifiers()) && !type.isInterface()) {
            throw wrong(
                    method,
                    "its class " + type.getSimpleName() + " is final, so there can be no proxy that takes the lock",
                    "Make the class not final, or call a LockTemplate in the method instead of @Locked.");
        }
    }

    /** A proxy is a subclass in the package of its bean. */
    private static boolean isOutOfReach(Method method, Class<?> type) {
        int anyElsewhere = Modifier.PUBLIC | Modifier.PROTECTED | Modifier.PRIVATE;
        return (method.getModifiers() & anyElsewhere) == 0
                && !method.getDeclaringClass().getPackage().equals(type.getPackage());
    }

    private static void checkResult(Method method, Class<?> result, Locked locked) {
        if (locked.ifHeld() == IfHeld.SKIP && result.isPrimitive() && result != void.class) {
            throw wrong(
                    method,
                    "a call that is skipped has no " + result + " to return",
                    "Return " + ClassUtils.resolvePrimitiveIfNecessary(result).getSimpleName()
                            + " or an Optional, or do not skip.");
        }
        if (ResultKind.of(result) == ResultKind.VALUE && ResultKind.isPending(result)) {
            throw wrong(
                    method,
                    "nobody can tell when a " + result.getSimpleName()
                            + " has completed, and the lock is to be released then",
                    "Return a CompletableFuture, a Mono or a Flux.");
        }
        Class<?>[] parameters = method.getParameterTypes();
        if (parameters.length > 0
                && parameters[parameters.length - 1].getName().equals("kotlin.coroutines.Continuation")) {
            throw wrong(
                    method,
                    "it is a suspend function, which goes on in other threads after it has returned",
                    "Call a LockTemplate around what blocks, or return a Mono.");
        }
    }

    private LockSettings settings(Method method, Locked locked) {
        Optional<Duration> maxWait = duration(method, "maxWait", locked.maxWait());
        if (maxWait.isEmpty() && locked.ifHeld() != IfHeld.WAIT) {
            maxWait = Optional.of(Duration.ZERO);
        }
        Duration minHold = duration(method, "minHold", locked.minHold()).orElse(Duration.ZERO);
        Optional<Duration> maxHold = duration(method, "maxHold", locked.maxHold());
        if (maxHold.isPresent() && minHold.compareTo(maxHold.get()) > 0) {
            throw wrong(method, "its minHold is longer than its maxHold", "Make the one shorter, or the other longer.");
        }
        if (locked.permits() < 0) {
            throw wrong(
                    method,
                    "there cannot be " + locked.permits() + " permits",
                    "Write how many calls may run at the same time, or 0 for a lock.");
        }
        // What is held is shared, as permits are.
        LockMode mode = locked.permits() > 0 ? LockMode.SHARED : locked.mode();
        return new LockSettings(
                mode,
                locked.ifHeld(),
                maxWait,
                duration(method, "ttl", locked.ttl()).orElseGet(ttl),
                minHold,
                maxHold,
                locked.permits());
    }

    private Optional<Duration> duration(Method method, String name, String text) {
        String resolved = placeholders.apply(text).strip();
        if (resolved.isEmpty()) {
            return Optional.empty();
        }
        try {
            Duration duration = DurationStyle.detectAndParse(resolved);
            if (duration.isNegative()) {
                throw new IllegalArgumentException("negative");
            }
            return Optional.of(duration);
        } catch (IllegalArgumentException | ArithmeticException e) {
            throw wrong(
                    method,
                    "its " + name + " \"" + resolved + "\" is no duration",
                    "Write it as 500ms, 30s, 5m, 2h or PT30S.");
        }
    }

    static LatchkeyConfigurationException wrong(Method method, String problem, String action) {
        return new LatchkeyConfigurationException(
                "@Locked cannot lock " + method.getDeclaringClass().getName() + "." + method.getName() + "(): "
                        + problem + ".",
                action);
    }
}
