package dev.latchkey.flock;

import dev.latchkey.LockMode;
import dev.latchkey.spi.Attempt;
import dev.latchkey.spi.Holder;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** Who holds a file, for people. */
record Inspection(Name name, ProcLocks procLocks) {

    private static final long OWN_PID = ProcessHandle.current().pid();

    List<Holder> holders() throws IOException {
        Sight sight = name.file().look();
        List<Holder> holders = new ArrayList<>();
        for (Attempt.Granted own : sight.own()) {
            holders.add(holder(own.mode(), own.fencingToken(), OWN_PID));
        }
        Optional<List<ProcLocks.Holding>> listed = procLocks.holdings(name.path());
        if (listed.isPresent()) {
            listed.get().stream()
                    .filter(holding -> holding.pid() != OWN_PID)
                    .map(holding -> holder(holding, sight.last()))
                    .forEach(holders::add);
        } else if (holders.isEmpty() && name.file().isHeldElsewhere()) {
            holders.add(holder(
                    new ProcLocks.Holding(LockMode.EXCLUSIVE, sight.last().pid()), sight.last()));
        }
        return holders;
    }

    private static Holder holder(ProcLocks.Holding holding, FileRecord.Entry last) {
        boolean isLast = holding.mode() == LockMode.EXCLUSIVE && holding.pid() == last.pid();
        return holder(
                holding.mode(), isLast ? OptionalLong.of(last.fencingToken()) : OptionalLong.empty(), holding.pid());
    }

    private static Holder holder(LockMode mode, OptionalLong fencingToken, long pid) {
        return new Holder(mode, fencingToken, Optional.empty(), Optional.of("pid " + pid));
    }
}
