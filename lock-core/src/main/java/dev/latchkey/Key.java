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
 * One would-be holder of a resource: the resource and a secret token that proves ownership. It can be serialized and
 * handed to another process, which then owns the lock.
 *
 * <p>Two keys are equal when resource and token are. Immutable and thread-safe. Whoever has the key, or its serialized
 * form, can release the lock: treat both as a secret.
 */
public final class Key implements Serializable {

    private static final long serialVersionUID = 1L;

    /** The longest resource, in bytes of UTF-8. */
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
     * Makes a new would-be holder with a fresh random 128-bit token.
     *
     * @param resource what is to be protected: any text, also empty, up to {@link #MAX_RESOURCE_BYTES}
     * @return a key that holds nothing yet
     * @throws IllegalArgumentException if the resource is too long, or is not valid Unicode (an unpaired surrogate)
     */
    public static Key of(String resource) {
        KeyText.checkResource(Objects.requireNonNull(resource, "resource"));
        return new Key(resource, newToken(), Optional.empty(), null);
    }

    /**
     * Reads what {@link #serialize()} wrote, in this process or another.
     *
     * @param text a serialized key
     * @return the key with what it held then; only the store knows whether it still does
     * @throws IllegalArgumentException if the text is not a whole, unaltered serialized key of a version known here;
     *     the message says which and never repeats the text
     */
    public static Key deserialize(String text) {
        return KeyText.read(Objects.requireNonNull(text, "text"));
    }

    /**
     * Returns what the lock protects.
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
     * Returns what was held when this key was taken from its lock.
     *
     * @return a snapshot, not kept up to date; empty when nothing was held
     */
    public Optional<Held> held() {
        return held;
    }

    /**
     * Writes the key as a short URL-safe text: resource, token and what is held, with a checksum. It holds no clock, TTL,
     * address or option.
     *
     * @return a text for {@link #deserialize(String)}; a secret, as the key is
     * @throws UnserializableKeyException if the key is of a store whose holds end with this process
     */
    public String serialize() {
        if (processBound != null) {
            throw new UnserializableKeyException(resource, processBound);
        }
        return KeyText.write(this);
    }

    /**
     * Returns the same owner claiming to hold something else, for a store that passes requests on to others.
     *
     * @param claim what it is to claim, empty for nothing
     * @return an equal key
     */
    public Key claiming(Optional<Held> claim) {
        return holding(claim);
    }

    /** The same resource with another token: what the old one may still do in the store can then hurt nobody. */
    Key renewed() {
        return new Key(resource, newToken(), Optional.empty(), processBound);
    }

    /**
     * Returns an equal key that claims to hold something, as a store is told it in a request.
     *
     * @param nowHeld what is believed to be held; empty: nothing
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
     * @param mode how
     * @param fencingToken the number of the exclusive hold; empty while shared, and where the store cannot mint one
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
