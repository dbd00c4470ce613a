package dev.latchkey.redis;

import java.nio.charset.StandardCharsets;

/**
 * What things are called on the server: everything begins with the prefix, and all that belongs to a resource has its hash
 * tag, so that a cluster keeps it in one slot.
 */
final class Names {

    private final String prefix;

    Names(String prefix) {
        if (prefix.indexOf('{') >= 0 || prefix.indexOf('}') >= 0) {
            throw new IllegalArgumentException(
                    "key prefix \"" + prefix + "\": a brace would change the hash tag; leave { and } out");
        }
        this.prefix = prefix;
    }

    String prefix() {
        return prefix;
    }

    byte[] key(String resource) {
        return keyText(resource).getBytes(StandardCharsets.UTF_8);
    }

    String keyText(String resource) {
        return prefix + '{' + tag(resource) + '}';
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
