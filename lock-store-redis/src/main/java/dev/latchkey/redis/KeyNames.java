package dev.latchkey.redis;

import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The names of keys and channels on the server. All begin with the prefix. All that belong to one resource have the same hash tag,
 * so that a cluster keeps them in one slot.
 *
 * <p>If the store has a hash tag, all its resources are in one slot. A store without one never uses such a key: it follows an
 * equals sign at the beginning of a tag by another one, by a brace, or by nothing.
 */
final class KeyNames {

    private static final Pattern HASH_TAG = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._:-]{0,99}");

    /** What a pattern takes for something else. */
    private static final Pattern SPECIAL = Pattern.compile("[*?\\[\\]\\\\]");

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

    /** Returns names that keep all resources in one slot. */
    KeyNames withHashTag(String tag) {
        if (!HASH_TAG.matcher(tag).matches()) {
            throw new IllegalArgumentException(
                    "hash tag \"" + tag
                            + "\": must be 1 to 100 letters, digits, dots, colons, hyphens or underscores, starting with a letter or digit");
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

    /** Returns the key of those who hold permits of a semaphore, in the slot of the lock with the same name. */
    byte[] permits(String semaphore) {
        return (keyText(semaphore) + ":s").getBytes(StandardCharsets.UTF_8);
    }

    /** Returns the key with the owner name of a store. */
    byte[] who(String inbox) {
        return (prefix + "who:" + inbox).getBytes(StandardCharsets.UTF_8);
    }

    /** Returns the pattern of SCAN for the states of all resources whose names start with a text. */
    String pattern(String start) {
        boolean isTagged = !hashTag.isEmpty();
        String tagged = start.isEmpty() || isTagged ? start : tag(start);
        String before = isTagged ? prefix + "{=" + hashTag + "}{" : prefix + '{';
        return SPECIAL.matcher(before + tagged).replaceAll("\\\\$0") + "*}";
    }

    /** Returns the resource that a key is the state of; empty if it is something else. */
    Optional<String> resource(byte[] key) {
        String text = new String(key, StandardCharsets.UTF_8);
        String before = hashTag.isEmpty() ? prefix + '{' : prefix + "{=" + hashTag + "}{";
        if (!text.startsWith(before) || !text.endsWith("}") || text.length() == before.length()) {
            return Optional.empty();
        }
        String name = text.substring(before.length(), text.length() - 1);
        if (!hashTag.isEmpty()) {
            return Optional.of(name);
        }
        String resource = name.startsWith("=") ? name.substring(1) : name;
        return tag(resource).equals(name) ? Optional.of(resource) : Optional.empty();
    }

    /** Returns the channel for PUBLISH to a store. */
    String channel(String inbox) {
        return prefix + "in:" + inbox;
    }

    /** Returns the channel for SPUBLISH to a store about one resource, in the slot of that resource. */
    String channel(String resource, String inbox) {
        return keyText(resource) + ":in:" + inbox;
    }

    /**
     * Redis ignores a tag that is empty or begins with a closing brace, so these get an equals sign in front. A resource that
     * begins with an equals sign gets one too, so that no two resources share a tag.
     */
    private static String tag(String resource) {
        boolean escaped = resource.isEmpty() || resource.charAt(0) == '}' || resource.charAt(0) == '=';
        return escaped ? '=' + resource : resource;
    }
}
