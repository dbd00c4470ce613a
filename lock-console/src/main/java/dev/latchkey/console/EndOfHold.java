package dev.latchkey.console;

import dev.latchkey.LockException;
import dev.latchkey.LockFactory;

/**
 * What came of the wish to end a hold.
 *
 * @param status the HTTP status of the answer
 * @param json the answer: {@code ended}, or the {@code error}
 */
public record EndOfHold(int status, Json json) {

    /**
     * Ends a hold.
     *
     * @param locks the store
     * @param prefix what the names of the shown resources begin with: no hold of another is ended
     * @param resource what is held
     * @param token the fencing token of the hold, as it was typed
     * @return what came of it
     */
    public static EndOfHold of(LockFactory locks, String prefix, String resource, String token) {
        if (!resource.startsWith(prefix)) {
            return refused(403, "this server shows other names only, and ends no hold of this one");
        }
        try {
            boolean ended = locks.forceRelease(resource, Long.parseLong(token.strip()));
            return new EndOfHold(200, new Json().put("ended", ended));
        } catch (NumberFormatException e) {
            return refused(400, "a fencing token is a whole number");
        } catch (UnsupportedOperationException e) {
            return refused(501, "this store cannot end the hold of somebody else");
        } catch (LockException e) {
            return refused(502, Text.message(String.valueOf(e.getMessage())));
        } catch (RuntimeException e) {
            return refused(500, "the hold may have ended or not: " + Text.message(e.toString()));
        }
    }

    private static EndOfHold refused(int status, String why) {
        return new EndOfHold(status, new Json().put("error", why));
    }
}
