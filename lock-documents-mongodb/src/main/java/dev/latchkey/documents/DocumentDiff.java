package dev.latchkey.documents;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * The fields to set and to remove to change one document into another, including single fields of embedded documents: fields that
 * the application does not know stay there as well. A list is one value.
 */
record DocumentDiff(BsonDocument set, Set<String> unset) {

    /**
     * Compares everything except the id and the version.
     *
     * @param stored as it is in the database
     * @param before as the application saw that
     */
    static DocumentDiff between(BsonDocument stored, BsonDocument before, BsonDocument after, String versionField) {
        DocumentDiff difference = new DocumentDiff(new BsonDocument(), new LinkedHashSet<>());
        difference.add("", stored, without(before, versionField), without(after, versionField));
        return difference;
    }

    private static BsonDocument without(BsonDocument document, String versionField) {
        BsonDocument rest = document.clone();
        rest.keySet().removeAll(List.of(Mapping.ID, versionField));
        return rest;
    }

    private void add(String path, BsonDocument stored, BsonDocument before, BsonDocument after) {
        before.keySet().stream()
                .filter(name -> !after.containsKey(name))
                .forEach(name -> unset.add(checked(path, name)));
        after.forEach((name, value) -> {
            BsonValue old = before.get(name);
            if (Objects.equals(value, old)) {
                return;
            }
            if (canBeReachedInto(stored.get(name)) && canBeReachedInto(old) && canBeReachedInto(value)) {
                add(
                        checked(path, name) + ".",
                        stored.getDocument(name),
                        before.getDocument(name),
                        after.getDocument(name));
            } else {
                set.put(checked(path, name), value);
            }
        });
    }

    /** An embedded document with unusual names is set as a whole. */
    private static boolean canBeReachedInto(@Nullable BsonValue value) {
        return value != null
                && value.isDocument()
                && value.asDocument().keySet().stream().allMatch(DocumentDiff::isPlain);
    }

    boolean isEmpty() {
        return set.isEmpty() && unset.isEmpty();
    }

    /** Returns the update operators. */
    BsonDocument update() {
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

    /** Other names would count as a path, and change something else. */
    private static String checked(String path, String name) {
        if (!isPlain(name)) {
            throw new IllegalArgumentException("the field \"" + name
                    + "\" cannot be changed by itself, because of its name: replace the document instead");
        }
        return path + name;
    }

    private static boolean isPlain(String name) {
        return !name.isEmpty() && !name.startsWith("$") && !name.contains(".");
    }
}
