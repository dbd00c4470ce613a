package dev.latchkey.cli.top;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.LockFactory;
import dev.latchkey.cli.PlentyStore;
import dev.latchkey.cli.top.Keystroke.Kind;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jline.utils.AttributedString;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TopViewTest {

    private static final int HEIGHT = 24;
    private static final int WIDTH = 80;
    private static final Duration OLDEST = Duration.ofMinutes(1);

    @Test
    void givenManyHeld_thenThatWithMostWaitersIsFirstAndTheTimesRunOn() {
        TopView view = view(PlentyStore.of(500));
        Reading reading = read(PlentyStore.of(500));
        view.show(reading);

        List<String> lines = screen(view, HEIGHT, WIDTH, reading.nanoTime() + TimeUnit.SECONDS.toNanos(3));

        assertThat(lines).hasSize(HEIGHT);
        assertThat(lines.get(0)).isEqualTo("plenty   500 held, 15 waiting, the longest for 1m 4s");
        assertThat(lines.get(2)).matches("NAME +HELD +LEASE WAITING LONGEST OWNER *");
        assertThat(lines.get(3)).matches("job-000400 +2m 8s +22 s +5 +1m 4s orders.*");
        assertThat(lines.get(4)).startsWith("job-000300 ");
        assertThat(lines.get(HEIGHT - 1)).contains("/ filter", "b end", "q quit");
    }

    @ParameterizedTest
    @CsvSource({"1,1", "2,5", "3,9", "4,20", "5,40", "24,80", "24,50", "10,110", "60,300"})
    void givenAnySize_whenShown_thenItFits(int height, int width) {
        for (PlentyStore store : List.of(PlentyStore.odd(), PlentyStore.of(0), PlentyStore.of(200), wide())) {
            TopView view = view(store);
            for (String keys : List.of("", "/job", "\n", "b", "123456789012345678901234567890", "\n")) {
                press(view, keys);
                assertThat(view.lines(height, width, System.nanoTime()))
                        .hasSize(height)
                        .allSatisfy(
                                line -> assertThat(line.columnLength()).isLessThanOrEqualTo(Math.max(1, width - 1)));
            }
        }
    }

    private static PlentyStore wide() {
        PlentyStore store = new PlentyStore();
        for (int i = 1; i < 60; i++) {
            store.hold("錠".repeat(i) + "x", i, i);
        }
        return store;
    }

    @Test
    void givenNamesThatATerminalObeys_thenTheyAreEscaped() {
        TopView view = view(PlentyStore.odd());
        press(view, "/\u202e");

        String all = String.join("\n", screen(view, HEIGHT, 300, System.nanoTime()));
        press(view, "\u001b");
        all += String.join("\n", screen(view, HEIGHT, 300, System.nanoTime()));

        assertThat(all).contains("\\u001b]0;title\\u0007", "left\\u202etfel", "begin with: \\u202e");
        assertThat(all.codePoints().filter(c -> c != '\n'))
                .noneMatch(Character::isISOControl)
                .noneMatch(c -> Character.getType(c) == Character.FORMAT);
    }

    @Test
    void givenFiltered_thenOnlyThoseThatBeginSo_andEscapeShowsAll() {
        TopView view = view(PlentyStore.of(300));

        press(view, "/job-00010x");
        assertThat(held(view)).isZero();
        press(view, "\b");
        assertThat(held(view)).isEqualTo(10);
        press(view, "\n");
        assertThat(held(view)).isEqualTo(10);
        press(view, "\u001b");
        assertThat(held(view)).isGreaterThan(10);
    }

    /** Between the look and the key, another one may have come to this place. */
    @Test
    void givenOneIsChosen_whenOthersComeBeforeIt_thenItsHoldIsTheOneToEnd() {
        PlentyStore store = PlentyStore.of(3);
        TopView view = view(store);
        press(view, "jj");

        store.hold("busy", 7, 9);
        view.show(read(store));

        press(view, "b");
        assertThat(bottom(view)).contains("token 1002 ");
        store.free("job-000002");
        view.show(read(store));
        assertThat(press(view, "1002\n")).isEqualTo(new Action.EndHold("job-000002", 1002));
    }

    @ParameterizedTest
    @ValueSource(strings = {"b\n", "b999\n", "b1000\u001b", "b1000\b\n", "b10000\n"})
    void givenAnythingElseThanTheToken_whenBroken_thenNothingIsAskedFor(String keys) {
        TopView view = view(PlentyStore.of(1));

        assertThat(press(view, keys)).isEqualTo(new Action.Stay());
        assertThat(bottom(view)).contains("nothing was ended");
    }

    @Test
    void givenTheToken_whenBroken_thenThisHoldIsToEnd() {
        assertThat(press(view(PlentyStore.of(1)), "b1000\n")).isEqualTo(new Action.EndHold("job-000000", 1000));
    }

    @Test
    void givenAStoreThatCannotEndHolds_whenBroken_thenSaid() {
        TopView view = new TopView("plenty", false, OLDEST, read(PlentyStore.of(1)));

        assertThat(press(view, "b")).isEqualTo(new Action.Stay());
        assertThat(bottom(view)).contains("cannot end the hold");
    }

    @Test
    void givenTheStoreFails_thenWhatWasHeldStaysAndItIsSaid() {
        TopView view = view(PlentyStore.of(3));

        view.showTrouble("away");

        assertThat(screen(view, HEIGHT, WIDTH, System.nanoTime()).get(1)).contains("the store fails", "away");
        assertThat(held(view)).isEqualTo(3);
        view.show(read(PlentyStore.of(2)));
        assertThat(screen(view, HEIGHT, WIDTH, System.nanoTime()).get(1)).isEmpty();
    }

    @Test
    void givenNothingWasReadForLong_thenItIsSaidHowOldItIs() {
        TopView view = view(PlentyStore.of(3));
        Reading reading = read(PlentyStore.of(3));
        view.show(reading);

        long limit = reading.nanoTime() + OLDEST.toNanos();

        assertThat(screen(view, HEIGHT, WIDTH, limit).get(1)).isEmpty();
        assertThat(screen(view, HEIGHT, WIDTH, limit + 1_000_000_000).get(1)).contains("as it was 1m 1s ago");
    }

    @Test
    void givenKeys_whenTheyMove_thenTheChosenOneIsSeen() {
        TopView view = view(PlentyStore.of(1000));
        for (Kind kind : List.of(Kind.END, Kind.PAGE_UP, Kind.UP, Kind.HOME, Kind.PAGE_DOWN, Kind.DOWN, Kind.UP)) {
            view.press(Keystroke.of(kind));
            assertThat(view.lines(HEIGHT, WIDTH, System.nanoTime()))
                    .as("%s", kind)
                    .filteredOn(TopViewTest::isInverse)
                    .hasSize(1);
        }
        assertThat(view.press(Keystroke.of(Kind.END_OF_INPUT))).isEqualTo(new Action.Quit());
    }

    private static boolean isInverse(AttributedString line) {
        return line.length() > 0 && line.styleAt(0).inverse().equals(line.styleAt(0));
    }

    private static TopView view(PlentyStore store) {
        return new TopView("plenty", true, OLDEST, read(store));
    }

    private static Reading read(PlentyStore store) {
        try (LockFactory locks = new LockFactory(store)) {
            return Reading.of(locks, "");
        }
    }

    private static Action press(TopView view, String keys) {
        Action last = new Action.Stay();
        for (int i = 0; i < keys.length(); i++) {
            last = view.press(keystroke(keys.charAt(i)));
        }
        return last;
    }

    private static Keystroke keystroke(char key) {
        return switch (key) {
            case '\n' -> Keystroke.of(Kind.ENTER);
            case '\b' -> Keystroke.of(Kind.BACKSPACE);
            case '\u001b' -> Keystroke.of(Kind.ESCAPE);
            default -> new Keystroke(Kind.CHARACTER, key);
        };
    }

    private static List<String> screen(TopView view, int height, int width, long nanoTime) {
        return view.lines(height, width, nanoTime).stream()
                .map(AttributedString::toString)
                .toList();
    }

    private static String bottom(TopView view) {
        List<String> lines = screen(view, HEIGHT, 120, System.nanoTime());
        return lines.get(lines.size() - 1);
    }

    private static long held(TopView view) {
        return screen(view, HEIGHT, WIDTH, System.nanoTime()).stream()
                .filter(line -> line.startsWith("job-"))
                .count();
    }
}
