package dev.latchkey;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InvalidObjectException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.util.HashSet;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class KeyTest {

    static Stream<String> resources() {
        return Stream.of(
                "", "/", "..", "a b", "line\nbreak", "nul\0", "Grüße", "🔒🗝", "x".repeat(10_000), "é".repeat(8_192));
    }

    static Stream<Optional<Key.Held>> helds() {
        return Stream.of(
                Optional.empty(),
                Optional.of(new Key.Held(LockMode.SHARED, OptionalLong.empty())),
                Optional.of(new Key.Held(LockMode.EXCLUSIVE, OptionalLong.empty())),
                Optional.of(new Key.Held(LockMode.EXCLUSIVE, OptionalLong.of(Long.MAX_VALUE))),
                Optional.of(new Key.Held(LockMode.EXCLUSIVE, OptionalLong.of(0))));
    }

    @ParameterizedTest
    @MethodSource("resources")
    void givenAnyResource_whenSerialized_thenReadBackEqualAndUrlSafe(String resource) {
        Key key = Key.of(resource);

        String text = key.serialize();

        assertThat(Key.deserialize(text)).isEqualTo(key);
        assertThat(Key.deserialize(text).resource()).isEqualTo(resource);
        assertThat(text).matches("lk1\\.[A-Za-z0-9_-]+");
    }

    @ParameterizedTest
    @MethodSource("helds")
    void givenWhatIsHeld_whenSerialized_thenReadBack(Optional<Key.Held> held) {
        Key key = Key.of("orders").claiming(held);

        Key read = Key.deserialize(key.serialize());

        assertThat(read.held()).isEqualTo(held);
    }

    @Test
    void givenShortResource_whenSerialized_thenShort() {
        assertThat(Key.of("pdf-creation").serialize()).hasSizeLessThan(60);
    }

    @Test
    void givenKey_whenJavaSerialized_thenReadBackWithWhatWasHeld() throws Exception {
        Key key = Key.of("orders").claiming(Optional.of(new Key.Held(LockMode.EXCLUSIVE, OptionalLong.of(7))));

        Key read = (Key) javaRead(javaWritten(key));

        assertThat(read).isEqualTo(key);
        assertThat(read.held()).isEqualTo(key.held());
    }

    @Test
    void givenAlteredJavaStream_whenRead_thenRefusedAsInvalid() throws Exception {
        byte[] stream = javaWritten(Key.of("orders"));
        stream[stream.length - 3] ^= 1;

        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> javaRead(stream))
                .withMessageContaining("not a serialized key");
    }

    /** A copied Lock would be a second owner that knows nothing of the first. */
    @Test
    void givenLockAndFactory_thenTheyDoNotTravelAsKeysDo() {
        assertThat(Serializable.class).isAssignableFrom(Key.class);
        assertThat(Serializable.class.isAssignableFrom(Lock.class)).isFalse();
        assertThat(Serializable.class.isAssignableFrom(LockFactory.class)).isFalse();
    }

    @Test
    void givenProcessBoundKey_whenSerialized_thenRefusedWithTheReason() {
        Key key = Key.of("orders").boundToProcess("its lock is a file lock");

        assertThatExceptionOfType(UnserializableKeyException.class)
                .isThrownBy(key::serialize)
                .withMessage("lock \"orders\": its key cannot be serialized: its lock is a file lock")
                .satisfies(e -> assertThat(e.resource()).isEqualTo("orders"));
        assertThatExceptionOfType(UnserializableKeyException.class).isThrownBy(() -> javaWritten(key));
    }

    @Test
    void givenKeyText_whenCutShortAnywhere_thenRefused() {
        String text = Key.of("orders").serialize();

        for (int length = 0; length < text.length(); length++) {
            String cut = text.substring(0, length);
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> Key.deserialize(cut))
                    .withMessageStartingWith("not a serialized key");
        }
    }

    @Test
    void givenKeyText_whenAnyCharacterIsAltered_thenRefused() {
        String text = Key.of("orders").serialize();

        for (int i = 0; i < text.length(); i++) {
            String altered = text.substring(0, i) + (text.charAt(i) == 'A' ? 'B' : 'A') + text.substring(i + 1);
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> Key.deserialize(altered))
                    .withMessageStartingWith("not a serialized key");
        }
    }

    @Test
    void givenRandomText_whenRead_thenRefusedAsIllegalArgumentAndNothingElse() {
        Random random = new Random(42);

        for (int i = 0; i < 20_000; i++) {
            byte[] bytes = new byte[random.nextInt(80)];
            random.nextBytes(bytes);
            String text = "lk1."
                    + (i % 2 == 0
                            ? java.util.Base64.getUrlEncoder().withoutPadding().encodeToString(bytes)
                            : new String(bytes, java.nio.charset.StandardCharsets.ISO_8859_1));
            assertThatIllegalArgumentException().isThrownBy(() -> Key.deserialize(text));
        }
    }

    @Test
    void givenOversizedText_whenRead_thenRefusedBeforeDecoding() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Key.deserialize("lk1." + "A".repeat(100_000)))
                .withMessageContaining("100004 characters");
    }

    @Test
    void givenTextOfANewerVersion_whenRead_thenSaysSo() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Key.deserialize("lk2.abcdef"))
                .withMessageContaining("another version");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "lk1.", "lk1", "hello", "Bearer eyJhbGciOi", "lk1.===="})
    void givenForeignText_whenRead_thenRefusedWithoutRepeatingIt(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Key.deserialize(text))
                .withMessageStartingWith("not a serialized key")
                .withMessageContaining("Key.serialize()")
                .satisfies(e -> assertThat(e.getMessage()).doesNotContain("eyJhbGciOi"));
    }

    @Test
    void givenTooLongResource_whenKeyIsMade_thenRefusedWithTheLimit() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Key.of("é".repeat(8_193)))
                .withMessageContaining("at most 16384 bytes");
    }

    @ParameterizedTest
    @ValueSource(strings = {"\uD83D", "a\uDD12", "\uDD12\uD83D", "ok🔒\uD83D"})
    void givenUnpairedSurrogate_whenKeyIsMade_thenRefused(String resource) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Key.of(resource))
                .withMessageContaining("unpaired surrogate");
    }

    @Test
    void givenTwoKeysOfOneResource_thenTheyAreDifferentHolders() {
        Set<Key> keys = new HashSet<>();

        for (int i = 0; i < 1_000; i++) {
            keys.add(Key.of("orders"));
        }

        assertThat(keys).hasSize(1_000);
        assertThat(keys).allSatisfy(key -> assertThat(key.token()).matches("[A-Za-z0-9_-]{22}"));
    }

    @Test
    void givenKey_whenPrinted_thenTheTokenIsNotShown() {
        Key key = Key.of("orders").claiming(Optional.of(new Key.Held(LockMode.EXCLUSIVE, OptionalLong.of(7))));

        assertThat(key.toString())
                .isEqualTo("Key[orders, EXCLUSIVE fencingToken=7]")
                .doesNotContain(key.token());
    }

    @Test
    void givenNulls_whenKeyIsMadeOrRead_thenNamedInTheError() {
        assertThatExceptionOfType(NullPointerException.class)
                .isThrownBy(() -> Key.of(nothing()))
                .withMessage("resource");
        assertThatExceptionOfType(NullPointerException.class)
                .isThrownBy(() -> Key.deserialize(nothing()))
                .withMessage("text");
    }

    @SuppressWarnings("NullAway")
    private static String nothing() {
        return null;
    }

    private static byte[] javaWritten(Object object) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(object);
        }
        return bytes.toByteArray();
    }

    @SuppressWarnings("BanSerializableRead")
    private static Object javaRead(byte[] bytes) throws IOException, ClassNotFoundException {
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes))) {
            return in.readObject();
        }
    }

    /** C18: a text must not smuggle in what {@link Key#of} refuses. */
    @Test
    void givenTextOfATooLongResource_whenRead_thenRefused() {
        String token = Key.of("x").token();
        String text =
                new Key("x".repeat(Key.MAX_RESOURCE_BYTES + Long.BYTES), token, Optional.empty(), null).serialize();

        assertThatIllegalArgumentException()
                .isThrownBy(() -> Key.deserialize(text))
                .withMessageContaining("more than 16384 bytes");
    }

    /** C18: a stream may hold anything. */
    @Test
    void givenStreamWithoutText_whenRead_thenInvalid() throws Exception {
        var constructor = Class.forName("dev.latchkey.Key$Serialized").getDeclaredConstructor(String.class);
        constructor.setAccessible(true);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(constructor.newInstance((Object) null));
        }

        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            assertThatExceptionOfType(InvalidObjectException.class).isThrownBy(in::readObject);
        }
    }
}
