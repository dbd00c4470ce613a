package dev.latchkey.spring;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The properties {@code latchkey.*}.
 *
 * @param store where locks are kept: {@code jdbc}, {@code redis} or {@code mongodb} for the client that the application has, or a
 *     DSN. Needed only if the application has clients of several stores
 * @param ttl TTL of locks, which are renewed at every third of it while their method runs
 * @param prefix put before each key, with a colon
 * @param failFast whether the start of the application fails if it uses locks, and the store cannot be reached
 */
@ConfigurationProperties("latchkey")
record LatchkeyProperties(
        @Nullable String store,
        @DefaultValue("30s") Duration ttl,
        @DefaultValue("") String prefix,
        @DefaultValue("true") boolean failFast) {

    /** Without the store, whose DSN may contain a password. */
    @Override
    public String toString() {
        return "LatchkeyProperties[ttl=" + ttl + ", prefix=" + prefix + ", failFast=" + failFast + "]";
    }
}
