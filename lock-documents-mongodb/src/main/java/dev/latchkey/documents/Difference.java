package dev.latchkey.documents;

import java.util.LinkedHashSet;
import java.util.Objects;
import java.util.Set;
import org.bson.BsonDocument;
import org.bson.BsonString;

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

    /** As update operators. */
    BsonDocument update() {
        set.keySet().forEach(Difference::checkPlain);
        unset.forEach(Difference::checkPlain);
        BsonDocument update = new BsonDocument();
        if (!set.isEmpty()) {
            update.put("$set", set.clone());
        }
        if (!unset.isEmpty()) {
            BsonDocument names = new BsonDocument();
            unset.forEach(name -> names.put(name, new BsonString("")));
            update.put("$unset", names);
        }
        return update;
    }

    /** Others would be taken for a path, and change something else. */
    private static void checkPlain(String name) {
        if (name.isEmpty() || name.startsWith("$") || name.contains(".")) {
            throw new IllegalArgumentException("the field \"" + name
                    + "\" cannot be changed by itself, because of its name: replace the document instead");
        }
    }
}
