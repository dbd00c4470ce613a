package dev.latchkey.cli.serve;

import com.sun.net.httpserver.Headers;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Who may see the page: everybody, or who has shown the secret, as a header or once for a cookie. */
final class Sessions {

    private static final long LONGEST_NANOS = Duration.ofHours(12).toNanos();
    private static final int MOST = 1_000;

    private final Optional<String> secret;
    private final String cookie;
    private final SecureRandom random = new SecureRandom();
    private final Map<String, Long> begun = new HashMap<>();

    /** Cookies know no ports: the name does, so that two servers of one host do not take each other's. */
    Sessions(Optional<String> secret, int port) {
        this.secret = secret;
        cookie = "latchkey-" + port;
    }

    boolean isNeeded() {
        return secret.isPresent();
    }

    boolean isOpen(Headers headers) {
        if (secret.isEmpty()) {
            return true;
        }
        String authorization = headers.getFirst("Authorization");
        if (authorization != null && authorization.startsWith("Bearer ")) {
            return matches(authorization.substring("Bearer ".length()));
        }
        return headers.getOrDefault("Cookie", List.of()).stream()
                .flatMap(line -> Arrays.stream(line.split(";", -1)))
                .map(String::strip)
                .filter(pair -> pair.startsWith(cookie + "="))
                .anyMatch(pair -> isBegun(pair.substring(cookie.length() + 1)));
    }

    /** Returns the cookie of a new session; empty if the secret is wrong. */
    Optional<String> begin(String shown) {
        if (!matches(shown)) {
            return Optional.empty();
        }
        byte[] bytes = new byte[32];
        random.nextBytes(bytes);
        String id = Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
        remember(id);
        return Optional.of(cookie + "=" + id + "; Path=/; HttpOnly; SameSite=Strict; Max-Age=43200");
    }

    private synchronized void remember(String id) {
        long now = System.nanoTime();
        begun.values().removeIf(since -> now - since > LONGEST_NANOS);
        if (begun.size() >= MOST) {
            begun.clear();
        }
        begun.put(id, now);
    }

    private synchronized boolean isBegun(String id) {
        Long since = begun.get(id);
        return since != null && System.nanoTime() - since <= LONGEST_NANOS;
    }

    private boolean matches(String shown) {
        return secret.isPresent()
                && MessageDigest.isEqual(
                        secret.get().getBytes(StandardCharsets.UTF_8), shown.getBytes(StandardCharsets.UTF_8));
    }
}
