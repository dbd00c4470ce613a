package dev.latchkey.multi;

import dev.latchkey.Key;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;

/**
 * What one hold of several resources consists of. Immutable, but for its sessions.
 *
 * @param owner the key of the hold as a whole
 * @param keys one for each resource, in the order of their names, with what it holds
 * @param sessions what the parts are bound to beside time
 */
record Parts(Key owner, List<Key> keys, Sessions sessions) {

    static Parts fresh(Key owner, List<String> resources) {
        return new Parts(owner, resources.stream().map(Key::of).toList(), new Sessions());
    }

    boolean isOf(Key other) {
        return owner.equals(other);
    }

    /** The same request for each part. */
    List<Request> requests(Request asked) {
        return keys.stream().map(asked::with).toList();
    }

    /** The parts with what was granted to one of them. */
    Parts holding(int part, Response.Granted granted) {
        List<Key> claiming = new ArrayList<>(keys);
        claiming.set(part, claiming(keys.get(part), granted));
        return new Parts(owner, claiming, sessions);
    }

    /** The parts with what was granted to all. */
    Parts holding(List<Response.Granted> grants) {
        List<Key> claiming = new ArrayList<>();
        for (int i = 0; i < keys.size(); i++) {
            claiming.add(claiming(keys.get(i), grants.get(i)));
        }
        return new Parts(owner, claiming, sessions);
    }

    private static Key claiming(Key key, Response.Granted granted) {
        return key.claiming(Optional.of(new Key.Held(granted.mode(), granted.fencingToken())));
    }

    /** The same keys, which hold nothing. */
    Parts released() {
        return new Parts(
                owner, keys.stream().map(key -> key.claiming(Optional.empty())).toList(), new Sessions());
    }

    /** The first of the resources, in the order of their names. */
    int firstOf(Iterable<String> resources) {
        int first = keys.size();
        for (String resource : resources) {
            first = Math.min(first, indexOf(resource));
        }
        if (first == keys.size()) {
            throw new IllegalStateException("the store names no resource that it was asked for");
        }
        return first;
    }

    private int indexOf(String resource) {
        int index = 0;
        while (index < keys.size() && !keys.get(index).resource().equals(resource)) {
            index++;
        }
        return index;
    }

    /** The grant of the hold as a whole. */
    Response.Granted together(List<Response.Granted> grants) {
        List<Lease> leases = grants.stream().map(Response.Granted::lease).toList();
        return new Response.Granted(grants.get(0).mode(), OptionalLong.empty(), sessions.lease(leases));
    }

    Map<String, Long> fencingTokens() {
        Map<String, Long> tokens = new TreeMap<>();
        for (Key key : keys) {
            key.held()
                    .map(Key.Held::fencingToken)
                    .ifPresent(token -> token.ifPresent(value -> tokens.put(key.resource(), value)));
        }
        return tokens;
    }
}
