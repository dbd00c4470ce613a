package dev.latchkey.etcd;

import io.etcd.jetcd.api.AuthenticateRequest;
import io.etcd.jetcd.api.AuthenticateResponse;
import io.grpc.Metadata;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The token that a server gives for a password, and that goes with every request. It ends after a while. */
final class AuthToken {

    private static final Metadata.Key<String> TOKEN = Metadata.Key.of("token", Metadata.ASCII_STRING_MARSHALLER);
    private static final Metadata.Key<String> NEEDS_LEADER =
            Metadata.Key.of("hasleader", Metadata.ASCII_STRING_MARSHALLER);

    private final Optional<Credentials> credentials;
    private volatile @Nullable Metadata headers;

    AuthToken(Optional<Credentials> credentials) {
        this.credentials = credentials;
        this.headers = credentials.isPresent() ? null : new Metadata();
    }

    /** Asks a server for a token. */
    interface Authentication {

        AuthenticateResponse ask(String resource, AuthenticateRequest request);
    }

    /** Returns the same until it is discarded. */
    Metadata headers(Authentication authentication, String resource) {
        Metadata known = headers;
        if (known != null) {
            return known;
        }
        Credentials who = credentials.orElseThrow();
        AuthenticateResponse answer = authentication.ask(
                resource,
                AuthenticateRequest.newBuilder()
                        .setName(who.user())
                        .setPassword(who.password())
                        .build());
        Metadata fresh = new Metadata();
        fresh.put(TOKEN, answer.getToken());
        headers = fresh;
        return fresh;
    }

    Metadata streamHeaders(Authentication authentication, String resource) {
        Metadata all = new Metadata();
        all.merge(headers(authentication, resource));
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
