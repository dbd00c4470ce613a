package dev.latchkey;

import java.io.InvalidObjectException;
import java.io.ObjectInputStream;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.zip.CRC32;
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
        checkResource(resource);
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
        Text read = Text.read(Objects.requireNonNull(text, "text"));
        Optional<Held> held = Optional.ofNullable(read.mode()).map(mode -> new Held(mode, read.fencingToken()));
        return new Key(read.resource(), read.token(), held, null);
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
        OptionalLong fencingToken = held.map(Held::fencingToken).orElse(OptionalLong.empty());
        return new Text(resource, token, held.map(Held::mode).orElse(null), fencingToken).write();
    }

    /** Refuses what no key has as its resource. */
    static void checkResource(String resource) {
        Text.checkResource(Objects.requireNonNull(resource, "resource"));
    }

    /** Refuses a prefix that ends within a character: in bytes it would be that of other names. */
    static void checkPrefix(String prefix) {
        Text.checkUnicode("prefix", Objects.requireNonNull(prefix, "prefix"));
    }

    /**
     * Returns another owner of the same resource, with a token of its own.
     *
     * @return a key that holds nothing yet: what this one may still do in the store does not concern it
     */
    public Key renewed() {
        return new Key(resource, newToken(), Optional.empty(), processBound);
    }

    /**
     * Returns an equal key that claims to hold something else, as it is passed to a store in a request.
     *
     * @param claim what the key claims to hold; empty for nothing
     * @return the same owner of the same resource
     */
    public Key claiming(Optional<Held> claim) {
        return new Key(resource, token, claim, processBound);
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

    /**
     * The serialized form of a key: {@code lk1.} and the base64url of
     *
     * <pre>
     * 1 byte    what is held: 0 nothing, 1 shared, 2 exclusive, 3 exclusive with a fencing token
     * 8 bytes   the fencing token, only after 3
     * 16 bytes  the token
     * n bytes   the resource in UTF-8
     * 4 bytes   CRC-32 of all before it: finds damage, not forgery; the token is the secret
     * </pre>
     */
    private record Text(
            String resource, String token, @Nullable LockMode mode, OptionalLong fencingToken) {

        private static final String FAMILY = "lk";
        private static final String VERSION_1 = FAMILY + "1.";
        private static final int SHORTEST = 1 + Key.TOKEN_BYTES + Integer.BYTES;
        private static final int LONGEST = SHORTEST + Long.BYTES + Key.MAX_RESOURCE_BYTES;
        private static final int LONGEST_TEXT = VERSION_1.length() + (LONGEST * 4 + 2) / 3;

        private static final byte NOTHING = 0;
        private static final byte SHARED = 1;
        private static final byte EXCLUSIVE = 2;
        private static final byte FENCED = 3;

        private static final Base64.Encoder ENCODER = Base64.getUrlEncoder().withoutPadding();
        private static final Base64.Decoder DECODER = Base64.getUrlDecoder();

        static void checkResource(String resource) {
            // One char is at most three bytes of UTF-8, so a short name need not be encoded to be measured.
            if (resource.length() > Key.MAX_RESOURCE_BYTES / 3
                    && resource.getBytes(StandardCharsets.UTF_8).length > Key.MAX_RESOURCE_BYTES) {
                throw new IllegalArgumentException("a resource of " + resource.length()
                        + " characters is too long: at most " + Key.MAX_RESOURCE_BYTES + " bytes of UTF-8");
            }
            checkUnicode("resource", resource);
        }

        private static void checkUnicode(String what, String text) {
            int unpaired = unpairedSurrogate(text);
            if (unpaired >= 0) {
                throw new IllegalArgumentException("the " + what + " has an unpaired surrogate at index " + unpaired
                        + ": it is not valid Unicode, and no store could tell it from another name");
            }
        }

        private static int unpairedSurrogate(String text) {
            for (int i = 0; i < text.length(); i++) {
                if (Character.isSurrogate(text.charAt(i))) {
                    if (!Character.isSupplementaryCodePoint(text.codePointAt(i))) {
                        return i;
                    }
                    i++;
                }
            }
            return -1;
        }

        String write() {
            byte[] name = resource.getBytes(StandardCharsets.UTF_8);
            byte[] bytes = new byte[SHORTEST + (fencingToken.isPresent() ? Long.BYTES : 0) + name.length];
            ByteBuffer out = ByteBuffer.wrap(bytes);
            out.put(kind());
            fencingToken.ifPresent(out::putLong);
            out.put(DECODER.decode(token)).put(name);
            out.putInt(checksum(bytes));
            return VERSION_1 + ENCODER.encodeToString(bytes);
        }

        private byte kind() {
            if (mode == null) {
                return NOTHING;
            }
            if (mode == LockMode.SHARED) {
                return SHARED;
            }
            return fencingToken.isPresent() ? FENCED : EXCLUSIVE;
        }

        static Text read(String text) {
            byte[] bytes = decode(text);
            ByteBuffer in = ByteBuffer.wrap(bytes);
            byte kind = in.get();
            LockMode mode = mode(kind);
            if (kind == FENCED && in.remaining() < SHORTEST - 1 + Long.BYTES) {
                throw invalid("its fencing token is missing");
            }
            OptionalLong fence = kind == FENCED ? OptionalLong.of(in.getLong()) : OptionalLong.empty();
            byte[] token = new byte[Key.TOKEN_BYTES];
            byte[] resource = new byte[in.remaining() - Integer.BYTES - token.length];
            if (resource.length > Key.MAX_RESOURCE_BYTES) {
                throw invalid("its resource has more than " + Key.MAX_RESOURCE_BYTES + " bytes");
            }
            in.get(token).get(resource);
            try {
                String name = StandardCharsets.UTF_8
                        .newDecoder()
                        .decode(ByteBuffer.wrap(resource))
                        .toString();
                return new Text(name, ENCODER.encodeToString(token), mode, fence);
            } catch (CharacterCodingException e) {
                throw invalid("its resource is not UTF-8");
            }
        }

        /** Without the token. */
        @Override
        public String toString() {
            return "Text[" + LockException.shown(resource) + "]";
        }

        private static byte[] decode(String text) {
            if (!text.startsWith(VERSION_1)) {
                throw invalid(
                        text.matches("(?s)" + FAMILY + "\\d+\\..*")
                                ? "it was written by another version; this one reads \"" + VERSION_1 + "…\""
                                : "it does not start with \"" + VERSION_1 + "\"");
            }
            if (text.length() > LONGEST_TEXT) {
                throw invalid("it has " + text.length() + " characters, more than the " + LONGEST_TEXT + " possible");
            }
            byte[] bytes;
            try {
                bytes = DECODER.decode(text.substring(VERSION_1.length()));
            } catch (IllegalArgumentException e) {
                throw invalid("it has characters or a length that base64url has not: truncated or altered");
            }
            // Decoding ignores padding and spare bits: encoded again, the bytes have to give this text.
            if (bytes.length < SHORTEST
                    || !ENCODER.encodeToString(bytes).equals(text.substring(VERSION_1.length()))
                    || ByteBuffer.wrap(bytes).getInt(bytes.length - Integer.BYTES) != checksum(bytes)) {
                throw invalid("its checksum is wrong: truncated or altered");
            }
            return bytes;
        }

        private static @Nullable LockMode mode(byte kind) {
            return switch (kind) {
                case NOTHING -> null;
                case SHARED -> LockMode.SHARED;
                case EXCLUSIVE, FENCED -> LockMode.EXCLUSIVE;
                default -> throw invalid("what it holds is of an unknown kind");
            };
        }

        private static int checksum(byte[] bytes) {
            CRC32 crc = new CRC32();
            crc.update(bytes, 0, bytes.length - Integer.BYTES);
            return (int) crc.getValue();
        }

        private static IllegalArgumentException invalid(String problem) {
            return new IllegalArgumentException("not a serialized key: " + problem
                    + ". Pass the complete text that Key.serialize() or `lock acquire` returned");
        }
    }
}
