package dev.latchkey.chaos;

import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * What the threads of a {@link Worker} do with locks, in numbers: all else is the same for {@code ./chaos} and {@code ./stress}.
 *
 * @param name of it
 * @param crowd who there is
 * @param leases for how long
 * @param chances of what is done now and then
 * @param waits for a hold
 * @param changeWaits of a promotion, for other readers: some leases end meanwhile
 */
record Workload(String name, Crowd crowd, Leases leases, Chances chances, Waits waits, Waits changeWaits) {

    /** Leases of seconds, waits that end only with a hold, and locks for which mostly nobody waits: there are quiet times to judge. */
    static final Workload CHAOS = new Workload(
            "CHAOS",
            new Crowd(12, 12),
            new Leases(500, 3_000, 60, 250, 40, 15, 15),
            new Chances(20, 3, 8, Chances.NEVER, 3, 4, Chances.NEVER, 50, Chances.NEVER),
            new Waits(Chances.NEVER, 60_000, 60_000),
            new Waits(2, 1_000, 1_000));

    /** As much as can be done in little time: short leases, short waits and none, interrupts, keys that are forgotten. */
    static final Workload STRESS = new Workload(
            "STRESS",
            new Crowd(4, 5),
            new Leases(100, 600, 60, 150, 30, 4, 400),
            new Chances(30, 8, 10, 10, 3, 20, 2, Chances.NEVER, Chances.NEVER),
            new Waits(4, 20, 3_000),
            new Waits(4, 20, 3_000));

    /** {@link #CHAOS} with sticky locks among the others, but for those whose order is judged. */
    static final Workload STICKY_CHAOS = CHAOS.withSticky("STICKY_CHAOS");

    /** {@link #STRESS} with sticky locks among the others. */
    static final Workload STICKY_STRESS = STRESS.withSticky("STICKY_STRESS");

    private static final List<Workload> ALL = List.of(CHAOS, STRESS, STICKY_CHAOS, STICKY_STRESS);

    /** What the names of all resources begin with. */
    static final String RESOURCE = "account-";

    /** The longest TTL of any hold. */
    static final Duration LONGEST_TTL = Duration.ofSeconds(3);

    /** The longest TTL of what is held until its lease is about to be over. */
    static final Duration SHORT_LEASE = Duration.ofMillis(250);

    /** Longer than any {@link Guarantees#patience()}, so that the judge and not this ends a wait that is too long. */
    static final Duration LONGEST_WAIT = Duration.ofSeconds(60);

    /** Each of these resources is sought by two threads of each process of chaos. */
    private static final int CROWDED = 4;
    /** Each of these is sought by one thread of two processes: mostly nobody waits, as for most locks of most programs. */
    private static final int LONELY = 8;

    /** How many threads a process has, and how many resources there are. */
    record Crowd(int actors, int resources) {}

    /**
     * In milliseconds.
     *
     * @param shortest TTL
     * @param longest TTL
     * @param shortestLingering TTL of what is held until its lease is about to be over, or is over: that is where a rival gets in
     * @param longestLingering TTL of those
     * @param aroundTheEnd how near to the end of the lease
     * @param longestStep from one use to the next, mostly
     * @param longestStop the same, now and then
     */
    record Leases(
            int shortest,
            int longest,
            int shortestLingering,
            int longestLingering,
            int aroundTheEnd,
            int longestStep,
            int longestStop) {}

    /** Of so many one does not wait; the others wait for so many milliseconds. */
    record Waits(int none, int shortest, int longest) {

        Duration draw(SplittableRandom random) {
            boolean isNone = random.nextInt(none) == 0;
            return isNone ? Duration.ZERO : Duration.ofMillis(random.nextInt(shortest, longest + 1));
        }
    }

    /**
     * Where an actor has its place.
     *
     * @param resources those it seeks
     * @param longestPause from one hold to the next
     * @param isPlain whether it does nothing but hold: the order and the handoff of some locks are judged with such holds only
     */
    record Seat(List<String> resources, Duration longestPause, boolean isPlain) {}

    static Workload named(String name) {
        return ALL.stream()
                .filter(workload -> workload.name.equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(name));
    }

