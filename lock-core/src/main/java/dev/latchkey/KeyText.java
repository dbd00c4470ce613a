package dev.latchkey;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.zip.CRC32;

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
final class KeyText {

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

    private KeyText() {}

    static void checkResource(String resource) {
        // One char is at most three bytes of UTF-8, so a short name need not be encoded to be measured.
        if (resource.length() > Key.MAX_RESOURCE_BYTES / 3
                && resource.getBytes(StandardCharsets.UTF_8).length > Key.MAX_RESOURCE_BYTES) {
            throw new IllegalArgumentException("a resource of " + resource.length()
                    + " characters is too long: at most " + Key.MAX_RESOURCE_BYTES + " bytes of UTF-8");
        }
        int unpaired = unpairedSurrogate(resource);
        if (unpaired >= 0) {
            throw new IllegalArgumentException("the resource has an unpaired surrogate at index " + unpaired
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

    static String write(Key key) {
        byte[] resource = key.resource().getBytes(StandardCharsets.UTF_8);
        OptionalLong fence = key.held().map(Key.Held::fencingToken).orElse(OptionalLong.empty());
        byte[] bytes = new byte[SHORTEST + (fence.isPresent() ? Long.BYTES : 0) + resource.length];
        ByteBuffer out = ByteBuffer.wrap(bytes);
        out.put(kind(key.held()));
        fence.ifPresent(out::putLong);
        out.put(DECODER.decode(key.token())).put(resource);
        out.putInt(checksum(bytes));
        return VERSION_1 + ENCODER.encodeToString(bytes);
    }

    private static byte kind(Optional<Key.Held> held) {
        if (held.isEmpty()) {
            return NOTHING;
        }
        if (held.get().mode() == LockMode.SHARED) {
            return SHARED;
        }
        return held.get().fencingToken().isPresent() ? FENCED : EXCLUSIVE;
    }

    static Key read(String text) {
        byte[] bytes = decode(text);
        ByteBuffer in = ByteBuffer.wrap(bytes);
        Optional<Key.Held> held = readHeld(in);
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
            return new Key(name, ENCODER.encodeToString(token), held, null);
        } catch (CharacterCodingException e) {
            throw invalid("its resource is not UTF-8");
        }
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
        // Decoding ignores padding and spare bits: writing it again shows whether it is the one text for these bytes.
        if (bytes.length < SHORTEST
                || !ENCODER.encodeToString(bytes).equals(text.substring(VERSION_1.length()))
                || ByteBuffer.wrap(bytes).getInt(bytes.length - Integer.BYTES) != checksum(bytes)) {
            throw invalid("its checksum is wrong: truncated or altered");
        }
        return bytes;
    }

    private static Optional<Key.Held> readHeld(ByteBuffer in) {
        byte kind = in.get();
        if (kind == FENCED && in.remaining() < SHORTEST - 1 + Long.BYTES) {
            throw invalid("its fencing token is missing");
        }
        return switch (kind) {
            case NOTHING -> Optional.empty();
            case SHARED -> Optional.of(new Key.Held(LockMode.SHARED, OptionalLong.empty()));
            case EXCLUSIVE -> Optional.of(new Key.Held(LockMode.EXCLUSIVE, OptionalLong.empty()));
            case FENCED -> Optional.of(new Key.Held(LockMode.EXCLUSIVE, OptionalLong.of(in.getLong())));
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
