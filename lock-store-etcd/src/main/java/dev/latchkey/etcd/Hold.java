package dev.latchkey.etcd;

import com.google.protobuf.ByteString;
import dev.latchkey.LockMode;
import io.etcd.jetcd.api.KeyValue;
import java.util.OptionalLong;

/**
 * What an owner holds, as its key says.
 *
 * @param created the revision at which the key was created
 * @param modified the revision of its last change, also of the lease
 * @param lease the id of the lease that ends it
 */
record Hold(LockMode mode, ByteString key, long created, long modified, long lease, HoldValue value) {

    static Hold of(LockMode mode, KeyValue found) {
        return new Hold(
                mode,
                found.getKey(),
                found.getCreateRevision(),
                found.getModRevision(),
                found.getLease(),
                HoldValue.parse(found.getValue()));
    }

    OptionalLong fencingToken() {
        return mode == LockMode.EXCLUSIVE ? OptionalLong.of(created) : OptionalLong.empty();
    }
}