    private Workload withSticky(String newName) {
        return new Workload(newName, crowd, leases, chances.withSticky(2), waits, changeWaits);
    }

    private boolean isStress() {
        return crowd.equals(STRESS.crowd);
    }

    int actors() {
        return crowd.actors();
    }

    /** The names of all resources. */
    List<String> resources() {
        return IntStream.range(0, crowd.resources())
                .mapToObj(number -> RESOURCE + number)
                .toList();
    }

    /** How long a hold may last, when nobody is there any more, whatever the store adds to its lease. */
    Duration longestRemains() {
        return isStress() ? Duration.ofMillis(5L * leases.longest()) : LONGEST_TTL.plusSeconds(10);
    }

    /** Whether threads are interrupted at any time. */
    boolean isInterrupted() {
        return isStress();
    }

    /** Where an actor of a process has its place. */
    Seat seat(String process, int number) {
        if (isStress()) {
            return new Seat(resources(), Duration.ZERO, false);
        }
        boolean isCrowded = number < 2 * CROWDED;
        int resource = isCrowded ? number % CROWDED : CROWDED + lonely(process, number - 2 * CROWDED);
        Duration pause = isCrowded ? Duration.ofMillis(30) : Duration.ofMillis(200);
        return new Seat(List.of(RESOURCE + resource), pause, resource % 2 == 0);
    }

    /** Every other process seeks the same ones. */
    private static int lonely(String process, int number) {
        int half = LONELY / 2;
        return number + half * (WorkerSlot.number(process) % 2);
    }

    boolean isShared(SplittableRandom random) {
        return random.nextInt(100) < chances.percentShared();
    }

    boolean lingers(SplittableRandom random) {
        return random.nextInt(chances.lingers()) == 0;
    }

    /** Whether the factory renews it. */
    boolean isRenewed(SplittableRandom random, boolean lingers) {
        return random.nextInt(lingers ? chances.renewedLingering() : chances.renewed()) == 0;
    }

    /** Whether it is promoted or demoted, where it is the habit to. */
    boolean changes(SplittableRandom random) {
        return random.nextInt(chances.changes()) == 0;
    }

    /** Whether its key is given away, where it is the habit to. */
    boolean transfers(SplittableRandom random) {
        return random.nextInt(chances.transfers()) == 0;
    }

    /** Whether nobody gets the key that is given away, as of a program that is careless. */
    boolean forgets(SplittableRandom random) {
        return random.nextInt(chances.forgotten()) == 0;
    }

    /** Whether it opens a factory of its own, as a program does that opens what it needs each time. */
    boolean reconnects(SplittableRandom random) {
        return random.nextInt(chances.reconnects()) == 0;
    }

    /** Whether its process keeps it after its release, until others ask. */
    boolean isSticky(SplittableRandom random) {
        return random.nextInt(chances.sticky()) == 0;
    }

    /** For how long it is kept, as long as a short lease: some of it is over by itself. */
    Duration kept(SplittableRandom random) {
        return Duration.ofMillis(random.nextInt(leases.shortest() / 2, leases.shortest()));
    }

    Duration ttl(SplittableRandom random) {
        return Duration.ofMillis(random.nextInt(leases.shortest(), leases.longest()));
    }

    Duration lingeringTtl(SplittableRandom random) {
        return Duration.ofMillis(random.nextInt(leases.shortestLingering(), leases.longestLingering()));
    }

    /** How far from the end of its lease a hold is given up or renewed; negative before it. */
    long nanosAfterTheEnd(SplittableRandom random) {
        return random.nextLong(-leases.aroundTheEnd() * 1_000_000L, leases.aroundTheEnd() * 1_000_000L);
    }

    long stepNanos(SplittableRandom random) {
        int millis = random.nextInt(20) == 0 ? leases.longestStop() : leases.longestStep();
        return random.nextLong(millis * 1_000_000L);
    }

    /** How long to wait for a hold; zero for not at all. */
    Duration maxWait(SplittableRandom random) {
        return waits.draw(random);
    }

    /** How long a promotion waits for other readers: some leases end meanwhile. */
    Duration maxWaitForChange(SplittableRandom random) {
        return changeWaits.draw(random);
    }
}
