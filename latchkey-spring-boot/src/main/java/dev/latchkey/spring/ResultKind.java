package dev.latchkey.spring;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.stream.Stream;
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

    /** A subclass of a stage is none: what is returned in its place would not be of its type. */
    static ResultKind of(Class<?> type) {
        if (type == Optional.class) {
            return OPTIONAL;
        }
        if (type == CompletionStage.class || type == CompletableFuture.class) {
            return STAGE;
        }
        return switch (type.getName()) {
            case "reactor.core.publisher.Mono" -> MONO;
            case "reactor.core.publisher.Flux" -> FLUX;
            default -> VALUE;
        };
    }

    /** Whether work may go on after a method has returned such a result. */
    static boolean isPending(Class<?> type) {
        return Future.class.isAssignableFrom(type) || CompletionStage.class.isAssignableFrom(type) || isPublisher(type);
    }

    /** By its name: Reactive Streams may not be there. */
    private static boolean isPublisher(@Nullable Class<?> type) {
        return type != null
                && (type == Flow.Publisher.class
                        || type.getName().equals("org.reactivestreams.Publisher")
                        || isPublisher(type.getSuperclass())
                        || Stream.of(type.getInterfaces()).anyMatch(ResultKind::isPublisher));
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
