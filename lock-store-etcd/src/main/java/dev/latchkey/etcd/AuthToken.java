package dev.latchkey.etcd;

import io.etcd.jetcd.api.AuthenticateRequest;
import io.etcd.jetcd.api.AuthenticateResponse;
import io.grpc.Metadata;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** The token that a server gives for a password, and that goes with every request. It ends after a while. */
final class AuthToken {

    private static final Metadata.Key<String> TOKEN = Metadata.Key.of("token", Metadata.ASCII_STRING_MARSHALLER);
    private static final Metadata.Key<String> NEEDS_LEADER =
            Metadata.Key.of("hasleader", Metadata.ASCII_STRING_MARSHALLER);

    private final Optional<Credentials> credentials;
    private final AtomicReference<@Nullable CompletableFuture<Metadata>> asking = new AtomicReference<>();
    private volatile @Nullable Metadata headers;

    AuthToken(Optional<Credentials> credentials) {
        this.credentials = credentials;
        this.headers = credentials.isPresent() ? null : new Metadata();
    }

    /** Asks a server for a token. */
    interface Authentication {

        AuthenticateResponse ask(String resource, AuthenticateRequest request);
    }

    /**
     * Returns the same until it is discarded. All who need one at the same time wait for one request: a server spends some
     * hundredths of a second of a processor on each password.
     */
    Metadata headers(Authentication authentication, String resource, Duration limit) {
        Metadata known = headers;
        if (known != null) {
            return known;
        }
        CompletableFuture<Metadata> mine = new CompletableFuture<>();
        CompletableFuture<Metadata> first = asking.compareAndExchange(null, mine);
        if (first != null) {
            return joined(resource, first, limit);
        }
        try {
            Metadata fresh = Objects.requireNonNullElseGet(headers, () -> ask(authentication, resource));
            headers = fresh;
            mine.complete(fresh);
            return fresh;
        } catch (RuntimeException | Error e) {
            mine.completeExceptionally(e);
            throw e;
        } finally {
            asking.set(null);
        }
    }

    /** For no longer than a request of its own might take. */
    private static Metadata joined(String resource, CompletableFuture<Metadata> other, Duration limit) {
        try {
            return other.copy().orTimeout(limit.toNanos(), TimeUnit.NANOSECONDS).join();
        } catch (CompletionException e) {
            throw Failures.ofToken(resource, Objects.requireNonNullElse(e.getCause(), e));
        }
    }

    private Metadata ask(Authentication authentication, String resource) {
        Credentials who = credentials.orElseThrow();
        AuthenticateResponse answer = authentication.ask(
                resource,
                AuthenticateRequest.newBuilder()
                        .setName(who.user())
                        .setPassword(who.password())
                        .build());
        Metadata fresh = new Metadata();
        fresh.put(TOKEN, answer.getToken());
        return fresh;
    }

    Metadata streamHeaders(Authentication authentication, String resource, Duration limit) {
        Metadata all = new Metadata();
        all.merge(headers(authentication, resource, limit));
        all.put(NEEDS_LEADER, "true");
        return all;
    }

    /** Returns whether there may be a better one. */
    boolean discard(Metadata refused) {
        if (credentials.isEmpty()) {
            return false;
        }
        if (headers == refused) {
            headers = null;
        }
        return true;
    }
}
