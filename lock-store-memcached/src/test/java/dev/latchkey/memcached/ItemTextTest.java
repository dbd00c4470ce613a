package dev.latchkey.memcached;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.memcached.MarkerItem.Kind;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What items say, what they are called, and how long they are stored. */
class ItemTextTest {

    private static final OwnerHash ONE = new OwnerHash("abcdefghijklmnopqrstu1");
    private static final OwnerHash OTHER = new OwnerHash("abcdefghijklmnopqrstu2");
    private static final HoldRecord HOLDING = new HoldRecord(new LeaseEnd("7-1", 1_234), "4711@host");

    @ParameterizedTest
    @ValueSource(
            strings = {
                "L1 F",
                "L1 X abcdefghijklmnopqrstu1 30 1234@7-1 4711@host",
                "L1 S - abcdefghijklmnopqrstu1:30",
                "L1 S abcdefghijklmnopqrstu1 abcdefghijklmnopqrstu1:30 abcdefghijklmnopqrstu2:9999999"
            })
    void givenWhatWeWrite_whenReadAndWritten_thenTheSame(String text) {
        assertThat(ItemState.read(text)).map(ItemState::written).contains(text);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "L1",
                "L1 S ",
                "L1 S -",
                "L1 S abcdefghijklmnopqrstu1",
                "L1 S -  abcdefghijklmnopqrstu1:30",
                "L1 S - abcdefghijklmnopqrstu1:30 ",
                "L1 S - abcdefghijklmnopqrstu1:99999999",
                "L1 S short abcdefghijklmnopqrstu1:30",
                "L1 X abcdefghijklmnopqrstu1 30 1234 4711@host",
                "L1 X abcdefghijklmnopqrstu1 30 1234567890123456789@7 4711@host",
                "L1 X abcdefghijklmnopqrstu1 99999999 1234@7-1 4711@host",
                "L2 F",
                "something else"
            })
    void givenAnothersItem_whenRead_thenItIsNotOurs(String text) {
        assertThat(ItemState.read(text)).isEmpty();
    }

    @Test
    void givenItems_whenRead_thenWhoHoldsAndUntilWhen() {
        assertThat(ItemState.read("L1 X abcdefghijklmnopqrstu1 30 1234@7-1 4711@host"))
                .contains(ItemState.heldBy(new ItemState.Writer(ONE, 30, HOLDING)));
        assertThat(ItemState.read("L1 S abcdefghijklmnopqrstu2 abcdefghijklmnopqrstu1:30 abcdefghijklmnopqrstu2:9"))
                .contains(new ItemState(
                        Optional.empty(),
                        List.of(new ItemState.Reader(ONE, 30), new ItemState.Reader(OTHER, 9)),
                        Optional.of(OTHER)));
        assertThat(HoldRecord.read("L1 1234@7-1 4711@host")).contains(HOLDING);
        assertThat(HOLDING.written()).isEqualTo("L1 1234@7-1 4711@host");
        assertThat(HoldRecord.read("L1 1234@7-1")).isEmpty();
    }

    /** It is gone at once when nobody holds, and stays as long as the longest of those who read. */
    @Test
    void givenStates_whenStored_thenForAsLongAsWhatTheyList() {
        assertThat(ItemState.FREE.seconds()).isEqualTo(TtlSeconds.LONG_AGO);
        assertThat(read("L1 X abcdefghijklmnopqrstu1 30 1234@7-1 4711@host").seconds())
                .isEqualTo(30);
        assertThat(read("L1 S - abcdefghijklmnopqrstu1:30 abcdefghijklmnopqrstu2:40")
                        .seconds())
                .isEqualTo(40);
    }

    @Test
    void givenSignsThatAreGone_whenLookedAt_thenOnlyThoseWhoseSignIsThereHold() {
        ItemState listed = read("L1 S abcdefghijklmnopqrstu2 abcdefghijklmnopqrstu1:30 abcdefghijklmnopqrstu2:40");
        assertThat(listed.signs())
                .containsExactly(
                        new MarkerItem(Kind.READS, ONE),
                        new MarkerItem(Kind.READS, OTHER),
                        new MarkerItem(Kind.PROMOTES, OTHER));

        ItemSnapshot one = snapshot(listed, new MarkerItem(Kind.READS, ONE));
        ItemSnapshot other = snapshot(listed, new MarkerItem(Kind.READS, OTHER), new MarkerItem(Kind.PROMOTES, OTHER));

        assertThat(one.live()).isEqualTo(read("L1 S - abcdefghijklmnopqrstu1:30"));
        assertThat(one.holding(ONE)).contains(HOLDING);
        assertThat(one.holding(OTHER)).isEmpty();
        assertThat(other.live()).isEqualTo(read("L1 S abcdefghijklmnopqrstu2 abcdefghijklmnopqrstu2:40"));
    }

    @Test
    void givenAWriter_whenLookedAt_thenItHoldsWithoutASign() {
        ItemSnapshot written = snapshot(read("L1 X abcdefghijklmnopqrstu1 30 1234@7-1 4711@host"));

        assertThat(written.live()).isEqualTo(written.listed());
        assertThat(written.holding(ONE)).contains(HOLDING);
        assertThat(written.holding(OTHER)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"PT1S,4", "PT1.000000001S,5", "PT0.5S,4", "PT719H59M57S,2592000"})
    void givenATtl_whenStored_thenNoShorterWhateverTheServersClockShows(Duration ttl, int seconds) {
        assertThat(TtlSeconds.lastingAtLeast(ttl)).isEqualTo(seconds);
    }

    @Test
    void givenATtlLongerThanMemcachedKeeps_whenStored_thenRefused() {
        assertThatThrownBy(() -> TtlSeconds.lastingAtLeast(Duration.ofDays(30).minusSeconds(2)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("PT719H59M57S");
    }

    @Test
    void givenResources_whenNamed_thenPlainOnesAsTheyAreAndOthersByTheirHash() {
        assertThat(ItemName.of("p:", "a/b").text()).isEqualTo("p:a/b");
        assertThat(ItemName.of("", "x".repeat(120)).text()).isEqualTo("x".repeat(120));
        assertThat(ItemName.of("", "x".repeat(121)).text()).matches("x{48}#[0-9a-f]{64}");
        assertThat(ItemName.of("", "a  b##c~").text()).matches("a_b_c_#[0-9a-f]{64}");
        assertThat(ItemName.of("p:", "a").of(new MarkerItem(Kind.PROMOTES, ONE)))
                .isEqualTo("p:a~pabcdefghijklmnopqrstu1");
        assertThat(ItemName.of("p:", "a").of(new MarkerItem(Kind.READS, ONE))).isEqualTo("p:a~rabcdefghijklmnopqrstu1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a#", "a~", "a b", "ä"})
    void givenAPrefixThatCouldBeMistaken_whenChecked_thenRefused(String prefix) {
        assertThatThrownBy(() -> ItemName.checkPrefix(prefix))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(prefix);
        assertThat(ItemName.checkPrefix("app:")).isEqualTo("app:");
    }

    private static ItemState read(String text) {
        return ItemState.read(text).orElseThrow();
    }

    private static ItemSnapshot snapshot(ItemState listed, MarkerItem... signs) {
        Map<MarkerItem, ItemSnapshot.Found> found = new HashMap<>();
        for (MarkerItem sign : signs) {
            found.put(sign, new ItemSnapshot.Found(HOLDING, 1));
        }
        return new ItemSnapshot(Optional.of(1L), listed, found);
    }
}
