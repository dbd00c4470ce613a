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

    private Map<Sign, Look.Found> signs(State listed) {
        Map<Sign, OperationFuture<CASValue<String>>> asked = new LinkedHashMap<>();
        listed.signs()
                .forEach(sign ->
                        asked.put(sign, link.send(resource, client -> client.asyncGets(name.of(sign), Text.PLAIN))));
        Map<Sign, Look.Found> found = new HashMap<>();
        asked.forEach((sign, future) -> {
            CASValue<String> item = link.await(resource, future);
            if (item != null) {
                Holding holding = Holding.read(item.getValue()).orElseThrow(() -> foreign(name.text()));
                found.put(sign, new Look.Found(holding, item.getCas()));
            }
        });
        return found;
    }

    /** Makes a decision true; false: the item is not what was looked at, and nothing was decided. */
    boolean write(Look look, Decision<?> decision, Holdings holdings) {
        boolean written = decision.signs().entrySet().stream()
                        .allMatch(one -> store(look, one.getKey(), one.getValue(), holdings))
                && decision.state().map(state -> change(look, state)).orElse(true);
        if (written) {
            decision.obsolete().forEach(sign -> link.ask(resource, client -> client.delete(name.of(sign))));
        }
        return written;
    }

    /** Renews a sign that is there only if it is as it was: a set that finds no memory would delete it. */
    private boolean store(Look look, Sign sign, int seconds, Holdings holdings) {
        String value = holdings.lasting(seconds).written();
        Look.Found found = look.signs().get(sign);
        if (found != null) {
            return replace(name.of(sign), found.version(), seconds, value);
        }
        link.ask(resource, client -> client.set(name.of(sign), seconds, value, Text.PLAIN));
        return true;
    }

    private boolean change(Look look, State state) {
        return look.version()
                .map(version -> replace(name.text(), version, state.seconds(), state.written()))
                .orElseGet(() -> add(state));
    }

    private boolean replace(String item, long version, int seconds, String value) {
        return link.ask(resource, client -> client.asyncCAS(item, version, seconds, value, Text.PLAIN))
                == CASResponse.OK;
    }

    private LockStorageException foreign(String item) {
        return new LockStorageException(
                resource,
                "the Memcached item \"" + item + "\" is none of a lock: give the store a key prefix of its own",
                null);
    }
}
