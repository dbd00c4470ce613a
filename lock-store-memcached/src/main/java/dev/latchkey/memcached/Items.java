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
record Items(Link link, String resource, ItemName name) {

    /** Stores what the resource becomes if there is no item of it; false: there is one. */
    boolean add(State state) {
        return Boolean.TRUE.equals(
                link.ask(resource, client -> client.add(name.text(), state.seconds(), state.written(), Text.PLAIN)));
    }

    Look look() {
        CASValue<String> item = link.ask(resource, client -> client.asyncGets(name.text(), Text.PLAIN));
        if (item == null) {
            return new Look(Optional.empty(), State.FREE, Map.of());
        }
        if (item.getCas() == 0) {
            throw new LockStorageException(
                    resource, "the Memcached server was started with -C, but locks need its CAS", null);
        }
        State listed = State.read(item.getValue()).orElseThrow(() -> foreign(name.text()));
        return new Look(Optional.of(item.getCas()), listed, signs(listed));
    }

    private Map<Sign, Holding> signs(State listed) {
        Map<Sign, OperationFuture<CASValue<String>>> asked = new LinkedHashMap<>();
        listed.signs()
                .forEach(sign ->
                        asked.put(sign, link.send(resource, client -> client.asyncGets(name.of(sign), Text.PLAIN))));
        Map<Sign, Holding> found = new HashMap<>();
        asked.forEach((sign, future) -> {
            CASValue<String> item = link.await(resource, future);
            if (item != null) {
                found.put(sign, Holding.read(item.getValue()).orElseThrow(() -> foreign(name.text())));
            }
        });
        return found;
    }

    /** Makes a decision true; false: the item is not what was looked at, and nothing was decided. */
    boolean write(Look look, Decision<?> decision, Holdings holdings) {
        decision.signs().forEach((sign, seconds) -> {
            String value = holdings.lasting(seconds).written();
            if (!look.signs().containsKey(sign) || !renew(sign, seconds, value)) {
                link.ask(resource, client -> client.set(name.of(sign), seconds, value, Text.PLAIN));
            }
        });
        boolean written = decision.state().map(state -> change(look, state)).orElse(true);
        if (written) {
            decision.obsolete().forEach(sign -> link.ask(resource, client -> client.delete(name.of(sign))));
        }
        return written;
    }

    /** A set that finds no memory deletes what was there; a replace leaves it. */
    private boolean renew(Sign sign, int seconds, String value) {
        return Boolean.TRUE.equals(
                link.ask(resource, client -> client.replace(name.of(sign), seconds, value, Text.PLAIN)));
    }

    private boolean change(Look look, State state) {
        return look.version().map(version -> replace(version, state)).orElseGet(() -> add(state));
    }

    private boolean replace(long version, State state) {
        return link.ask(
                        resource,
                        client -> client.asyncCAS(name.text(), version, state.seconds(), state.written(), Text.PLAIN))
                == CASResponse.OK;
    }

    private LockStorageException foreign(String item) {
        return new LockStorageException(
                resource,
                "the Memcached item \"" + item + "\" is none of a lock: give the store a key prefix of its own",
                null);
    }
}
