package dev.latchkey.spring;

import java.lang.reflect.Method;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** How a method gives its result, and with it the end of its work. */
enum ResultKind {
    /** When it returns. */
    VALUE,
    /** By an {@link Optional}. */
    OPTIONAL,
    /** By a {@link CompletionStage}. */
    STAGE,
    /** By a {@code Mono} of Reactor. */
    MONO,
    /** By a {@code Flux} of Reactor. */
    FLUX;

    static ResultKind of(Method method) {
        Class<?> type = method.getReturnType();
        if (type == Optional.class) {
            return OPTIONAL;
        }
        if (CompletionStage.class.isAssignableFrom(type)) {
            return STAGE;
        }
        return switch (type.getName()) {
            case "reactor.core.publisher.Mono" -> MONO;
            case "reactor.core.publisher.Flux" -> FLUX;
            default -> VALUE;
        };
    }

    /** What a call that is skipped returns; a {@code Mono} and a {@code Flux} find out later. */
    @Nullable Object skipped() {
        return switch (this) {
            case OPTIONAL -> Optional.empty();
            case STAGE -> CompletableFuture.completedFuture(null);
            case VALUE, MONO, FLUX -> null;
        };
    }
}
