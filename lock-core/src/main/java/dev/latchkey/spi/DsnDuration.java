package dev.latchkey.spi;

import java.time.Duration;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Durations in those options of a DSN that a store reads itself, such as {@code timeout=5s}; not in those of its driver. */
public final class DsnDuration {

    /** What to write, for the message about anything else. */
    public static final String FORM =
            "a positive whole number with a unit (ms, s, m or h), as in 5s, and at most a day";

    private static final Duration LONGEST = Duration.ofDays(1);

    private static final Pattern TEXT = Pattern.compile("([1-9][0-9]{0,8})(ms|s|m|h)");

    private DsnDuration() {}

    /**
     * Reads a duration. A number without a unit is none: half of the drivers take it for seconds, and the others for milliseconds.
     *
     * @param text the value of an option, as in {@code 500ms}
     * @return more than zero, at most a day; empty if it is not {@linkplain #FORM one}
     */
    public static Optional<Duration> parse(String text) {
        Matcher matcher = TEXT.matcher(text);
        if (!matcher.matches()) {
            return Optional.empty();
        }
        long amount = Long.parseLong(matcher.group(1));
        Duration duration = switch (matcher.group(2)) {
            case "ms" -> Duration.ofMillis(amount);
            case "s" -> Duration.ofSeconds(amount);
            case "m" -> Duration.ofMinutes(amount);
            default -> Duration.ofHours(amount);
        };
        return Optional.of(duration).filter(given -> given.compareTo(LONGEST) <= 0);
    }
}
