package dev.latchkey.etcd;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.Compare.CompareResult;
import io.etcd.jetcd.api.Compare.CompareTarget;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;

/** The parts of transactions. A comparison of a range holds if it holds for each of its keys; of none, if it holds for zero. */
final class Ops {

    private Ops() {}

    static Compare noneIn(KeyRange range) {
        return created(range.from(), CompareResult.EQUAL, 0)
                .setRangeEnd(range.to())
                .build();
    }

    static Compare absent(ByteString key) {
        return created(key, CompareResult.EQUAL, 0).build();
    }

    static Compare createdAt(ByteString key, long revision) {
        return created(key, CompareResult.EQUAL, revision).build();
    }

    /** That there is one key, which was created then. */
    static Compare onlyOneIn(KeyRange range, long revision) {
        return created(range.from(), CompareResult.EQUAL, revision)
                .setRangeEnd(range.to())
                .build();
    }

    /** That there are some, of which none was created before. */
    static Compare noneBefore(KeyRange range, long revision) {
        return created(range.from(), CompareResult.GREATER, revision - 1)
                .setRangeEnd(range.to())
                .build();
    }

    /** That nobody has written it since: another lease is another version, too. */
    static Compare unchanged(ByteString key, long modified) {
        return Compare.newBuilder()
                .setKey(key)
                .setTarget(CompareTarget.MOD)
                .setResult(CompareResult.EQUAL)
                .setModRevision(modified)
                .build();
    }

    private static Compare.Builder created(ByteString key, CompareResult result, long revision) {
        return Compare.newBuilder()
                .setKey(key)
                .setTarget(CompareTarget.CREATE)
                .setResult(result)
                .setCreateRevision(revision);
    }

    static RequestOp put(ByteString key, ByteString value, long lease) {
        return RequestOp.newBuilder()
                .setRequestPut(
                        PutRequest.newBuilder().setKey(key).setValue(value).setLease(lease))
                .build();
    }

    /** A transaction within one. */
    static RequestOp nested(TxnRequest.Builder transaction) {
        return RequestOp.newBuilder().setRequestTxn(transaction).build();
    }

    static RequestOp delete(ByteString key) {
        return RequestOp.newBuilder()
                .setRequestDeleteRange(DeleteRangeRequest.newBuilder().setKey(key))
                .build();
    }

    static RequestOp get(ByteString key) {
        return get(RangeRequest.newBuilder().setKey(key));
    }

    static RequestOp any(KeyRange range) {
        return get(in(range).setLimit(1).setKeysOnly(true));
    }

    /** One of those that were created before a revision. */
    static RequestOp anyBefore(KeyRange range, long revision) {
        return get(in(range).setMaxCreateRevision(revision - 1).setLimit(1).setKeysOnly(true));
    }

    /** The one that was created last before a revision, or last of all. */
    static RequestOp lastBefore(KeyRange range, long revision) {
        return get(in(range)
                .setMaxCreateRevision(revision == Long.MAX_VALUE ? 0 : revision - 1)
                .setSortTarget(RangeRequest.SortTarget.CREATE)
                .setSortOrder(RangeRequest.SortOrder.DESCEND)
                .setLimit(1)
                .setKeysOnly(true));
    }

    static RangeRequest.Builder in(KeyRange range) {
        return RangeRequest.newBuilder().setKey(range.from()).setRangeEnd(range.to());
    }

    static RequestOp get(RangeRequest.Builder range) {
        return RequestOp.newBuilder().setRequestRange(range).build();
    }
}
