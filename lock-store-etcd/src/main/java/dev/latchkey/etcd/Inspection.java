package dev.latchkey.etcd;

import dev.latchkey.LockMode;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.QueuedWaiter;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.TxnResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Looks who holds a resource. */
record Inspection(Transactions transactions, Leases leases) {

    private static final int LOOKS = 2;

    List<Holder> holders(String resource) {
        List<Holder> holders = new ArrayList<>();
        // A server that is behind does not know the lease of a hold yet, until it has read something else.
        for (int i = 0; i < LOOKS; i++) {
            holders.clear();
            if (list(resource, holders)) {
                break;
            }
        }
        return holders;
    }

    /** Returns who waits, the next one to be granted first. */
    List<QueuedWaiter> waiters(String resource) {
        String base = transactions.base(resource);
        TxnResponse answer = transactions.read(
                resource,
                TxnRequest.newBuilder()
                        .addSuccess(Ops.get(Ops.in(KeyRange.below(base + "p/"))))
                        .addSuccess(Ops.get(Ops.in(KeyRange.below(base + "q/")))));
        List<KeyValue> keys = new ArrayList<>();
        answer.getResponsesList()
                .forEach(read -> keys.addAll(read.getResponseRange().getKvsList()));
        return Waiters.among(keys, transactions.root());
    }

    /** Returns whether the leases of all were known. */
    private boolean list(String resource, List<Holder> holders) {
        String base = transactions.base(resource);
        boolean isComplete = true;
        TxnResponse answer = transactions.read(
                resource,
                TxnRequest.newBuilder()
                        .addSuccess(Ops.get(Ops.in(KeyRange.below(base + "w/"))))
                        .addSuccess(Ops.get(Ops.in(KeyRange.below(base + "r/")))));
        for (LockMode mode : List.of(LockMode.EXCLUSIVE, LockMode.SHARED)) {
            int read = mode == LockMode.EXCLUSIVE ? 0 : 1;
            for (KeyValue found : answer.getResponses(read).getResponseRange().getKvsList()) {
                Hold hold = Hold.of(mode, found);
                Optional<ClassLease> lease = leases.find(resource, hold.lease());
                lease.ifPresent(known -> holders.add(holder(hold, known)));
                isComplete &= lease.isPresent();
            }
        }
        return isComplete;
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
