package dev.latchkey.testkit;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Response;
import java.text.Normalizer;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Any text is a resource, and two texts that differ in anything are two resources. */
public interface NamingContract extends StoreContract {

    /**
     * Returns names that are hard for some backend.
     *
     * @return resources
     */
    static Stream<String> names() {
        return Stream.of(
                "",
                "/",
                "//",
                ".",
                "..",
                "../../etc/passwd",
                "a/b/c",
                "-rf",
                " ",
                "with blanks and\ttabs",
                "line\nbreak\r\n",
                "nul\u0000inside",
                "\u007f\u0001",
                "quotes ' \" ` \\ ; -- DROP TABLE locks",
                "%s %d {} {0} ${x} #{y} *?[a-z]",
                "sigma Σς, Ünïcödé, 漢字, עברית",
                "\uD83D\uDD12\uD83D\uDC68\u200D\uD83D\uDC69\u200D\uD83D\uDC67",
                "zookeeper",
                "lock",
                "null",
                "k".repeat(251),
                "k".repeat(10_240),
                "\uD83D\uDD12".repeat(4_000));
    }

    /**
     * Returns pairs of names that are easily taken for one.
     *
     * @return two different resources each
     */
    static Stream<Arguments> twins() {
        String composed = Normalizer.normalize("Übung", Normalizer.Form.NFC);
        String decomposed = Normalizer.normalize("Übung", Normalizer.Form.NFD);
        String longName = "k".repeat(10_240);
        return Stream.of(
                Arguments.of("report", "Report"),
                Arguments.of("report", "report "),
                Arguments.of("report", " report"),
                Arguments.of("report", "report\n"),
                Arguments.of("report", "report\u0000"),
                Arguments.of(composed, decomposed),
                Arguments.of("straße", "strasse"),
                Arguments.of("i", "ı"),
                Arguments.of("", " "),
                Arguments.of("", "/"),
                Arguments.of("a/b", "a-b"),
                Arguments.of("a/b", "a//b"),
                Arguments.of("a/b", "a/b/"),
                Arguments.of("a", "%61"),
                Arguments.of("a:b", "a_b"),
                Arguments.of("plumless", "buckeroo"),
                Arguments.of("\uD83D\uDD12", "\uD83D\uDD13"),
                Arguments.of(longName, longName + "k"),
                Arguments.of(longName + "a", longName + "b"));
    }

    @ParameterizedTest
    @MethodSource("dev.latchkey.testkit.NamingContract#names")
    default void givenAnyName_whenSaved_thenHeldUntilDeleted(String name, Fixture fixture) {
        String resource = own(fixture, name);
        Key key = fixture.key(resource);

        granted(fixture.store().save(exclusive(key)));

        assertThat(fixture.store().find(key)).isPresent();
        assertThat(fixture.store().save(exclusive(fixture.key(resource)))).isInstanceOf(Response.Conflicted.class);
        assertThat(fixture.store().delete(key)).isTrue();
        assertThat(fixture.store().save(exclusive(fixture.key(resource)))).isInstanceOf(Response.Granted.class);
    }

    @ParameterizedTest
    @MethodSource("dev.latchkey.testkit.NamingContract#names")
    default void givenNothingButThatName_whenSaved_thenHeldUntilDeleted(String name, Fixture fixture) {
        PersistingStore store = fixture.separateStore();
        Key key = Key.of(name);

        granted(store.save(exclusive(key)));

        assertThat(store.find(key)).isPresent();
        assertThat(store.save(exclusive(Key.of(name)))).isInstanceOf(Response.Conflicted.class);
        assertThat(store.delete(key)).isTrue();
        assertThat(store.find(key)).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("dev.latchkey.testkit.NamingContract#twins")
    default void givenNamesAlmostAlike_whenOneIsHeld_thenTheOtherIsFree(String one, String other, Fixture fixture) {
        Key first = fixture.key(own(fixture, one));
        Key second = fixture.key(own(fixture, other));
        granted(fixture.store().save(exclusive(first)));

        Response response = fixture.store().save(exclusive(second));

        assertThat(response).isInstanceOf(Response.Granted.class);
        assertThat(fixture.store().delete(second)).isTrue();
        assertThat(fixture.store().find(first)).isPresent();
    }

    /** What a store makes of a plain name may differ from what it makes of one with other characters. */
    @Test
    default void givenNothingButNamesAlmostAlike_whenAllAreHeld_thenEachUntilItIsDeleted(Fixture fixture) {
        PersistingStore store = fixture.separateStore();
        List<Key> keys = twins().flatMap(twin -> Stream.of(twin.get()))
                .map(String.class::cast)
                .distinct()
                .map(Key::of)
                .toList();

        keys.forEach(key -> granted(store.save(exclusive(key))));

        assertThat(keys).allMatch(key -> store.find(key).isPresent());
        assertThat(keys).allMatch(store::delete);
    }

    /** A name of this test alone that ends with the hard part: backends cut, fold and trim at the end. */
    private static String own(Fixture fixture, String name) {
        return fixture.resource() + "|" + name;
    }
}
