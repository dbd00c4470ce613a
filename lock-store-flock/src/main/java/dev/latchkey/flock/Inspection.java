package dev.latchkey.flock;

import dev.latchkey.LockMode;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.Response;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** Describes the holders of a file. */
record Inspection(ResourceFile name, ProcLocks procLocks) {

    private static final long OWN_PID = ProcessHandle.current().pid();

    List<Holder> holders() throws IOException {
        FileView view = name.file().look();
        List<Holder> holders = new ArrayList<>();
        for (Response.Granted own : view.own()) {
            holders.add(holder(own.mode(), own.fencingToken(), "pid " + OWN_PID));
        }
        Optional<ProcLocks.Listing> listed = procLocks.holdings(name.path());
        listed.map(ProcLocks.Listing::holdings).orElse(List.of()).stream()
                .filter(holding -> holding.pid() != OWN_PID)
                .map(holding -> holder(holding, view.last()))
                .forEach(holders::add);
        boolean isSeen = PidNamespace.isFirst();
        if (holders.isEmpty()
                && !(isSeen && listed.map(ProcLocks.Listing::isComplete).orElse(false))) {
            String where = listed.isEmpty() || isSeen ? "" : " in another PID namespace";
            name.file()
                    .modeElsewhere()
                    .map(mode -> unlisted(mode, view.last(), where))
                    .ifPresent(holders::add);
        }
        return holders;
    }

    /** Returns one holder that stands for all: no more is known of them. */
    private static Holder unlisted(LockMode mode, FileRecord.Entry last, String where) {
        return mode == LockMode.EXCLUSIVE
                ? holder(mode, OptionalLong.of(last.fencingToken()), "pid " + last.pid() + where)
                : holder(mode, OptionalLong.empty(), "a process" + where);
    }

    private static Holder holder(ProcLocks.Holding holding, FileRecord.Entry last) {
        boolean isLast = holding.mode() == LockMode.EXCLUSIVE && holding.pid() == last.pid();
        return holder(
                holding.mode(),
                isLast ? OptionalLong.of(last.fencingToken()) : OptionalLong.empty(),
                "pid " + holding.pid());
    }

    private static Holder holder(LockMode mode, OptionalLong fencingToken, String description) {
        return new Holder(mode, fencingToken, Optional.empty(), Optional.of(description));
    }
}
