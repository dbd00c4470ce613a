package dev.latchkey.spi;

/**
 * A store that can tell a holder that somebody else asks for its resource, so that the holder may keep a hold between several
 * uses without asking.
 *
 * <p>A {@link Request#isSticky() sticky} request makes a hold that is kept. For such a hold:
 *
 * <ul>
 * <li>When a request of another key is refused or has to wait because of it, or others already wait when it is granted, the
 *     store completes {@link Lease#recalled()}. This is a hint, which may be early, late, repeated or lost: nothing depends on it
 *     but how long the others wait. A waiter that asks again has it sent again.
 * <li>An exclusive hold may be used under any token from the one that was granted to the one that is
 *     {@link #reservedTokens} greater. A request, a release or a question that claims one of these claims this hold, and
 *     is answered with the claimed token.
 * <li>No later hold gets a token that this hold may have used. If it was not released with a claim, those are all that were
 *     reserved.
 * <li>{@link Response.Conflicted#isRecalled()} tells others that the holder was recalled just now.
 * <li>A store that is an {@link ExpiringStore} ends it with its TTL. A renewal begins to count the reserved tokens at the claimed
 *     one; it never takes back any that were reserved before.
 * <li>Any other store keeps it as long as its other holds, for which a lease has no time, reserves tokens only when it grants it,
 *     and recalls it by itself when the TTL of the request is over.
 * </ul>
 */
public interface RecallableStore extends BlockingStore {

    /**
     * Returns how many fencing tokens after the one that it is granted a hold may be used under.
     *
     * @param request the request for it
     * @return {@link Request#reservedTokens()} or fewer; the same for equal requests
     */
    default long reservedTokens(Request request) {
        return request.reservedTokens();
    }
}
