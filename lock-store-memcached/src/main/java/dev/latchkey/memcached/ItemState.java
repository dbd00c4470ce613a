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
 * last as long as their {@link MarkerItem}s, and the item only lists who has one.
 *
 * @param promoter which reader waits to become the writer
 */
record ItemState(Optional<Writer> writer, List<Reader> readers, Optional<OwnerHash> promoter) {

    static final ItemState FREE = new ItemState(Optional.empty(), List.of(), Optional.empty());

    /** Each of them is looked at by everybody who comes, and an item has room for some 30,000. */
    static final int MOST_READERS = 2_000;

    private static final String NOBODY = "-";
    private static final String OWNER = "[A-Za-z0-9_-]{22}";
    private static final Pattern WRITER = Pattern.compile("L1 X (" + OWNER + ") ([0-9]{1,7}) (\\S+) (\\S+)");
    private static final String READERS = "L1 S ";
    private static final Pattern PROMOTER = Pattern.compile("-|" + OWNER);
    private static final Pattern READER = Pattern.compile("(" + OWNER + "):([0-9]{1,7})");
    private static final String FREED = "L1 F";

    /**
     * An exclusive hold.
     *
     * @param seconds what the item was stored for
     */
    record Writer(OwnerHash owner, int seconds, HoldRecord holding) {}

    /**
     * A shared hold.
     *
     * @param seconds what its sign was stored for: it is over that long after the item was changed at the latest
     */
    record Reader(OwnerHash owner, int seconds) {}

    static ItemState heldBy(Writer writer) {
        return new ItemState(Optional.of(writer), List.of(), Optional.empty());
    }

    ItemState withReaders(List<Reader> others) {
        return others.isEmpty() ? FREE : new ItemState(Optional.empty(), others, promoter);
    }

    ItemState withPromoter(Optional<OwnerHash> other) {
        return new ItemState(writer, readers, other);
    }

    Stream<MarkerItem> signs() {
        return Stream.concat(
                readers.stream().map(reader -> new MarkerItem(MarkerItem.Kind.READS, reader.owner())),
                promoter.stream().map(owner -> new MarkerItem(MarkerItem.Kind.PROMOTES, owner)));
    }

    /** For how long the item is stored: gone at once when nobody holds, else no shorter than what it lists. */
    int seconds() {
        return writer.map(Writer::seconds)
                .orElseGet(
                        () -> readers.stream().mapToInt(Reader::seconds).max().orElse(TtlSeconds.LONG_AGO));
    }

    boolean isFree() {
        return writer.isEmpty() && readers.isEmpty();
    }

    /** Empty: this is not ours. */
    static Optional<ItemState> read(String text) {
        if (text.equals(FREED)) {
            return Optional.of(FREE);
        }
        Matcher writer = WRITER.matcher(text);
        if (writer.matches()) {
            return HoldRecord.read("L1 " + writer.group(3) + " " + writer.group(4))
                    .map(holding -> heldBy(
                            new Writer(new OwnerHash(writer.group(1)), Integer.parseInt(writer.group(2)), holding)));
        }
        return text.startsWith(READERS) ? readBy(text.substring(READERS.length())) : Optional.empty();
    }

    /** One after the other: a repeated group of a regular expression takes a stack as deep as there are readers. */
    private static Optional<ItemState> readBy(String text) {
        String[] parts = text.split(" ", -1);
        if (parts.length < 2 || !PROMOTER.matcher(parts[0]).matches()) {
            return Optional.empty();
        }
        List<Reader> readers = new ArrayList<>();
        for (int i = 1; i < parts.length; i++) {
            Matcher reader = READER.matcher(parts[i]);
            if (!reader.matches()) {
                return Optional.empty();
            }
            readers.add(new Reader(new OwnerHash(reader.group(1)), Integer.parseInt(reader.group(2))));
        }
        Optional<OwnerHash> promoter =
                parts[0].equals(NOBODY) ? Optional.empty() : Optional.of(new OwnerHash(parts[0]));
        return Optional.of(new ItemState(Optional.empty(), readers, promoter));
    }

    String written() {
        if (isFree()) {
            return FREED;
        }
        return writer.map(one -> "L1 X " + one.owner().id() + " " + one.seconds() + " "
                        + one.holding().end().written() + " " + one.holding().process())
                .orElseGet(() -> "L1 S " + promoter.map(OwnerHash::id).orElse(NOBODY)
                        + readers.stream()
                                .map(reader -> " " + reader.owner().id() + ":" + reader.seconds())
                                .collect(Collectors.joining()));
    }
}
