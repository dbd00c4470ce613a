package dev.latchkey.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Who holds and who waits for whom, in lines written as {@code ax br bd cp.b}: id and kind, in the order of arrival. */
class WaitQueueTest {

    private static final String STORE = "0123456789abcdef";

    /** A23: readers of this store hold as soon as the writer before them has given up, not when its node has gone. */
    @Test
    void givenAWriterOfThisStoreHasGivenUp_whenAReaderPromotes_thenTheReadersBehindItCount() {
        List<String> names = names("ax br cr b.0t");

        assertThat(new WaitQueue(names, 0).of(nameOf(names, "b.0t"))).isEqualTo(QueuePosition.FREE);
        assertThat(shown(new WaitQueue(names, 0, java.util.Set.of("a")).of(nameOf(names, "b.0t"))))
                .isEqualTo("cr");
        assertThat(shown(new WaitQueue(names, 0, java.util.Set.of("a")).of(nameOf(names, "br"))))
                .isEqualTo("ax");
    }

    @ParameterizedTest
    @CsvSource({
        "ax,                 ax,   free",
        "ax bx,              bx,   ax",
        "ar bx,              bx,   ar",
        "ar br,              br,   free",
        "ax br cr,           cr,   ax",
        "ar bx cr,           cr,   bx",
        "ax bx cr,           cr,   bx",
        "ax ad br,           br,   free",
        "ax ad bx,           bx,   ax",
        "ar a.0p,            a.0p, free",
        "ar br a.0p,         a.0p, br",
        "ar bx a.0p,         a.0p, free",
        "ar bx cr a.0p,      a.0p, free",
        "ar cr a.0p,         a.0p, cr",
        "ar br a.0p b.0p,    b.0p, refused",
        "ar br a.0p b.0p,    a.0p, br",
        "ar br a.0t b.0p,    b.0p, ar",
        "ar br a.0p b.0t,    b.0t, ar",
        "ar a.0p cr,         cr,   a.0p",
        "ar cr a.0p,         cr,   stepBack",
        "ar a.0t cr,         cr,   a.0t",
        "ar b.0p cr,         cr,   free",
        "ax ad a.0p cr,      cr,   a.0p",
        "ax ad br a.0p,      a.0p, br",
        "ar br,              cr,   gone",
        "br a.0p,            a.0p, gone",
    })
    void givenLine_whenJudged_thenAsTheRulesSay(String line, String who, String expected) {
        List<String> names = names(line);

        QueuePosition verdict = new WaitQueue(names, 0).of(nameOf(names, who));

        assertThat(shown(verdict)).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({
        "ax bx,          ax",
        "ar br cx dr,    ar br",
        "ax ad br,       ax br",
        "ar bx a.0p,     a.0p",
        "ar br a.0p,     ar br",
        "ar a.0p br,     a.0p",
    })
    void givenLine_whenAskedWhoHolds_thenThose(String line, String expected) {
        List<NodeName> holders = new WaitQueue(names(line), 0).holders();

        assertThat(holders.stream().map(WaitQueueTest::shown)).containsExactly(expected.split(" ", -1));
    }

    /** Ids with a zero in their seventeenth place are sticky. */
    @ParameterizedTest
    @CsvSource({
        "Ax bx,          bx,   Ax",
        "Ax br,          br,   Ax",
        "Ar br,          br,   ''",
        "Ar bx,          bx,   Ar",
        "Ar Br cr dx,    dx,   Br Ar",
        "Ar bx cr,       cr,   ''",
        "Ax bx cx,       cx,   ''",
        "Ax Bx cx,       cx,   Bx",
        "Ax br cr,       cr,   Ax",
        "Ar br b.0t,     b.0t, Ar",
        "Ar br b.0p,     b.0p, Ar",
        "Ar A.0p bx,     bx,   Ar",
        "ax bx,          bx,   ''",
        "ax Bx,          ax,   ''",
    })
    void givenLine_whenAskedWhomToRecall_thenTheStickyOnesThatNobodyBeforeItWaitsFor(
            String line, String who, String expected) {
        List<String> names = names(line.replace("A", STORE + "0a").replace("B", STORE + "0b"));
        String own = nameOf(names, who);

        List<NodeName> found = new WaitQueue(names, 0).stickyBefore(own);

        String expanded = expected.replace("A", STORE + "0a").replace("B", STORE + "0b");
        assertThat(String.join(" ", found.stream().map(WaitQueueTest::shown).toList()))
                .isEqualTo(expanded);
    }

    @Test
    void givenTheIdOfAStickyNode_whenRead_thenItIsSticky() {
        NodeName sticky = NodeName.parse(NodeName.prefix(NodeName.id(STORE, 35, true), NodeKind.WRITER) + "0000000001");
        NodeName plain = NodeName.parse(NodeName.prefix(NodeName.id(STORE, 35, false), NodeKind.WRITER) + "0000000001");

        assertThat(sticky).isNotNull().matches(NodeName::isSticky);
        assertThat(plain).isNotNull().matches(name -> !name.isSticky());
    }

    static Stream<Arguments> strangers() {
        return Stream.of(
                        "",
                        "x",
                        "_c_1f3e-lock-0000000001",
                        "abc-x-1",
                        "abc-y-0000000001",
                        "abc-x--2147483648",
                        "abc-x-9999999999",
                        "a-d")
                .map(Arguments::of);
    }

    @ParameterizedTest
    @MethodSource("strangers")
    void givenNodeOfSomebodyElse_whenRead_thenNotInLine(String name) {
        assertThat(NodeName.parse(name)).isNull();
    }

    @Test
    void givenTheLastNumbers_whenRead_thenUsedUp() {
        NodeName last = NodeName.parse("a-x-2147483647");
        NodeName first = NodeName.parse("a-x-0000000000");

        assertThat(last).isNotNull().matches(NodeName::isUsedUp);
        assertThat(first).isNotNull().matches(entry -> !entry.isUsedUp());
    }

    private static List<String> names(String line) {
        String[] words = line.split(" ", -1);
        return Stream.iterate(0, i -> i < words.length, i -> i + 1)
                .map(i -> name(words[i], i))
                .toList();
    }

    private static String name(String word, int number) {
        String id = word.substring(0, word.length() - 1);
        char kind = word.charAt(word.length() - 1);
        return kind == 'd' ? NodeName.demotionMark(id) : String.format("%s-%c-%010d", id, kind, number);
    }

    private static String nameOf(List<String> names, String word) {
        String start = name(word, 0).substring(0, word.length() + 1);
        return names.stream().filter(name -> name.startsWith(start)).findFirst().orElse(name(word, 99));
    }

    private static String shown(QueuePosition verdict) {
        if (verdict instanceof QueuePosition.Behind behind) {
            return shown(behind.obstacle());
        }
        String type = verdict.getClass().getSimpleName();
        return Character.toLowerCase(type.charAt(0)) + type.substring(1);
    }

    private static String shown(NodeName entry) {
        return entry.id() + entry.kind().letter();
    }
}
