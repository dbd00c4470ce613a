package dev.latchkey.memcached;

import dev.latchkey.testkit.SharedLeaseContract;

/** What has to do with leases, by a clock that counts seconds. */
class MemcachedLeaseIT extends TextProtocol implements SharedLeaseContract {

    @Override
    public boolean remembersExpiredHolds() {
        return false;
    }
}
