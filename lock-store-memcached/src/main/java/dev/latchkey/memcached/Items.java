package dev.latchkey.memcached;

import dev.latchkey.LockStorageException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import net.spy.memcached.CASResponse;
import net.spy.memcached.CASValue;
import net.spy.memcached.internal.OperationFuture;

/** The items of one resource on the server. */
record Items(ServerCalls link, String resource, ItemName name) {

    /** Stores what the resource becomes if there is no item of it; false: there is one. */
    boolean add(ItemState state, ServerTime time) {
        return add(name.text(), time.expiry(state.seconds()), state.written());
    }

    ItemSnapshot look() {
        CASValue<String> item = link.ask(resource, client -> client.asyncGets(name.text(), PlainText.PLAIN));
        if (item == null) {
            return new ItemSnapshot(Optional.empty(), ItemState.FREE, Map.of());
        }
        if (item.getCas() == 0) {
            throw new LockStorageException(
                    resource, "the Memcached server was started with -C, but locks need its CAS", null);
        }
        ItemState listed = ItemState.read(item.getValue()).orElseThrow(() -> foreign(name.text()));
        return new ItemSnapshot(Optional.of(item.getCas()), listed, signs(listed));
    }

    private Map<MarkerItem, ItemSnapshot.Found> signs(ItemState listed) {
        Map<MarkerItem, OperationFuture<CASValue<String>>> asked = new LinkedHashMap<>();
        listed.signs()
                .forEach(sign -> asked.put(
                        sign, link.send(resource, client -> client.asyncGets(name.of(sign), PlainText.PLAIN))));
        Map<MarkerItem, ItemSnapshot.Found> found = new HashMap<>();
        asked.forEach((sign, future) -> {
            CASValue<String> item = link.await(resource, future);
            if (item != null) {
                HoldRecord holding = HoldRecord.read(item.getValue()).orElseThrow(() -> foreign(name.text()));
                found.put(sign, new ItemSnapshot.Found(holding, item.getCas()));
            }
        });
        return found;
    }

    /** Makes a decision true; false: the item is not what was looked at, and nothing was decided. */
    boolean write(ItemSnapshot look, Decision<?> decision, ServerTime time) {
        boolean written = decision.signs().entrySet().stream()
                        .allMatch(one -> store(look, one.getKey(), one.getValue(), time))
                && decision.state().map(state -> change(look, state, time)).orElse(true);
        if (written) {
            decision.obsolete().forEach(sign -> remove(look, sign));
        }
        return written;
    }

    /** Only the sign that was found: a plain delete that comes late would remove one that the same key has stored since. */
    private void remove(ItemSnapshot look, MarkerItem sign) {
        ItemSnapshot.Found found = look.signs().get(sign);
        if (found != null) {
            boolean unused = replace(
                    name.of(sign),
                    found.version(),
                    TtlSeconds.LONG_AGO,
                    found.holding().written());
        }
    }

    /** In no case by a set: one that comes late would shorten what a later request stored, and one without memory delete it. */
    private boolean store(ItemSnapshot look, MarkerItem sign, int seconds, ServerTime time) {
        String item = name.of(sign);
        String value = time.lasting(seconds).written();
        int expiry = time.expiry(seconds);
        ItemSnapshot.Found found = look.signs().get(sign);
        return found == null
                ? add(item, expiry, value) || replaceLeft(item, expiry, value)
                : replace(item, found.version(), expiry, value);
    }

    /** Stores over a sign that nothing lists: it is left of a hold before, or of a promotion. */
    private boolean replaceLeft(String item, int expiry, String value) {
        CASValue<String> left = link.ask(resource, client -> client.asyncGets(item, PlainText.PLAIN));
        return left != null && replace(item, left.getCas(), expiry, value);
    }

    private boolean change(ItemSnapshot look, ItemState state, ServerTime time) {
        return look.version()
                .map(version -> replace(name.text(), version, time.expiry(state.seconds()), state.written()))
                .orElseGet(() -> add(state, time));
    }

    private boolean add(String item, int expiry, String value) {
        return Boolean.TRUE.equals(link.ask(resource, client -> client.add(item, expiry, value, PlainText.PLAIN)));
    }

    private boolean replace(String item, long version, int expiry, String value) {
        return link.ask(resource, client -> client.asyncCAS(item, version, expiry, value, PlainText.PLAIN))
                == CASResponse.OK;
    }

    private LockStorageException foreign(String item) {
        return new LockStorageException(
                resource,
                "the Memcached item \"" + item + "\" is none of a lock: give the store a key prefix of its own",
                null);
    }
}
