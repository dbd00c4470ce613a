package dev.latchkey.spi;

/** A store in which an operator can end the hold of somebody else, by its fencing token. */
public interface ForceReleaseStore extends InspectableStore {

    /**
     * Ends one exclusive hold, and grants the resource to the next waiter, as a release by its holder does. The holder is
     * told at once ({@link dev.latchkey.LossReason#FORCED}) where the store can send it a message, else its next renewal
     * finds that the hold is gone.
     *
     * @param resource the name of the resource
     * @param fencingToken the fencing token of the hold to end; a hold with another one is left alone
     * @return true if this call ended the hold; false if it did not exist any more
     */
    boolean forceRelease(String resource, long fencingToken);
}
