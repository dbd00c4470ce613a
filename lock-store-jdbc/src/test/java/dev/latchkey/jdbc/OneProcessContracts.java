package dev.latchkey.jdbc;

import dev.latchkey.testkit.ExpiringFencingContract;
import dev.latchkey.testkit.ExpiringStoreContract;
import dev.latchkey.testkit.FencingContract;
import dev.latchkey.testkit.IndexedBatchContract;
import dev.latchkey.testkit.InspectableStoreContract;
import dev.latchkey.testkit.ListingStoreContract;
import dev.latchkey.testkit.MultiLockContract;
import dev.latchkey.testkit.MultiLockForceContract;
import dev.latchkey.testkit.MultiLockLeaseContract;
import dev.latchkey.testkit.PersistingStoreContract;
import dev.latchkey.testkit.SemaphoreContract;
import dev.latchkey.testkit.SharedFencingContract;
import dev.latchkey.testkit.SharedForceReleaseContract;
import dev.latchkey.testkit.SharedLeaseContract;
import dev.latchkey.testkit.SharedStoreContract;
import dev.latchkey.testkit.TreeLeaseContract;
import dev.latchkey.testkit.TreeSavepointContract;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** What the store promises on every database to the threads of one process. */
@Execution(ExecutionMode.CONCURRENT)
interface OneProcessContracts
        extends PersistingStoreContract,
                ExpiringStoreContract,
                SharedStoreContract,
                SharedLeaseContract,
                FencingContract,
                ExpiringFencingContract,
                SharedFencingContract,
                InspectableStoreContract,
                ListingStoreContract,
                SharedForceReleaseContract,
                IndexedBatchContract,
                MultiLockContract,
                MultiLockForceContract,
                MultiLockLeaseContract,
                TreeLeaseContract,
                TreeSavepointContract,
                SemaphoreContract {}
