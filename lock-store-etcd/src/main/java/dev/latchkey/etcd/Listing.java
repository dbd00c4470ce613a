package dev.latchkey.etcd;

import dev.latchkey.LockMode;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.ListedResource;
import dev.latchkey.spi.QueuedWaiter;
import dev.latchkey.spi.ResourcePage;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.TxnRequest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Lists what is held, in the order of the keys: all keys of one resource are next to each other. */
final class Listing {

    private static final int KEYS_AT_ONCE = 2_000;

    private final Transactions transactions;
    private final Leases leases;
    private final Inspection inspection;
    private final Map<Long, ClassLease> known = new HashMap<>();

    Listing(Transactions transactions, Leases leases) {
        this.transactions = transactions;
        this.leases = leases;
        this.inspection = new Inspection(transactions, leases);
    }

    /** A page may have fewer resources than asked for, and still not be the last one. */
    ResourcePage page(String prefix, Optional<String> after, int limit) {
        KeyRange range = transactions.startingWith(prefix, after);
        RangeResponse answer = transactions
                .read(
                        prefix,
                        TxnRequest.newBuilder().addSuccess(Ops.get(Ops.in(range).setLimit(KEYS_AT_ONCE))))
                .getResponses(0)
                .getResponseRange();
        List<ListedResource> listed = new ArrayList<>();
        List<List<KeyValue>> groups = groups(answer.getKvsList());
        // Of the last one there may be keys that did not fit. If it is the only one, it alone is too many for an
        // answer.
        boolean isCut = answer.getMore() && groups.size() == 1;
        int complete = answer.getMore() && !isCut ? groups.size() - 1 : groups.size();
        Optional<String> last = Optional.empty();
        for (List<KeyValue> keys : groups.subList(0, complete)) {
            if (listed.size() == limit) {
                return new ResourcePage(listed, last);
            }
            String resource = name(keys.get(0));
            last = Optional.of(resource);
            List<Holder> holders = isCut ? inspection.holders(resource) : holders(resource, keys);
            if (!holders.isEmpty()) {
                List<QueuedWaiter> waiters =
                        isCut ? inspection.waiters(resource) : Waiters.among(keys, transactions.root());
                listed.add(new ListedResource(resource, holders, Optional.of(waiters)));
            }
        }
        return new ResourcePage(listed, answer.getMore() ? last : Optional.empty());
    }

    private List<List<KeyValue>> groups(List<KeyValue> keys) {
        List<List<KeyValue>> groups = new ArrayList<>();
        String last = "";
        for (KeyValue key : keys) {
            String base = LockKeys.baseOf(transactions.root(), key.getKey());
            if (!base.equals(last)) {
                groups.add(new ArrayList<>());
                last = base;
            }
            groups.get(groups.size() - 1).add(key);
        }
        return groups;
    }

    private String name(KeyValue key) {
        return LockKeys.resourceOf(transactions.root(), key.getKey());
    }

    private List<Holder> holders(String resource, List<KeyValue> keys) {
        List<Holder> holders = new ArrayList<>();
        for (KeyValue key : keys) {
            Optional<LockMode> mode = LockKeys.modeOf(transactions.root(), key.getKey());
            if (mode.isPresent()) {
                Hold hold = Hold.of(mode.get(), key);
                Optional<ClassLease> lease = lease(resource, hold.lease());
                if (lease.isEmpty()) {
                    // The server may be behind: this looks twice.
                    return inspection.holders(resource);
                }
                holders.add(Inspection.holder(hold, lease.get()));
            }
        }
        return holders;
    }

    private Optional<ClassLease> lease(String resource, long id) {
        Optional<ClassLease> lease = Optional.ofNullable(known.get(id)).or(() -> leases.find(resource, id));
        lease.ifPresent(found -> known.put(id, found));
        return lease;
    }
}
