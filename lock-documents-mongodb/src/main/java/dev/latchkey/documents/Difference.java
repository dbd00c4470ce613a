package dev.latchkey.documents;

import java.util.LinkedHashSet;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.BsonValue;

/** The fields of a document that are set, or taken away, to make it another. */
record Difference(BsonDocument set, Set<String> unset) {

    /** All but the id and the version. */
    static Difference between(BsonDocument before, BsonDocument after, String versionField) {
        BsonDocument set = new BsonDocument();
        Set<String> unset = new LinkedHashSet<>(before.keySet());
        unset.removeAll(after.keySet());
        after.forEach((name, value) -> {
            if (!Objects.equals(value, before.get(name))) {
                set.put(name, value);
            }
        });
        for (String own : new String[] {Mapping.ID, versionField}) {
            set.remove(own);
            unset.remove(own);
        }
        return new Difference(set, unset);
    }

    boolean isEmpty() {
        return set.isEmpty() && unset.isEmpty();
    }

    /** As update operators; empty where a name would be taken for a path or an operator. */
    Optional<BsonDocument> update() {
        if (!set.keySet().stream().allMatch(Difference::isPlain)
                || !unset.stream().allMatch(Difference::isPlain)) {
            return Optional.empty();
        }
        BsonDocument update = new BsonDocument();
        if (!set.isEmpty()) {
            update.put("$set", set.clone());
        }
        if (!unset.isEmpty()) {
            BsonDocument names = new BsonDocument();
            unset.forEach(name -> names.put(name, new BsonString("")));
            update.put("$unset", names);
        }
        return Optional.of(update);
    }

    private static boolean isPlain(String name) {
        return !name.isEmpty() && !name.startsWith("$") && !name.contains(".");
    }

    BsonDocument applyTo(BsonDocument document) {
        BsonDocument changed = document.clone();
        unset.forEach(changed::remove);
        for (String name : set.keySet()) {
            BsonValue value = set.get(name);
            changed.put(name, value);
        }
        return changed;
    }
}
