package dev.latchkey.chaos;

import dev.latchkey.chaos.FaultKind.Lane;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

/** Draws the faults of a trial. The same seed, length and backing give the same faults. */
final class Faults {

    private static final int SHORTEST_GAP = 200;
    private static final int LONGEST_GAP = 2_500;
    private static final int SHORTEST = 50;
    private static final int LONG = 800;
    private static final int LONGEST = 3_500;
    private static final int SLOWEST = 200;

    private Faults() {}

    /**
     * Draws.
     *
     * @param seed of the trial
     * @param lane which faults
     * @param kinds those that the backing knows
     * @param places of processes
     * @param servers of the backing
     * @param length of the trial
     * @param weather when none may strike
     * @return in their order
     */
    static List<Fault> draw(
            long seed,
            Lane lane,
            Set<FaultKind> kinds,
            int places,
            int servers,
            Duration length,
            FaultSchedule weather) {
        SplittableRandom random = new SplittableRandom(seed ^ lane.name().hashCode());
        List<FaultKind> known =
                kinds.stream().filter(kind -> kind.lane() == lane).sorted().toList();
        List<Fault> drawn = new ArrayList<>();
        if (known.isEmpty()) {
            return drawn;
        }
        long at = gap(random);
        while (true) {
            FaultKind kind = kind(known, random);
            boolean everywhere = lane == Lane.BACKEND && random.nextInt(3) == 0;
            int place = random.nextInt(places);
            int server = servers == 0 ? 0 : random.nextInt(servers);
            // Most end within a lease, some outlast every one.
            int millis = kind.lasting(random.nextInt(SHORTEST, random.nextInt(3) == 0 ? LONGEST : LONG));
            at = weather.earliest(at, millis);
            if (at >= length.toMillis()) {
                return drawn;
            }
            drawn.add(new Fault(at, kind, everywhere ? Fault.EVERYWHERE : place, server, millis, millis % SLOWEST));
            at += millis + gap(random);
        }
    }

    private static int gap(SplittableRandom random) {
        return random.nextInt(SHORTEST_GAP, LONGEST_GAP);
    }

    private static FaultKind kind(List<FaultKind> known, SplittableRandom random) {
        int left = random.nextInt(known.stream().mapToInt(FaultKind::weight).sum());
        for (FaultKind kind : known) {
            left -= kind.weight();
            if (left < 0) {
                return kind;
            }
        }
        throw new AssertionError("the weights do not add up");
    }
}
