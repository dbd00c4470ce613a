package dev.latchkey.zookeeper;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.apache.zookeeper.common.PathUtils;

/**
 * Maps resources to the paths of their queues. The node below the root is named like the resource if that is short and plain,
 * otherwise by its plain beginning, a tilde and its SHA-256. Plain names have no tilde, so no two resources share a queue. The
 * content of the node is the name of the resource if that cannot be read off its path.
 */
final class Paths {

    private static final int LONGEST_PLAIN = 100;
    private static final int SHOWN = 40;
    private static final Pattern PLAIN = Pattern.compile("[0-9A-Za-z_.:=@+,-]{1," + LONGEST_PLAIN + "}");
    private static final Pattern NOT_PLAIN = Pattern.compile("[^0-9A-Za-z_.:=@+,-]");
    private static final Pattern DOTS = Pattern.compile("\\.+");

    private static final int REMEMBERED = 1_000;

    private final String root;

    /** Computing a hash is a large part of the cost of a cycle in this process. */
    private final Map<String, String> known = new ConcurrentHashMap<>();

    Paths(String root) {
        PathUtils.validatePath(root);
        this.root = root;
    }

    String root() {
        return root;
    }

    String of(String resource) {
        String path = known.get(resource);
        if (path == null) {
            path = path(resource);
            if (known.size() >= REMEMBERED) {
                known.clear();
            }
            known.put(resource, path);
        }
        return path;
    }

    private String path(String resource) {
        return below(name(resource));
    }

    /** Returns the path of a node below the root. */
    String below(String node) {
        return (root.equals("/") ? root : root + '/') + node;
    }

    private static String name(String resource) {
        return isPlain(resource) ? resource : shown(resource) + '~' + hash(resource);
    }

    /** Returns whether the node of a resource is named like it. */
    static boolean isPlain(String resource) {
        return PLAIN.matcher(resource).matches() && !DOTS.matcher(resource).matches();
    }

    private static String shown(String resource) {
        String start = resource.substring(0, Math.min(resource.length(), SHOWN));
        return NOT_PLAIN.matcher(start).replaceAll("_");
    }

    /** Returns the content of the node of a resource. */
    static byte[] content(String resource) {
        return isPlain(resource) ? Requests.NOTHING : resource.getBytes(StandardCharsets.UTF_8);
    }

    /** Returns whether a node may be of a resource whose name starts with a text and is the content of the node. */
    static boolean mayContain(String node, String prefix) {
        return node.indexOf('~') >= 0 && node.startsWith(shown(prefix));
    }

    /** Returns the name that is the content of a node; empty if it is not of this node. */
    static Optional<String> resource(String node, byte[] content) {
        return Optional.of(new String(content, StandardCharsets.UTF_8))
                .filter(resource -> name(resource).equals(node));
    }

    private static String hash(String resource) {
        try {
            MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
            return HexFormat.of().formatHex(sha256.digest(resource.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
