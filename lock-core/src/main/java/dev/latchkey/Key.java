package dev.latchkey;

import java.io.InvalidObjectException;
import java.io.ObjectInputStream;
import java.io.Serializable;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * An owner of a resource: the name of the resource and a secret random token that proves ownership. A key can be
 * serialized and transferred to another process, which then owns the lock.
 *
 * <p>Two keys are equal if their resources and tokens are equal. Everybody who has the key or its serialized form can
 * release the lock: keep both secret.
 *
 * <p>Immutable and thread-safe.
 */
public final class Key implements Serializable {

    private static final long serialVersionUID = 1L;

    /** The maximum length of a resource, in bytes of UTF-8. */
    public static final int MAX_RESOURCE_BYTES = 16_384;

    static final int TOKEN_BYTES = 16;

    private static final SecureRandom RANDOM = new SecureRandom();
    private static final Base64.Encoder BASE64 = Base64.getUrlEncoder().withoutPadding();

    private final String resource;
    private final String token;
    private final transient Optional<Held> held;
    private final transient @Nullable String processBound;

    Key(String resource, String token, Optional<Held> held, @Nullable String processBound) {
        this.resource = resource;
        this.token = token;
        this.held = held;
        this.processBound = processBound;
    }

    /**
     * Creates a new owner with a random 128-bit token.
     *
     * @param resource the name of what the lock protects: any text, including the empty one, of at most
     *     {@link #MAX_RESOURCE_BYTES} bytes in UTF-8
     * @return a key that holds nothing yet
     * @throws IllegalArgumentException if the resource is too long, or is not valid Unicode (an unpaired surrogate)
     */
    public static Key of(String resource) {
        KeyText.checkResource(Objects.requireNonNull(resource, "resource"));
        return new Key(resource, newToken(), Optional.empty(), null);
    }

    /**
     * Reads a key that {@link #serialize()} wrote, in this process or in another one.
     *
     * @param text a serialized key
     * @return the key with what it held at that time; only the store knows whether it still does
     * @throws IllegalArgumentException if the text is not a complete and unaltered serialized key of a known version; the
     *     message says which, and never contains the text
     */
    public static Key deserialize(String text) {
        return KeyText.read(Objects.requireNonNull(text, "text"));
    }

    /**
     * Returns the name of what the lock protects.
     *
     * @return the resource, exactly as given
     */
    public String resource() {
        return resource;
    }

    /**
     * Returns the secret that proves ownership, for stores. Never log it.
     *
     * @return 22 characters of {@code A-Z a-z 0-9 - _}
     */
    public String token() {
        return token;
    }

    /**
     * Returns what was held when this key was obtained from its Lock.
     *
     * @return a snapshot that is not updated; empty if nothing was held
     */
    public Optional<Held> held() {
        return held;
    }

    /**
     * Writes the key as a short URL-safe text: resource, token and current hold, with a checksum. The text contains no
     * time, TTL, address or option.
     *
     * @return a text for {@link #deserialize(String)}; keep it secret, like the key
     * @throws UnserializableKeyException if the hold belongs to a store whose holds end with this process
     */
    public String serialize() {
        if (processBound != null) {
            throw new UnserializableKeyException(resource, processBound);
        }
        return KeyText.write(this);
    }

    /**
     * Returns an equal key that claims to hold something else, for a store that forwards requests to other stores.
     *
     * @param claim what the key claims to hold; empty for nothing
     * @return the same owner of the same resource
     */
    public Key claiming(Optional<Held> claim) {
        return holding(claim);
    }

    /** The same resource with another token: what the old one may still do in the store can then hurt nobody. */
    Key renewed() {
        return new Key(resource, newToken(), Optional.empty(), processBound);
    }

    /**
     * Returns an equal key that claims to hold something, as it is passed to a store in a request.
     *
     * @param nowHeld what the key claims to hold; empty for nothing
     * @return the same owner of the same resource
     */
    public Key holding(Optional<Held> nowHeld) {
        return new Key(resource, token, nowHeld, processBound);
    }

    Key boundToProcess(@Nullable String reason) {
        return new Key(resource, token, held, reason);
    }

    private static String newToken() {
        byte[] random = new byte[TOKEN_BYTES];
        RANDOM.nextBytes(random);
        return BASE64.encodeToString(random);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Key key && resource.equals(key.resource) && token.equals(key.token);
    }

    @Override
    public int hashCode() {
        return 31 * resource.hashCode() + token.hashCode();
    }

    /** Returns the resource and what is held, without the token. */
    @Override
    public String toString() {
        return "Key[" + LockException.shown(resource)
                + held.map(what -> ", " + what).orElse("") + "]";
    }

    private Object writeReplace() {
        return new Serialized(serialize());
    }

    private void readObject(ObjectInputStream in) throws InvalidObjectException {
        throw new InvalidObjectException("a Key is read through its serialized text");
    }

    /**
     * What a key held at one moment.
     *
     * @param mode the mode of the hold
     * @param fencingToken the token of the exclusive hold; empty for a shared hold, and if the store cannot provide a
     *     token
     */
    public record Held(LockMode mode, OptionalLong fencingToken) {

        @Override
        public String toString() {
            return mode + (fencingToken.isPresent() ? " fencingToken=" + fencingToken.getAsLong() : "");
        }
    }

    /** Stands in for the key in a Java serialization stream, so that both forms have one reader and one set of checks. */
    private record Serialized(String text) implements Serializable {
        @SuppressWarnings("ConstantValue") // a stream may hold anything
        private Object readResolve() throws InvalidObjectException {
            if (text == null) {
                throw new InvalidObjectException("not a serialized key: it has no text");
            }
            try {
                return deserialize(text);
            } catch (IllegalArgumentException e) {
                InvalidObjectException invalid = new InvalidObjectException(e.getMessage());
                invalid.initCause(e);
                throw invalid;
            }
        }
    }
}
