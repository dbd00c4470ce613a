package dev.latchkey.flock;

import dev.latchkey.LockMode;
import dev.latchkey.spi.Attempt;
import dev.latchkey.spi.Lease;
import java.util.OptionalLong;

/** One holder's hold, and the name it came by. */
record Grant(Name name, Attempt.Granted answer) {

    private static final Attempt.Granted SHARED =
            new Attempt.Granted(LockMode.SHARED, OptionalLong.empty(), Lease.endless());

    static Grant shared(Name name) {
        return new Grant(name, SHARED);
    }

    static Grant exclusive(Name name, long fencingToken) {
        return new Grant(name, new Attempt.Granted(LockMode.EXCLUSIVE, OptionalLong.of(fencingToken), Lease.endless()));
    }

    LockMode mode() {
        return answer.mode();
    }
}
