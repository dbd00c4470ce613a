package dev.latchkey.etcd;

import dev.latchkey.LockMode;
import dev.latchkey.spi.Holder;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.TxnResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Looks who holds a resource. */
record Inspection(Transactions transactions, Leases leases) {

    List<Holder> holders(String resource) {
        String base = transactions.base(resource);
        TxnResponse answer = transactions.read(
                resource,
                TxnRequest.newBuilder()
                        .addSuccess(Ops.get(Ops.in(KeyRange.below(base + "w/"))))
                        .addSuccess(Ops.get(Ops.in(KeyRange.below(base + "r/")))));
        List<Holder> holders = new ArrayList<>();
        for (LockMode mode : List.of(LockMode.EXCLUSIVE, LockMode.SHARED)) {
            int read = mode == LockMode.EXCLUSIVE ? 0 : 1;
            for (KeyValue found : answer.getResponses(read).getResponseRange().getKvsList()) {
                Hold hold = Hold.of(mode, found);
                leases.find(resource, hold.lease()).ifPresent(lease -> holders.add(holder(hold, lease)));
            }
        }
        return holders;
    }

    static Holder holder(Hold hold, ClassLease lease) {
        Duration left = Duration.ofNanos(Math.max(0, lease.endNanos() - System.nanoTime()));
        return new Holder(
                hold.mode(),
                hold.fencingToken(),
                Optional.of(left),
                hold.value().holder());
    }
}
