package dev.latchkey.memcached;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Who holds and until when, for people and for keys that come from elsewhere: {@code L1 second@run process}.
 *
 * @param process as {@code 4711@host}
 */
record HoldRecord(LeaseEnd end, String process) {

    private static final Pattern FORM = Pattern.compile("L1 ([0-9]{1,18}@\\S+) (\\S+)");

    static Optional<HoldRecord> read(String text) {
        Matcher parts = FORM.matcher(text);
        return parts.matches()
                ? Optional.of(new HoldRecord(LeaseEnd.read(parts.group(1)), parts.group(2)))
                : Optional.empty();
    }

    String written() {
        return "L1 " + end.written() + " " + process;
    }
}
