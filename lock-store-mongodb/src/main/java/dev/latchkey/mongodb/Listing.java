package dev.latchkey.mongodb;

import dev.latchkey.spi.Holder;
import dev.latchkey.spi.ListedResource;
import dev.latchkey.spi.ResourcePage;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.bson.BsonDocument;
import org.bson.BsonString;

/** Lists what is held, in the order of the {@code _id}, which no change of a document changes. */
record Listing(LockCommands documents) {

    /** A page may have fewer resources than asked for, and still not be the last one: ended leases are left out here. */
    ResourcePage page(String prefix, Optional<String> after, int limit) {
        List<LockDocument> found = documents.unreleased(range(prefix, after), limit);
        List<ListedResource> listed = new ArrayList<>();
        for (LockDocument document : found) {
            List<Holder> holders = document.holders();
            if (document.name().startsWith(prefix) && !holders.isEmpty()) {
                listed.add(new ListedResource(document.name(), holders, Optional.empty()));
            }
        }
        boolean isLast = found.size() < limit;
        return new ResourcePage(
                listed,
                isLast
                        ? Optional.empty()
                        : Optional.of(found.get(found.size() - 1).name()));
    }

    /** A range includes all names with the prefix, in the order of the server; it may include some others. */
    private static BsonDocument range(String prefix, Optional<String> after) {
        BsonDocument range = new BsonDocument("$gte", new BsonString(prefix));
        end(prefix).ifPresent(end -> range.append("$lt", new BsonString(end)));
        after.ifPresent(last -> range.append("$gt", new BsonString(last)));
        return range;
    }

    /** Returns the first text after all those that start with another one; empty if there is none. */
    static Optional<String> end(String start) {
        int length = start.length();
        while (length > 0) {
            int last = start.codePointBefore(length);
            length -= Character.charCount(last);
            if (last < Character.MAX_CODE_POINT) {
                boolean isBeforeSurrogates = last + 1 >= Character.MIN_SURROGATE && last < Character.MAX_SURROGATE;
                int next = isBeforeSurrogates ? Character.MAX_SURROGATE + 1 : last + 1;
                return Optional.of(start.substring(0, length) + Character.toString(next));
            }
        }
        return Optional.empty();
    }
}
