package dev.latchkey.testkit;

import dev.latchkey.spi.PersistingStore;

/**
 * What every store keeps that keeps anything; a gathering of contracts, without tests of its own.
 */
@ContractFor(PersistingStore.class)
public interface PersistingStoreContract
        extends ExclusionContract,
                ClaimContract,
                OwnershipContract,
                RefreshContract,
                KeyContract,
                LossContract,
                NamingContract,
                BadInputContract,
                WaitingContract,
                EndedWaitContract,
                InterruptContract,
                AsyncLockContract,
                AsyncDependentsContract,
                ContentionContract,
                CrowdContract,
                LeakContract {}
