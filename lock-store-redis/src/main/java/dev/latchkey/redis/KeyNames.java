package dev.latchkey.redis;

import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/**
 * What things are called on the server: everything begins with the prefix, and all that belongs to a resource has its hash
 * tag, so that a cluster keeps it in one slot.
 *
 * <p>With a hash tag of the store all its resources are in one slot. No resource has such a key without one: a tag that
 * begins with an equals sign is followed by another, by a brace, or by nothing.
 */
final class KeyNames {

    private static final Pattern HASH_TAG = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._:-]{0,99}");

    private final String prefix;
    private final String hashTag;

    KeyNames(String prefix) {
        this(prefix, "");
    }

    private KeyNames(String prefix, String hashTag) {
        if (prefix.indexOf('{') >= 0 || prefix.indexOf('}') >= 0) {
            throw new IllegalArgumentException(
                    "key prefix \"" + prefix + "\": a brace would change the hash tag; leave { and } out");
        }
        this.prefix = prefix;
        this.hashTag = hashTag;
    }

    KeyNames withPrefix(String other) {
        return new KeyNames(other, hashTag);
    }

    /** All resources in one slot. */
    KeyNames withHashTag(String tag) {
        if (!HASH_TAG.matcher(tag).matches()) {
            throw new IllegalArgumentException(
                    "hash tag \"" + tag
                            + "\": must be 1 to 100 letters, digits, dots, colons, hyphens or underscores, beginning with a letter or digit");
        }
        return new KeyNames(prefix, tag);
    }

    String prefix() {
        return prefix;
    }

    byte[] key(String resource) {
        return keyText(resource).getBytes(StandardCharsets.UTF_8);
    }

    String keyText(String resource) {
        return hashTag.isEmpty() ? prefix + '{' + tag(resource) + '}' : prefix + "{=" + hashTag + "}{" + resource + '}';
    }

    /** Where PUBLISH reaches a store. */
    String channel(String inbox) {
        return prefix + "in:" + inbox;
    }

    /** Where SPUBLISH reaches a store about one resource: in the slot of that resource. */
    String channel(String resource, String inbox) {
        return keyText(resource) + ":in:" + inbox;
    }

    /**
     * A tag that is empty, or begins with its own end, is none. What begins with an equals sign gets one as well, so that
     * no two resources share a tag.
     */
    private static String tag(String resource) {
        boolean escaped = resource.isEmpty() || resource.charAt(0) == '}' || resource.charAt(0) == '=';
        return escaped ? '=' + resource : resource;
    }
}
