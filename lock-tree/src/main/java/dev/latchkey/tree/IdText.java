package dev.latchkey.tree;

import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;

/** Ids in messages: at most ten of them, shortened, and without control characters. */
final class IdText {

    private static final int MOST = 10;
    private static final int LONGEST = 100;

    private IdText() {}

    static String ids(Collection<String> ids) {
        String first = ids.stream().sorted().limit(MOST).map(IdText::id).collect(Collectors.joining(", "));
        return ids.size() <= MOST ? first : first + " and " + (ids.size() - MOST) + " more";
    }

    /** Returns the first ids, each followed by an arrow. */
    static String path(List<String> ids) {
        String first = ids.stream().limit(MOST).map(one -> id(one) + " -> ").collect(Collectors.joining());
        return ids.size() <= MOST ? first : first + "… -> ";
    }

    static String id(String id) {
        String start = id.length() <= LONGEST ? id : id.substring(0, LONGEST) + "…";
        return '"' + start.replaceAll("\\p{Cntrl}", "?") + '"';
    }
}
