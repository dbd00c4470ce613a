package dev.latchkey.documents;

import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import org.bson.BsonDocument;
import org.bson.BsonValue;

/** Merges two changes of one document, property by property, also in embedded documents. A list is one value. */
final class ThreeWayMerge {

    private final MergePolicy policy;
    private final String versionField;

    ThreeWayMerge(MergePolicy policy, String versionField) {
        this.policy = policy;
        this.versionField = versionField;
    }

    /** The id and the version are not merged: the write sets them. */
    BsonDocument merge(BsonDocument base, BsonDocument mine, BsonDocument theirs) {
        return merge("", own(base), own(mine), own(theirs));
    }

    private BsonDocument own(BsonDocument document) {
        BsonDocument rest = document.clone();
        rest.remove(Mapping.ID);
        rest.remove(versionField);
        return rest;
    }

    /** Decides about the whole document, which one of the two deleted. */
    Optional<BsonValue> wholeDocument(BsonDocument base, Optional<BsonDocument> mine, Optional<BsonDocument> theirs) {
        return policy.resolve(new MergePolicy.Conflict(
                "", Optional.of(base), mine.map(BsonValue.class::cast), theirs.map(BsonValue.class::cast)));
    }

    private BsonDocument merge(String path, BsonDocument base, BsonDocument mine, BsonDocument theirs) {
        Set<String> names = new LinkedHashSet<>(theirs.keySet());
        names.addAll(mine.keySet());
        BsonDocument merged = new BsonDocument();
        for (String name : names) {
            property(path + name, get(base, name), get(mine, name), get(theirs, name))
                    .ifPresent(value -> merged.put(name, value));
        }
        return merged;
    }

    private static Optional<BsonValue> get(BsonDocument document, String name) {
        return Optional.ofNullable(document.get(name));
    }

    private Optional<BsonValue> property(
            String path, Optional<BsonValue> base, Optional<BsonValue> mine, Optional<BsonValue> theirs) {
        if (mine.equals(theirs) || mine.equals(base)) {
            return theirs;
        }
        if (theirs.equals(base)) {
            return mine;
        }
        if (isDocument(mine) && isDocument(theirs)) {
            BsonDocument begin = isDocument(base) ? base.orElseThrow().asDocument() : new BsonDocument();
            return Optional.of(merge(
                    path + ".",
                    begin,
                    mine.orElseThrow().asDocument(),
                    theirs.orElseThrow().asDocument()));
        }
        return policy.resolve(new MergePolicy.Conflict(path, base, mine, theirs));
    }

    private static boolean isDocument(Optional<BsonValue> value) {
        return value.isPresent() && value.get().isDocument();
    }
}
