package dev.latchkey.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Contenders that take turns, so that whatever else the machine does happens to all of them; the median of the turns counts.
 * Each has JVMs of its own, since contenders in one JVM would share its compiled code, its collector and its mishaps.
 */
final class Race {

    private final Contest contest;
    private final Effort effort;

    Race(Contest contest, Effort effort) {
        this.contest = contest;
        this.effort = effort;
    }

    /** Measures those tables. */
    Figures run(List<Table> tables) {
        List<Figures.Measured> measured = tables.stream().map(this::run).toList();
        return new Figures(contest.store(), Setting.of(contest.libraries(), effort), measured);
    }

    private Figures.Measured run(Table table) {
        // To start and to compile is not what is measured, and goes faster with all of them.
        Placement.ALL_PROCESSORS.enter();
        Set<Long> others = Meter.children();
        List<Entry> entries = new ArrayList<>();
        try (IdlePolling polling = new IdlePolling(table.placement());
                MachineSpeed machineSpeed = new MachineSpeed();
                Servers servers = contest.start(table)) {
            Meter meter = new Meter(servers, others);
            for (Contender contender : table.contenders()) {
                Entry entry = new Entry(contender, effort);
                entries.add(entry);
                entry.start(contest, table, servers.address());
            }
            table.placement().enter();
            Placement.pinThisProcess();
            for (int i = 0; i < effort.mostWarmUpTurns() && !entries.stream().allMatch(Entry::isWarm); i++) {
                entries.forEach(entry -> entry.warmUp(meter, machineSpeed));
            }
            String placement = table.placement().title() + (polling.isOn() ? "; idle ones poll" : "");
            Figures.Measured measured;
            int tries = 0;
            do {
                entries.forEach(Entry::discardTurns);
                for (int i = 0; i < effort.turns(); i++) {
                    entries.forEach(entry -> entry.turn(meter, machineSpeed));
                }
                measured = measured(table, placement, servers, entries);
                tell(measured.unsteady());
            } while (!measured.unsteady().isEmpty() && ++tries < effort.tries());
            return measured;
        } finally {
            entries.forEach(Entry::close);
        }
    }

    private static Figures.Measured measured(Table table, String placement, Servers servers, List<Entry> entries) {
        return new Figures.Measured(
                table.name(),
                table.title(),
                placement,
                servers.software(),
                table.processes(),
                table.threads(),
                table.stride(),
                entries.stream().map(Entry::row).toList());
    }

    private static void tell(List<String> unsteady) {
        if (!unsteady.isEmpty()) {
            System.err.println("benchmark: these still got faster: " + String.join("; ", unsteady));
        }
    }
}
