package dev.latchkey.testkit;

/**
 * What every store keeps that keeps anything; a gathering of contracts, without tests of its own.
 */
public interface PersistingStoreContract
        extends ExclusionContract,
                OwnershipContract,
                NamingContract,
                BadInputContract,
                WaitingContract,
                InterruptContract,
                ContentionContract,
                LeakContract {}
