package dev.latchkey.dynamodb;

import dev.latchkey.LockMode;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.ListedResource;
import dev.latchkey.spi.ResourcePage;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** Looks who holds, for people. */
final class Inspection {

    /** Of a table in which little is held, one request would otherwise return little. */
    private static final int LEAST_READ = 100;

    private final Items items;
    private final Observations observations;

    /** Apart from those that decide who is dead: a long list must not push them out. */
    private final Observations listed = new Observations();

    Inspection(Items items, Observations observations) {
        this.items = items;
        this.observations = observations;
    }

    List<Holder> holders(String resource) {
        String item = ItemKey.of(resource);
        return items.read(resource, item)
                .filter(there -> !there.isFree())
                .flatMap(there -> holder(there, observations.see(item, there)))
                .map(List::of)
                .orElse(List.of());
    }

    /** Reads on until there is something to show, or all has been read. */
    ResourcePage page(String prefix, Optional<String> after, int limit) {
        Optional<String> start = after;
        List<ListedResource> found = new ArrayList<>();
        do {
            Items.Page page = items.scan(prefix, start, Math.max(limit, LEAST_READ));
            for (Items.Named named : page.items()) {
                Optional<Holder> holder = holder(named.item(), seen(named));
                if (holder.isPresent()) {
                    if (found.size() == limit) {
                        return new ResourcePage(found, start);
                    }
                    found.add(new ListedResource(named.resource(), List.of(holder.get()), Optional.empty()));
                }
                start = Optional.of(named.key());
            }
            start = page.next();
        } while (found.isEmpty() && start.isPresent());
        return new ResourcePage(found, start);
    }

    private Observation seen(Items.Named named) {
        return observations
                .of(named.key())
                .filter(known -> known.version().equals(named.item().version()))
                .orElseGet(() -> listed.see(named.key(), named.item()));
    }

    /** Nobody if it is dead. */
    private static Optional<Holder> holder(LockItem there, Observation seen) {
        return seen.isOver()
                ? Optional.empty()
                : Optional.of(new Holder(
                        LockMode.EXCLUSIVE, OptionalLong.of(there.fence()), Optional.of(seen.left()), there.holder()));
    }
}
