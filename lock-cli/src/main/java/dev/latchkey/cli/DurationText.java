package dev.latchkey.cli;

import dev.latchkey.console.Text;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Durations as people type them: {@code 30s}, {@code 500ms}, {@code 1h30m}, {@code 2.5}, {@code PT30S}. */
final class DurationText implements ITypeConverter<Duration> {

    private static final Map<String, Duration> UNITS = Map.of(
            "ms", Duration.ofMillis(1),
            "s", Duration.ofSeconds(1),
            "m", Duration.ofMinutes(1),
            "h", Duration.ofHours(1),
            "d", Duration.ofDays(1));

    private static final String NUMBER = "\\d{1,12}(?:\\.\\d{1,9})?";
    private static final Pattern SECONDS = Pattern.compile(NUMBER);
    private static final Pattern PART = Pattern.compile("(" + NUMBER + ")(ms|s|m|h|d)");
    private static final Pattern PARTS = Pattern.compile("(?:" + PART + ")++");

    @Override
    public Duration convert(String text) {
        try {
            return parse(text);
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException(e.getMessage());
        }
    }

    /**
     * Reads a duration that is not negative.
     *
     * @throws IllegalArgumentException if it is not one; the message says what would be
     */
    static Duration parse(String text) {
        if (SECONDS.matcher(text).matches()) {
            return times(text, Duration.ofSeconds(1));
        }
        if (PARTS.matcher(text).matches()) {
            Duration sum = Duration.ZERO;
            for (Matcher part = PART.matcher(text); part.find(); ) {
                sum = sum.plus(times(part.group(1), UNITS.getOrDefault(part.group(2), Duration.ZERO)));
            }
            return sum.compareTo(LockTarget.NO_LIMIT) > 0 ? LockTarget.NO_LIMIT : sum;
        }
        try {
            Duration iso = Duration.parse(text);
            if (!iso.isNegative() && iso.compareTo(LockTarget.NO_LIMIT) <= 0) {
                return iso;
            }
        } catch (DateTimeParseException e) {
            // Reported below, with what would be valid.
        }
        throw new IllegalArgumentException(Text.quoted(text)
                + " is not a duration: write 30s, 500ms, 5m, 1h30m, PT30S, or a plain number of seconds such as 2.5");
    }

    private static Duration times(String number, Duration unit) {
        BigDecimal nanos = new BigDecimal(number).multiply(BigDecimal.valueOf(unit.toNanos()));
        return nanos.compareTo(BigDecimal.valueOf(LockTarget.NO_LIMIT.toNanos())) > 0
                ? LockTarget.NO_LIMIT
                : Duration.ofNanos(nanos.longValue());
    }

    /** Formats a duration for people, in milliseconds or longer units. */
    static String format(Duration duration) {
        if (duration.compareTo(Duration.ofMinutes(2)) >= 0) {
            long hours = duration.toHours();
            return (hours > 0 ? hours + "h " : "") + duration.toMinutesPart() + "m " + duration.toSecondsPart() + "s";
        }
        return BigDecimal.valueOf(duration.toMillis(), 3).stripTrailingZeros().toPlainString() + " s";
    }
}
