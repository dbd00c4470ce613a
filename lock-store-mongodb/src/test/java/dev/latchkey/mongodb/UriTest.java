package dev.latchkey.mongodb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is ours of a URI is taken out of it, and everything else goes to the driver as it was. */
class UriTest {

    @ParameterizedTest
    @CsvSource({
        "mongodb://localhost/test?collection=lock, mongodb://localhost/test",
        "mongodb://localhost/?collection=lock, mongodb://localhost/",
        "mongodb://localhost?collection=lock, mongodb://localhost",
        "mongodb+srv://localhost/test?collection=lock, mongodb+srv://localhost/test",
        "mongodb://localhost/test?collection=lock&w=1, mongodb://localhost/test?w=1",
        "mongodb://localhost/test?w=1&collection=lock, mongodb://localhost/test?w=1",
        "mongodb://localhost/test?w=1&collection=lock&journal=true, mongodb://localhost/test?w=1&journal=true",
        "mongodb://localhost/test?readPreferenceTags=dc:foo&collection=lock&readPreferenceTags=dc:bar,"
                + " mongodb://localhost/test?readPreferenceTags=dc:foo&readPreferenceTags=dc:bar",
        "mongodb://user:?collection=a@localhost?collection=lock, mongodb://user:?collection=a@localhost",
        "mongodb://user:?collection=a@localhost/?collection=lock, mongodb://user:?collection=a@localhost/",
        "mongodb://user:&collection=a@localhost/test?collection=lock&w=1, mongodb://user:&collection=a@localhost/test?w=1",
        "mongodb://localhost/test?collection=lock#part, mongodb://localhost/test#part",
        "mongodb://localhost/test?collection=other&collection=lock, mongodb://localhost/test",
        "mongodb://localhost/test?w=1;collection=lock;journal=true, mongodb://localhost/test?w=1&journal=true",
        "'mongodb://h1:1,h2:2/test?appName=a@b&collection=lock', 'mongodb://h1:1,h2:2/test?appName=a@b'",
    })
    void givenACollection_whenParsed_thenItIsTakenOut(String uri, String driver) {
        Uri parsed = Uri.parse(uri);

        assertThat(parsed.driver()).isEqualTo(driver);
        assertThat(parsed.collection()).contains("lock");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "mongodb://localhost/test",
                "mongodb://localhost/collection=lock",
                "mongodb://user:?collection=a@localhost/test",
                "mongodb://user:?collection=a@localhost",
            })
    void givenNoCollection_whenParsed_thenAllGoesToTheDriver(String uri) {
        Uri parsed = Uri.parse(uri);

        assertThat(parsed.driver()).isEqualTo(uri);
        assertThat(parsed.collection()).isEmpty();
    }

    @Test
    void givenAnEncodedName_whenParsed_thenDecoded() {
        assertThat(Uri.parse("mongodb://localhost/test?collection=my%20locks+1").collection())
                .contains("my locks+1");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "mongodb:", "mongodb:/localhost", "mongo://localhost/a?collection=b", "redis://localhost"})
    void givenAnotherScheme_whenParsed_thenIllegalArgumentThatSaysWhatIsRight(String uri) {
        assertThatThrownBy(() -> Uri.parse(uri))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("mongodb://");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "mongodb://user:se/cret@localhost/test?collection=lock",
                "mongodb://user:se@cret@localhost/test?collection=lock",
                "mongodb://user:secret@/test?collection=lock",
                "mongodb://user:secret@localhost:port/test?collection=lock",
            })
    void givenAWrongUri_whenBuilt_thenTheMessageRepeatsNoPassword(String uri) {
        assertThatThrownBy(() -> MongoDbStore.builder(uri))
                .isInstanceOf(IllegalArgumentException.class)
                .hasNoCause()
                .hasMessageNotContaining("cret")
                .hasMessageContaining("mongodb://user:");
    }

    /** C24: the driver drops them, and locks are kept elsewhere, or less safely, than was said. */
    @ParameterizedTest
    @CsvSource({
        "mongodb://user:secret@localhost/test?colection=secret, colection",
        "mongodb://localhost/test?collection=lock&socketTimeotMS=3, socketTimeotMS",
        "mongodb://localhost/test?w=1&tsl=true, tsl",
        "mongodb://localhost/test?w=1;tsl=true, tsl",
        "mongodb://localhost/test?allowedClockSkew=2, allowedClockSkew",
        "mongodb+srv://localhost/test?Collection=lock, Collection",
    })
    void givenAnUnknownOption_whenParsed_thenRefusedByNameWithoutAnyValue(String uri, String option) {
        assertThatThrownBy(() -> Uri.parse(uri))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("\"" + option + "\"")
                .hasMessageContaining("collection")
                .hasMessageContaining("socketTimeoutMS")
                .hasMessageNotContaining("secret");
    }

    /** The list of the driver is written down here: each option of its documentation must be in it. */
    @Test
    void givenOptionsOfTheDriver_whenParsed_thenNoneIsRefusedWhateverItsCase() {
        String uri = "mongodb://localhost/test?replicaSet=rs&TLS=true&readPreference=primary&w=majority&wTimeoutMS=1"
                + "&retryWrites=true&authSource=admin&maxPoolSize=3&waitQueueTimeoutMS=5&appName=a&compressors=zlib";

        assertThat(Uri.parse(uri).driver()).isEqualTo(uri);
    }

    @Test
    void givenAnAllowedClockSkew_whenParsed_thenItIsTakenOutAndMustBeANumber() {
        Uri parsed = Uri.parse("mongodb://localhost/test?allowedClockSkewMS=250&w=1");

        assertThat(parsed.allowedClockSkew()).contains(Duration.ofMillis(250));
        assertThat(parsed.driver()).isEqualTo("mongodb://localhost/test?w=1");
        assertThatThrownBy(() -> Uri.parse("mongodb://localhost/test?allowedClockSkewMS=2s"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("allowedClockSkewMS");
    }

    @Test
    void givenAUri_whenShown_thenWithoutItsPassword() {
        assertThat(Uri.parse("mongodb://user:secret@localhost/test?collection=lock"))
                .asString()
                .doesNotContain("secret");
    }
}
