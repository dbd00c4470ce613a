package dev.latchkey.zookeeper;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The name of a node in a queue: {@code id-x-0000000042}. The id is unique, so that a node can be found again when the answer
 * to its creation was lost. The servers assign the number. The id of a promotion is the id of the shared node, a dot, and a
 * number. The id of a sticky node has a zero after the id of the store.
 *
 * @param name the whole name
 * @param id the unique id
 * @param kind what the node stands for
 * @param number its position: nodes with smaller numbers come first
 */
record NodeName(String name, String id, NodeKind kind, int number) {

    /**
     * The last number that is used. The servers count in 31 bits, and then repeat the last number forever. The distance is
     * enough for all attempts in the minute or two until the servers remove the unused parent.
     */
    static final int LAST_NUMBER = Integer.MAX_VALUE - 10_000_000;

    /** The length of the id of a store. */
    static final int STORE_ID_LENGTH = 16;

    /** In place of the first digit of a number, which is never zero: earlier versions read it as part of the id. */
    private static final char STICKY = '0';

    private static final Pattern NAME = Pattern.compile("([0-9a-z]+(?:\\.[0-9a-z]+)?)-([a-z])-([0-9]{10})");

    /** Returns null for a name that is not of a node in a queue. */
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

    /** Returns the id of a new node. */
    static String id(String storeId, long number, boolean isSticky) {
        return storeId + (isSticky ? STICKY : "") + Long.toString(number, Character.MAX_RADIX);
    }

    /** Returns whether its holder may only keep what it holds, and can be asked to give it back. */
    boolean isSticky() {
        return !kind.isPromotion() && id.length() > STORE_ID_LENGTH && id.charAt(STORE_ID_LENGTH) == STICKY;
    }

    /** Returns the beginning of the name of a new node. */
    static String prefix(String id, NodeKind kind) {
        return id + '-' + kind.letter() + '-';
    }

    /** Returns the name of the mark that says that a writer's node has been demoted. */
    static String demotionMark(String id) {
        return id + "-d";
    }

    /** Returns the id of the shared node of a promotion. */
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
