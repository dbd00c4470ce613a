package dev.latchkey.zookeeper;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A node in line, by its name: {@code id-x-0000000042}. The id is one of a kind, so that a node is found again when the
 * answer to its creation was lost; the number, given by the servers, is its place. A promotion's id is that of the node
 * that shares, a dot, and a number of its own.
 *
 * @param name as it is
 * @param id who made it
 * @param kind what it stands for
 * @param number its place: those with smaller ones come first
 */
record NodeName(String name, String id, NodeKind kind, int number) {

    /**
     * Where numbers end for a lock: the servers count in 31 bits, and repeat the last one for ever. Far enough before the
     * end for all who try in the minute or two until the servers have removed the unused parent.
     */
    static final int LAST_NUMBER = Integer.MAX_VALUE - 10_000_000;

    private static final Pattern NAME = Pattern.compile("([0-9a-z]+(?:\\.[0-9a-z]+)?)-([a-z])-([0-9]{10})");

    /** Null for what is no node in line. */
    static @Nullable NodeName parse(String name) {
        Matcher matcher = NAME.matcher(name);
        if (!matcher.matches()) {
            return null;
        }
        NodeKind kind = NodeKind.of(matcher.group(2).charAt(0));
        long number = Long.parseLong(matcher.group(3));
        return kind == null || number > Integer.MAX_VALUE
                ? null
                : new NodeName(name, matcher.group(1), kind, (int) number);
    }

    /** What the name of a new node begins with. */
    static String prefix(String id, NodeKind kind) {
        return id + '-' + kind.letter() + '-';
    }

    /** The mark beside a writer's node that says that it only shares by now. */
    static String demotionMark(String id) {
        return id + "-d";
    }

    /** The id of the node that shares, of a promotion. */
    String baseId() {
        int dot = id.indexOf('.');
        return dot < 0 ? id : id.substring(0, dot);
    }

    boolean isBefore(NodeName other) {
        return number < other.number;
    }

    boolean isUsedUp() {
        return number > LAST_NUMBER;
    }
}
