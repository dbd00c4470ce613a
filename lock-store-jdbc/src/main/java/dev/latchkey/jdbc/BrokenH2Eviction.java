package dev.latchkey.jdbc;

import com.zaxxer.hikari.SQLExceptionOverride;
import java.sql.SQLException;
import java.util.Set;

/**
 * Has a pool drop a connection that H2 calls broken, in codes of its own. The pool looks whether one is alive only if nobody
 * had it for half a second: asked more often, it would lend the same one again and again.
 */
final class BrokenH2Eviction implements SQLExceptionOverride {

    private static final Set<Integer> BROKEN = Set.of(90_067, 90_098, 90_121);

    @java.lang.Override
    public SQLExceptionOverride.Override adjudicate(SQLException failure) {
        return BROKEN.contains(failure.getErrorCode())
                ? SQLExceptionOverride.Override.MUST_EVICT
                : SQLExceptionOverride.Override.CONTINUE_EVICT;
    }
}
