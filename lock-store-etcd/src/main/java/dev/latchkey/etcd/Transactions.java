package dev.latchkey.etcd;

import com.google.protobuf.ByteString;
import dev.latchkey.Key;
import dev.latchkey.LockMode;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.ResponseOp;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.TxnResponse;
import java.util.List;
import java.util.Optional;

/** Runs transactions; none of their reads is serializable in the sense of etcd, that is, possibly out of date. */
final class Transactions {

    private static final LockMode[] MODES = {LockMode.EXCLUSIVE, LockMode.SHARED};

    private final Calls calls;
    private final String root;

    Transactions(Calls calls, String root) {
        this.calls = calls;
        this.root = root;
    }

    LockKeys keys(Key key) {
        return LockKeys.of(root, key);
    }

    String base(String resource) {
        return LockKeys.base(root, resource);
    }

    String root() {
        return root;
    }

    KeyRange startingWith(String prefix, Optional<String> after) {
        return LockKeys.startingWith(root, prefix, after);
    }

    /** Deletes the exclusive hold with that fencing token, which is when its key was created. */
    boolean deleteWriter(String resource, long fencingToken) {
        KeyRange writers = KeyRange.below(base(resource) + "w/");
        TxnResponse there = read(resource, TxnRequest.newBuilder().addSuccess(Ops.get(Ops.in(writers))));
        Optional<KeyValue> hold = there.getResponses(0).getResponseRange().getKvsList().stream()
                .filter(found -> found.getCreateRevision() == fencingToken)
                .findFirst();
        return hold.isPresent()
                && write(
                                resource,
                                TxnRequest.newBuilder()
                                        .addCompare(Ops.createdAt(hold.get().getKey(), fencingToken))
                                        .addSuccess(Ops.delete(hold.get().getKey())))
                        .getSucceeded();
    }

    TxnResponse write(String resource, TxnRequest.Builder transaction) {
        return calls.ask(resource, KVGrpc.getTxnMethod(), transaction.build(), Calls.Repeat.NEVER);
    }

    TxnResponse read(String resource, TxnRequest.Builder transaction) {
        return calls.ask(resource, KVGrpc.getTxnMethod(), transaction.build(), Calls.Repeat.HARMLESS);
    }

    /** Whether one of several keys was created before a revision and is still there. */
    boolean hasAnyBefore(String resource, KeyRange range, long revision) {
        return first(read(resource, TxnRequest.newBuilder().addSuccess(Ops.lastBefore(range, revision))), 0)
                .isPresent();
    }

    /** Returns what an owner holds. */
    Optional<Hold> find(String resource, LockKeys keys) {
        return found(keys, read(resource, TxnRequest.newBuilder().addAllSuccess(holds(keys))));
    }

    /** The reads of what an owner holds, which a transaction may have in a branch, as the first ones. */
    static List<RequestOp> holds(LockKeys keys) {
        return List.of(Ops.get(keys.hold(LockMode.EXCLUSIVE)), Ops.get(keys.hold(LockMode.SHARED)));
    }

    static Optional<Hold> found(LockKeys keys, TxnResponse answer) {
        for (int i = 0; i < MODES.length; i++) {
            LockMode mode = MODES[i];
            Optional<Hold> hold = first(answer, i).map(value -> Hold.of(mode, value));
            if (hold.isPresent()) {
                return hold;
            }
        }
        return Optional.empty();
    }

    static Optional<KeyValue> first(TxnResponse answer, int read) {
        ResponseOp response = answer.getResponses(read);
        return response.getResponseRange().getKvsList().stream().findFirst();
    }

    /** Deletes keys that belong to one owner alone; returns how many there were. */
    long delete(String resource, List<ByteString> owned) {
        TxnRequest.Builder transaction = TxnRequest.newBuilder();
        owned.forEach(key -> transaction.addSuccess(Ops.delete(key)));
        return write(resource, transaction).getResponsesList().stream()
                .mapToLong(response -> response.getResponseDeleteRange().getDeleted())
                .sum();
    }
}
