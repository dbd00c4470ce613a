package dev.latchkey.memcached;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What the item of a resource says. The writer's hold is the item itself, and ends with it; a reader's and a promoter's
 * last as long as their {@link Sign}s, and the item only lists who has one.
 *
 * @param promoter which reader waits to become the writer
 */
record State(Optional<Writer> writer, List<Reader> readers, Optional<Owner> promoter) {

    static final State FREE = new State(Optional.empty(), List.of(), Optional.empty());

    private static final String NOBODY = "-";
    private static final String OWNER = "[A-Za-z0-9_-]{22}";
    private static final Pattern WRITER = Pattern.compile("L1 X (" + OWNER + ") ([0-9]{1,7}) (\\S+) (\\S+)");
    private static final Pattern READERS = Pattern.compile("L1 S (-|" + OWNER + ")((?: " + OWNER + ":[0-9]{1,7})+)");
    private static final String FREED = "L1 F";

    /**
     * An exclusive hold.
     *
     * @param seconds what the item was stored for
     */
    record Writer(Owner owner, int seconds, Holding holding) {}

    /**
     * A shared hold.
     *
     * @param seconds what its sign was stored for: it is over that long after the item was changed at the latest
     */
    record Reader(Owner owner, int seconds) {}

    static State heldBy(Writer writer) {
        return new State(Optional.of(writer), List.of(), Optional.empty());
    }

    State withReaders(List<Reader> others) {
        return others.isEmpty() ? FREE : new State(Optional.empty(), others, promoter);
    }

    State withPromoter(Optional<Owner> other) {
        return new State(writer, readers, other);
    }

    Stream<Sign> signs() {
        return Stream.concat(
                readers.stream().map(reader -> new Sign(Sign.Kind.READS, reader.owner())),
                promoter.stream().map(owner -> new Sign(Sign.Kind.PROMOTES, owner)));
    }

    /** For how long the item is stored: gone at once when nobody holds, else no shorter than what it lists. */
    int seconds() {
        return writer.map(Writer::seconds)
                .orElseGet(
                        () -> readers.stream().mapToInt(Reader::seconds).max().orElse(Seconds.LONG_AGO));
    }

    boolean isFree() {
        return writer.isEmpty() && readers.isEmpty();
    }

    /** Empty: this is not ours. */
    static Optional<State> read(String text) {
        if (text.equals(FREED)) {
            return Optional.of(FREE);
        }
        Matcher writer = WRITER.matcher(text);
        if (writer.matches()) {
            return Holding.read("L1 " + writer.group(3) + " " + writer.group(4))
                    .map(holding ->
                            heldBy(new Writer(new Owner(writer.group(1)), Integer.parseInt(writer.group(2)), holding)));
        }
        Matcher readers = READERS.matcher(text);
        return readers.matches() ? Optional.of(readBy(readers)) : Optional.empty();
    }

    private static State readBy(Matcher parts) {
        List<Reader> readers = new ArrayList<>();
        for (String part : parts.group(2).substring(1).split(" ", -1)) {
            int colon = part.indexOf(':');
            readers.add(new Reader(new Owner(part.substring(0, colon)), Integer.parseInt(part.substring(colon + 1))));
        }
        Optional<Owner> promoter = Optional.of(parts.group(1))
                .filter(owner -> !owner.equals(NOBODY))
                .map(Owner::new);
        return new State(Optional.empty(), readers, promoter);
    }

    String written() {
        if (isFree()) {
            return FREED;
        }
        return writer.map(one -> "L1 X " + one.owner().id() + " " + one.seconds() + " "
                        + one.holding().end().written() + " " + one.holding().process())
                .orElseGet(() -> "L1 S " + promoter.map(Owner::id).orElse(NOBODY)
                        + readers.stream()
                                .map(reader -> " " + reader.owner().id() + ":" + reader.seconds())
                                .collect(Collectors.joining()));
    }
}
