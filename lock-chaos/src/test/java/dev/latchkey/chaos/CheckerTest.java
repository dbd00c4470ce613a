package dev.latchkey.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.LockMode;
import dev.latchkey.chaos.EventLog.Change;
import dev.latchkey.chaos.Guarantees.Bound;
import dev.latchkey.chaos.Guarantees.Effect;
import dev.latchkey.chaos.Guarantees.Fencing;
import dev.latchkey.chaos.Guarantees.Order;
import dev.latchkey.chaos.Guarantees.Servers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Histories by hand, good and bad: each rule is refuted by what it is there for, and by nothing that is allowed. */
class CheckerTest {

    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final Duration HANDOFF = Duration.ofSeconds(1);
    private static final Guarantees LEASES = promise(Bound.LEASE, Fencing.TOKENS, Map.of());
    private static final Guarantees UNFENCED = promise(Bound.LEASE, Fencing.NONE, Map.of());
    private static final String R = "account-0";
    private static final long NONE = -1;

    @TempDir
    Path directory;

    private EventLog log;
    private int faults;

    private static Guarantees promise(Bound bound, Fencing fencing, Map<FaultKind, Effect> effects) {
        return new Guarantees(bound, fencing, effects, Servers.ONE, HANDOFF, Order.OF_ARRIVAL, PATIENCE, "");
    }

    @BeforeEach
    void open() {
        log = new EventLog(directory.resolve("events"));
    }

    @AfterEach
    void close() {
        log.close();
    }

    private static long nanos(long millis) {
        return millis * 1_000_000;
    }

    private static OptionalLong orNone(long number) {
        return number == NONE ? OptionalLong.empty() : OptionalLong.of(number);
    }

    private static OptionalLong time(long millis) {
        return millis == NONE ? OptionalLong.empty() : OptionalLong.of(nanos(millis));
    }

    /** The actor's only hold; times in milliseconds. */
    private void hold(String actor, LockMode mode, long token, long asked, long granted, long until) {
        log.asked(actor, R, mode, nanos(asked), Workload.LONGEST_WAIT);
        log.granted(actor, actor + "#0", orNone(token), nanos(granted), time(until));
    }

    private void exclusive(String actor, long token, long asked, long granted, long until) {
        hold(actor, LockMode.EXCLUSIVE, token, asked, granted, until);
    }

    private void shared(String actor, long asked, long granted, long until) {
        hold(actor, LockMode.SHARED, NONE, asked, granted, until);
    }

    private void ended(String actor, long at) {
        log.ended(actor + "#0", nanos(at));
    }

    private void read(String actor, long token, long at, long found) {
        access(Register.READ, actor, token, at, Register.ACCEPTED, 0, found);
    }

    private void write(String actor, long token, long at, long base, long found) {
        access(Register.WRITE, actor, token, at, Register.ACCEPTED, base, found);
    }

    private void access(String verb, String actor, long token, long at, String answer, long base, long found) {
        log.access(nanos(at), verb, R, actor + "#0", orNone(token), answer, base, found);
    }

    private void fault(FaultKind kind, String target, long at, long over, long healed) {
        log.struck(++faults, kind, target, nanos(at));
        log.over(faults, nanos(over));
        log.healed(faults, nanos(healed));
    }

    private Verdict judge(Guarantees promise) throws IOException {
        return Checker.judge(promise, History.of(Files.readAllLines(directory.resolve("events"))));
    }

    /** That these and no other rules are refuted. That a history is long enough is another matter. */
    private void assertRefuted(Guarantees promise, Rule... rules) throws IOException {
        Verdict verdict = judge(promise);
        assertThat(Arrays.stream(Rule.values())
                        .filter(rule -> rule != Rule.SUBSTANCE)
                        .filter(rule -> !verdict.offences(rule).isEmpty()))
                .containsExactlyInAnyOrder(rules);
    }

    @Test
    void givenOneHoldAfterTheOther_whenJudged_thenAllIsProven() throws Exception {
        for (long i = 0; i < 20; i++) {
            String actor = "w0-" + i + ".0";
            exclusive(actor, 100 + i, 10 * i, 10 * i + 1, 10 * i + 500);
            read(actor, 100 + i, 10 * i + 2, i);
            write(actor, 100 + i, 10 * i + 3, i, i);
            ended(actor, 10 * i + 4);
        }
        fault(FaultKind.CUT, "w0", 7, 8, 9);

        assertThat(judge(LEASES).isProven()).isTrue();
    }

    @Test
    void givenAnEmptyHistory_whenJudged_thenItProvesNothing() throws Exception {
        assertThat(judge(LEASES).isProven()).isFalse();
        assertThat(judge(LEASES).offences(Rule.SUBSTANCE)).isNotEmpty();
    }

    @Test
    void givenTwoWithinTheirLeases_whenJudged_thenNoExclusion() throws Exception {
        exclusive("w0-0.0", 1, 0, 10, 100);
        exclusive("w1-0.0", 2, 20, 99, 200);

        assertRefuted(LEASES, Rule.EXCLUSION);
    }

    @Test
    void givenANewLeaseAfterTheOther_whenJudged_thenExclusion() throws Exception {
        exclusive("w0-0.0", 1, 0, 10, 100);
        exclusive("w1-0.0", 2, 20, 100, 200);

        assertRefuted(LEASES);
    }

    @Test
    void givenARefreshedLease_whenAnotherIsGrantedInIt_thenNoExclusion() throws Exception {
        exclusive("w0-0.0", 1, 0, 10, 100);
        log.kept("w0-0.0#0", nanos(50), nanos(51), time(150));
        exclusive("w1-0.0", 2, 20, 120, 200);

        assertRefuted(LEASES, Rule.EXCLUSION);
    }

    @Test
    void givenALostLease_whenAnotherIsGrantedAfterItWasTold_thenExclusion() throws Exception {
        exclusive("w0-0.0", 1, 0, 10, 100);
        fault(FaultKind.CUT, "w0", 40, 41, 42);
        log.lost("w0-0.0#0", nanos(50));
        exclusive("w1-0.0", 2, 20, 60, 200);

        assertRefuted(LEASES);
    }

    @Test
    void givenReaders_whenTheyHoldTogether_thenExclusion() throws Exception {
        shared("w0-0.0", 0, 10, 100);
        shared("w1-0.0", 0, 10, 100);

        assertRefuted(LEASES);
    }

    @Test
    void givenAReader_whenAWriterHoldsToo_thenNoExclusion() throws Exception {
        shared("w0-0.0", 0, 10, 100);
        exclusive("w1-0.0", 1, 0, 50, 100);

        assertRefuted(LEASES, Rule.EXCLUSION);
    }

    @Test
    void givenAHolderWhoAnswersLate_whenItsLeaseWasOverByThen_thenItMisledNobody() throws Exception {
        exclusive("w0-0.0", 1, 0, 150, 100);
        exclusive("w1-0.0", 2, 20, 120, 200);

        assertRefuted(LEASES);
    }

    @Test
    void givenAKilledHolder_whenAnotherIsGrantedInItsLease_thenNoExclusion() throws Exception {
        exclusive("w0-0.0", 1, 0, 10, 100);
        fault(FaultKind.CRASH, "w0-0", 30, 31, 40);
        exclusive("w1-0.0", 2, 20, 50, 200);

        assertRefuted(LEASES, Rule.EXCLUSION);
    }

    @Test
    void givenNoLeases_whenTheHolderIsKilled_thenItHoldsNoMore() throws Exception {
        exclusive("w0-0.0", 1, 0, 10, NONE);
        fault(FaultKind.CRASH, "w0-0", 30, 31, 40);
        exclusive("w1-0.0", 2, 20, 50, NONE);
        ended("w1-0.0", 60);

        assertRefuted(promise(Bound.PROCESS, Fencing.TOKENS, Map.of()));
    }

    @Test
    void givenNoLeases_whenTheHolderIsOnlyFrozen_thenItHolds() throws Exception {
        exclusive("w0-0.0", 1, 0, 10, NONE);
        fault(FaultKind.FREEZE, "w0-0", 30, 90, 90);
        exclusive("w1-0.0", 2, 20, 50, NONE);

        assertRefuted(promise(Bound.PROCESS, Fencing.TOKENS, Map.of()), Rule.EXCLUSION);
    }

    @Test
    void givenASession_whenTheHolderHasFoundItAliveAfterTheNextGrant_thenNoExclusion() throws Exception {
        exclusive("w0-0.0", 1, 0, 10, NONE);
        log.kept("w0-0.0#0", nanos(60), nanos(60), time(NONE));
        exclusive("w1-0.0", 2, 20, 50, NONE);
        ended("w1-0.0", 70);

        assertRefuted(promise(Bound.SESSION, Fencing.TOKENS, Map.of()), Rule.EXCLUSION);
    }

    @Test
    void givenASession_whenTheHolderWasLastSeenBeforeTheNextGrant_thenExclusion() throws Exception {
        exclusive("w0-0.0", 1, 0, 10, NONE);
        log.kept("w0-0.0#0", nanos(40), nanos(40), time(NONE));
        exclusive("w1-0.0", 2, 20, 50, NONE);
        ended("w1-0.0", 70);

        assertRefuted(promise(Bound.SESSION, Fencing.TOKENS, Map.of()));
    }

    @Test
    void givenAServerThatForgot_whenAnotherIsGranted_thenOnlyThePromiseDecides() throws Exception {
        exclusive("w0-0.0", 1, 0, 10, 100);
        fault(FaultKind.FORGET, History.ALL, 30, 31, 40);
        exclusive("w1-0.0", 2, 41, 50, 200);

        assertRefuted(promise(Bound.LEASE, Fencing.TOKENS, Map.of(FaultKind.FORGET, Effect.ENDS_HOLDS)));
        assertRefuted(LEASES, Rule.EXCLUSION);
    }

    @Test
    void givenAServerThatForgot_whenAGrantFromBeforeIsHeardOfLate_thenItIsNotJudged() throws Exception {
        exclusive("w0-0.0", 1, 20, 60, 100);
        fault(FaultKind.FORGET, History.ALL, 30, 31, 40);
        exclusive("w1-0.0", 2, 41, 50, 200);

        assertRefuted(promise(Bound.LEASE, Fencing.TOKENS, Map.of(FaultKind.FORGET, Effect.ENDS_HOLDS)));
    }

    @Test
    void givenAServerThatForgot_whenTwoAreGrantedAfterwards_thenNoExclusion() throws Exception {
        fault(FaultKind.FORGET, History.ALL, 30, 31, 40);
        exclusive("w0-0.0", 1, 41, 60, 100);
        exclusive("w1-0.0", 2, 41, 70, 200);

        assertRefuted(
                promise(Bound.LEASE, Fencing.TOKENS, Map.of(FaultKind.FORGET, Effect.ENDS_HOLDS)), Rule.EXCLUSION);
    }

    @Test
    void givenACutNetwork_whenItEndsHolds_thenOnlyThoseOfItsPlace() throws Exception {
        Guarantees promise = promise(Bound.LEASE, Fencing.TOKENS, Map.of(FaultKind.CUT, Effect.ENDS_HOLDS));
        exclusive("w0-0.0", 1, 0, 10, 100);
        fault(FaultKind.CUT, "w1", 30, 31, 31);
        exclusive("w1-0.0", 2, 41, 50, 200);

        assertRefuted(promise, Rule.EXCLUSION);
    }

    @Test
    void givenASpoiltCall_whenItIsARefresh_thenTheHoldIsJudgedUntilThen() throws Exception {
        Guarantees promise = promise(Bound.LEASE, Fencing.TOKENS, Map.of(FaultKind.PAUSE, Effect.SPOILS_CALLS));
        exclusive("w0-0.0", 1, 0, 10, 100);
        log.kept("w0-0.0#0", nanos(35), nanos(50), time(150));
        fault(FaultKind.PAUSE, History.ALL, 30, 40, 40);
        exclusive("w1-0.0", 2, 41, 90, 200);

        assertRefuted(promise);
    }

    @Test
    void givenAPause_whenNothingWasAskedInIt_thenTheHoldIsJudged() throws Exception {
        Guarantees promise = promise(Bound.LEASE, Fencing.TOKENS, Map.of(FaultKind.PAUSE, Effect.SPOILS_CALLS));
        exclusive("w0-0.0", 1, 0, 10, 100);
        fault(FaultKind.PAUSE, History.ALL, 30, 40, 40);
        exclusive("w1-0.0", 2, 41, 90, 200);

        assertRefuted(promise, Rule.EXCLUSION);
    }

    @Test
    void givenTheSameTokenTwice_whenJudged_thenNoFencing() throws Exception {
        exclusive("w0-0.0", 7, 0, 10, 20);
        exclusive("w1-0.0", 7, 5, 30, 40);

        assertRefuted(LEASES, Rule.TOKENS);
    }

    @Test
    void givenASmallerTokenForWhoAskedAfterAGrant_whenJudged_thenNoFencing() throws Exception {
        // Neither relied on its hold, but a write may come late from both.
        exclusive("w0-0.0", 7, 0, 10, 5);
        exclusive("w1-0.0", 6, 11, 30, 20);

        assertRefuted(LEASES, Rule.TOKENS);
    }

    @Test
    void givenASmallerTokenForTheNextHolder_whenItHadAskedBefore_thenNoFencing() throws Exception {
        exclusive("w0-0.0", 7, 0, 10, 20);
        exclusive("w1-0.0", 6, 5, 30, 40);

        assertRefuted(LEASES, Rule.TOKENS);
    }

    @Test
    void givenAnEarlierGrantThatIsHeardOfLater_whenItIsOver_thenItsSmallerTokenIsRight() throws Exception {
        exclusive("w0-0.0", 7, 5, 30, 40);
        exclusive("w1-0.0", 6, 0, 35, 25);

        assertRefuted(LEASES);
    }

    @Test
    void givenNoToken_whenOneIsPromised_thenNoFencing() throws Exception {
        exclusive("w0-0.0", NONE, 0, 10, 20);

        assertRefuted(LEASES, Rule.TOKENS);
    }

    @Test
    void givenAToken_whenNoneIsPromised_thenItIsNotSound() throws Exception {
        exclusive("w0-0.0", 1, 0, 10, 20);

        assertRefuted(UNFENCED, Rule.TOKENS);
    }

    @Test
    void givenNoPromiseOfTokens_whenJudged_thenNothingIsSaidToBeProvenOfThem() throws Exception {
        exclusive("w0-0.0", NONE, 0, 10, 20);

        assertThat(judge(UNFENCED).on(Rule.TOKENS)).isEqualTo("no promise");
        assertThat(judge(UNFENCED).on(Rule.WRITES)).isEqualTo("no promise");
        assertThat(judge(UNFENCED).on(Rule.EXCLUSION)).isEqualTo("proven");
    }

    @Test
    void givenAWriteOfTheHolder_whenItIsRefused_thenSomebodyElseHasCome() throws Exception {
        exclusive("w0-0.0", 1, 0, 10, 20);
        access(Register.WRITE, "w0-0.0", 1, 15, Register.REFUSED, 0, 0);

        assertRefuted(LEASES, Rule.WRITES);
    }

    @Test
    void givenALateWrite_whenItIsRefused_thenAllIsWell() throws Exception {
        exclusive("w0-0.0", 1, 0, 10, 20);
        exclusive("w1-0.0", 2, 21, 25, 50);
        read("w1-0.0", 2, 26, 0);
        access(Register.WRITE, "w0-0.0", 1, 27, Register.REFUSED, 0, 0);

        assertRefuted(LEASES);
    }

    @Test
    void givenALateWrite_whenItIsAcceptedAfterTheNextHolder_thenWritesAreOutOfOrder() throws Exception {
        exclusive("w0-0.0", 1, 0, 10, 20);
        exclusive("w1-0.0", 2, 21, 25, 50);
        read("w1-0.0", 2, 26, 0);
        write("w0-0.0", 1, 27, 0, 0);

        assertRefuted(LEASES, Rule.WRITES);
    }

    @Test
    void givenALateWrite_whenItIsAcceptedBeforeAnybodyElseCame_thenAllIsWell() throws Exception {
        exclusive("w0-0.0", 1, 0, 10, 20);
        read("w0-0.0", 1, 11, 0);
        exclusive("w1-0.0", 2, 21, 25, 50);
        write("w0-0.0", 1, 27, 0, 0);
        read("w1-0.0", 2, 28, 1);

        assertRefuted(LEASES);
    }

    @Test
    void givenAWriteWithAnotherToken_whenJudged_thenItIsOfNoHold() throws Exception {
        exclusive("w0-0.0", 1, 0, 10, 20);
        write("w0-0.0", 2, 15, 0, 0);

        assertRefuted(LEASES, Rule.WRITES);
    }

    @Test
    void givenAWriteOverAnother_whenThereAreTokens_thenAnUpdateIsLost() throws Exception {
        exclusive("w0-0.0", 1, 0, 10, 20);
        write("w0-0.0", 1, 15, 4, 5);

        assertRefuted(LEASES, Rule.UPDATES);
    }

    @Test
    void givenNoTokens_whenALateWriteSpoilsTheNext_thenNothingIsPromised() throws Exception {
        exclusive("w0-0.0", NONE, 0, 10, 20);
        read("w0-0.0", NONE, 11, 0);
        exclusive("w1-0.0", NONE, 21, 25, 50);
        read("w1-0.0", NONE, 26, 0);
        write("w0-0.0", NONE, 27, 0, 0);
        write("w1-0.0", NONE, 28, 0, 1);

        assertRefuted(UNFENCED);
    }

    @Test
    void givenNoTokens_whenTwoUpdateWithinTheirLeases_thenAnUpdateIsLost() throws Exception {
        exclusive("w0-0.0", NONE, 0, 10, 50);
        exclusive("w1-0.0", NONE, 21, 25, 50);
        read("w0-0.0", NONE, 26, 0);
        read("w1-0.0", NONE, 26, 0);
        write("w0-0.0", NONE, 27, 0, 0);
        write("w1-0.0", NONE, 28, 0, 1);

        assertRefuted(UNFENCED, Rule.EXCLUSION, Rule.UPDATES);
    }

    @Test
    void givenALongWait_whenNothingKeptItUp_thenStarvation() throws Exception {
        exclusive("w0-0.0", 1, 0, 10_001, 20_000);

        assertRefuted(LEASES, Rule.WAITS, Rule.HANDOFF);
    }

    @Test
    void givenALongWait_whenTheProcessWasFrozenAndTheServerAway_thenThatDoesNotCount() throws Exception {
        fault(FaultKind.FREEZE, "w0-0", 1_000, 3_000, 3_000);
        fault(FaultKind.RESTART, History.ALL, 2_000, 2_001, 5_000);
        exclusive("w0-0.0", 1, 0, 14_000, 20_000);

        assertRefuted(LEASES);
    }

    @Test
    void givenOutagesAtTheSameTime_whenJudged_thenTheyCountOnce() throws Exception {
        fault(FaultKind.FREEZE, "w0-0", 1_000, 3_000, 3_000);
        fault(FaultKind.RESTART, History.ALL, 1_000, 1_001, 3_000);
        exclusive("w0-0.0", 1, 0, 12_001, 20_000);

        assertRefuted(LEASES, Rule.WAITS);
    }

    @Test
    void givenALongWait_whenOneOfSeveralServersWasAway_thenStarvation() throws Exception {
        Guarantees quorum = new Guarantees(
                Bound.LEASE, Fencing.TOKENS, Map.of(), Servers.QUORUM, HANDOFF, Order.NONE, PATIENCE, "");
        fault(FaultKind.RESTART, History.ALL, 2_000, 2_001, 5_000);
        exclusive("w0-0.0", 1, 0, 11_000, 20_000);

        assertRefuted(quorum, Rule.WAITS);
    }

    @Test
    void givenARefusedWait_whenItWasLongerThanTheBound_thenStarvation() throws Exception {
        log.asked("w0-0.0", R, LockMode.EXCLUSIVE, 0, Workload.LONGEST_WAIT);
        log.refused("w0-0.0", nanos(Workload.LONGEST_WAIT.toMillis()));

        assertRefuted(LEASES, Rule.WAITS);
    }

    @Test
    void givenAWaitThatEndedWithTheProcess_whenJudged_thenAllIsWell() throws Exception {
        log.asked("w0-0.0", R, LockMode.EXCLUSIVE, 0, Workload.LONGEST_WAIT);
        fault(FaultKind.CRASH, "w0-0", 1_000, 1_001, 2_000);
        log.asked("w1-0.0", R, LockMode.EXCLUSIVE, nanos(1_500), Workload.LONGEST_WAIT);
        log.failed("w1-0.0", nanos(1_501), "LockStorageException");

        assertRefuted(LEASES);
    }

    @Test
    void givenAWaitWithoutEnd_whenJudged_thenSomebodyHangs() throws Exception {
        log.asked("w0-0.0", R, LockMode.EXCLUSIVE, 0, Workload.LONGEST_WAIT);

        assertRefuted(LEASES, Rule.CONDUCT);
    }

    @Test
    void givenSomethingLeftOrUnexpected_whenJudged_thenItIsSaid() throws Exception {
        log.violated(Rule.LEFTOVERS, "a key\nwithout a TTL");
        log.violated(Rule.CONDUCT, "an exception");

        assertRefuted(LEASES, Rule.LEFTOVERS, Rule.CONDUCT);
        assertThat(judge(LEASES).offences(Rule.LEFTOVERS)).isEqualTo(List.of("a key without a TTL"));
    }

    private void released(String actor, long ended, long answered, boolean wasHeld) {
        ended(actor, ended);
        log.released(actor + "#0", nanos(answered), wasHeld);
    }

    private void failed(String actor, long asked, long at) {
        log.asked(actor, R, LockMode.EXCLUSIVE, nanos(asked), Workload.LONGEST_WAIT);
        log.failed(actor, nanos(at), "LockStorageException");
    }

    @Test
    void givenAFreeLock_whenAWaiterGetsItLate_thenTheHandOverWasDropped() throws Exception {
        exclusive("w0-0.0", 1, 0, 10, 5_000);
        released("w0-0.0", 20, 30, true);
        exclusive("w1-0.0", 2, 15, 1_100, 5_000);

        assertRefuted(LEASES, Rule.HANDOFF);
    }

    @Test
    void givenALeaseThatIsOver_whenAWaiterGetsItLate_thenSomethingHeldItForNobody() throws Exception {
        exclusive("w0-0.0", 1, 0, 10, 100);
        exclusive("w1-0.0", 2, 15, 1_200, 5_000);

        assertRefuted(LEASES, Rule.HANDOFF);
    }

    @Test
    void givenALateHandOver_whenAFaultOrAStallWasNear_thenNothingIsSaidOfIt() throws Exception {
        exclusive("w0-0.0", 1, 0, 10, 5_000);
        released("w0-0.0", 20, 30, true);
        log.stalled("w1-0", nanos(500), nanos(650));
        exclusive("w1-0.0", 2, 15, 1_100, 5_000);
        released("w1-0.0", 1_110, 1_120, true);
        fault(FaultKind.CUT, "w3", 1_115, 1_116, 1_117);
        exclusive("w2-0.0", 3, 1_100, 4_000, 9_000);

        assertRefuted(LEASES);
    }

    @Test
    void givenAStall_whenItWasQuietForLongerThanTheBoundAfterIt_thenItIsNoExcuse() throws Exception {
        exclusive("w0-0.0", 1, 0, 10, 5_000);
        released("w0-0.0", 20, 30, true);
        log.stalled("w1-0", nanos(500), nanos(650));
        exclusive("w1-0.0", 2, 15, 1_900, 5_000);

        assertRefuted(LEASES, Rule.HANDOFF);
    }

    @Test
    void givenALateHandOver_whenAShortLeaseWasOverBeforeItsWaiterHeardOfIt_thenItMayHaveBeenHeld() throws Exception {
        exclusive("w0-0.0", 1, 0, 10, 100);
        log.asked("w2-0.0", R, LockMode.EXCLUSIVE, nanos(20), Workload.LONGEST_WAIT);
        log.late("w2-0.0", nanos(400));
        exclusive("w1-0.0", 2, 15, 1_200, 5_000);

        assertRefuted(LEASES);
    }

    @Test
    void givenALateHandOver_whenShortLeasesDoNotExplainIt_thenSomethingHeldItForNobody() throws Exception {
        exclusive("w0-0.0", 1, 0, 10, 100);
        log.asked("w2-0.0", R, LockMode.EXCLUSIVE, nanos(20), Workload.LONGEST_WAIT);
        log.late("w2-0.0", nanos(400));
        exclusive("w1-0.0", 2, 15, 1_700, 5_000);

        assertRefuted(LEASES, Rule.HANDOFF);
    }

    /** The machine is stalled again and again from 0 to 3 s; one lock is released at 30 ms and had at 3 s. */
    private void aLateHandOverWhileTheMachineStalls() {
        exclusive("w0-0.0", 1, 0, 10, 5_000);
        released("w0-0.0", 20, 30, true);
        exclusive("w1-0.0", 2, 15, 3_000, 5_000);
        released("w1-0.0", 3_001, 3_002, true);
        for (int at = 0; at < 3_000; at += 200) {
            log.stalled("machine", nanos(at), nanos(at + 150));
        }
    }

    /** Other locks, each of which goes from one to another meanwhile. */
    private void othersAreHandedOver(int count, int millis) {
        for (int i = 0; i < count; i++) {
            String resource = "account-other-" + i;
            other("w2-0." + i, resource, 1, 0, 10);
            released("w2-0." + i, 999, 1_000, true);
            other("w3-0." + i, resource, 2, 5, 1_000 + millis);
        }
    }

    private void other(String actor, String resource, long token, long asked, long granted) {
        log.asked(actor, resource, LockMode.EXCLUSIVE, nanos(asked), Workload.LONGEST_WAIT);
        log.granted(actor, actor + "#0", orNone(token), nanos(granted), time(granted + 5_000));
    }

    @Test
    void givenAMachineThatStalls_whenOneHandOverTakesManyTimesAsLongAsTheOthers_thenItIsRefuted() throws Exception {
        aLateHandOverWhileTheMachineStalls();
        othersAreHandedOver(60, 100);

        assertRefuted(LEASES, Rule.HANDOFF);
    }

    @Test
    void givenAMachineThatStalls_whenTheOthersAreSlowAsWell_thenNothingIsSaidOfIt() throws Exception {
        aLateHandOverWhileTheMachineStalls();
        othersAreHandedOver(60, 400);

        assertRefuted(LEASES);
    }

    @Test
    void givenAMachineThatStalls_whenTooFewOthersTellHowSlowItIs_thenNothingIsSaidOfIt() throws Exception {
        aLateHandOverWhileTheMachineStalls();
        othersAreHandedOver(10, 100);

        assertRefuted(LEASES);
    }

    @Test
    void givenAMachineThatStalls_whenShortLeasesMayHaveRunOutUnheardOf_thenNothingIsSaidOfIt() throws Exception {
        aLateHandOverWhileTheMachineStalls();
        othersAreHandedOver(60, 100);
        for (int i = 0; i < 4; i++) {
            int granted = 3_010 + 20 * i;
            exclusive("w4-0." + i, 3 + i, 2_000, granted, granted + 150);
            released("w4-0." + i, granted + 1, granted + 2, true);
        }

        assertRefuted(LEASES);
    }

    @Test
    void givenReaders_whenTheyFollowAReader_thenOnlyWritersFreeALockForThem() throws Exception {
        shared("w0-0.0", 0, 10, 5_000);
        shared("w1-0.0", 20, 30, 5_000);
        released("w0-0.0", 2_000, 2_001, true);
        shared("w2-0.0", 2_100, 2_110, 5_000);

        assertRefuted(LEASES);
    }

    @Test
    void givenAQueue_whenALaterWaiterIsServedFirst_thenOrderIsBroken() throws Exception {
        exclusive("w0-0.0", 1, 0, 10, 5_000);
        released("w0-0.0", 500, 501, true);
        exclusive("w2-0.0", 2, 300, 502, 5_000);
        released("w2-0.0", 700, 701, true);
        exclusive("w1-0.0", 3, 100, 702, 5_000);

        assertRefuted(LEASES, Rule.ORDER);
    }

    @Test
    void givenAQueue_whenTwoAskedInTheSameMoment_thenEitherMayBeFirst() throws Exception {
        exclusive("w0-0.0", 1, 0, 10, 5_000);
        released("w0-0.0", 500, 501, true);
        exclusive("w2-0.0", 2, 190, 502, 5_000);
        released("w2-0.0", 700, 701, true);
        exclusive("w1-0.0", 3, 100, 702, 5_000);

        assertRefuted(LEASES);
    }

    @Test
    void givenAFailure_whenNothingStruck_thenThereIsNoReasonForIt() throws Exception {
        failed("w0-0.0", 0, 20);

        assertRefuted(LEASES, Rule.REASONS);
    }

    @Test
    void givenAFailure_whenAFaultStruck_thenItIsTheReason() throws Exception {
        fault(FaultKind.REFUSE, "w0", 5, 6, 7);
        failed("w0-0.0", 0, 20);

        assertRefuted(LEASES);
    }

    @Test
    void givenALoss_whenItsLeaseWasNotOver_thenThereIsNoReasonForIt() throws Exception {
        exclusive("w0-0.0", 1, 0, 10, 5_000);
        log.lost("w0-0.0#0", nanos(50));

        assertRefuted(LEASES, Rule.REASONS);
    }

    @Test
    void givenAHold_whenItsReleaseDoesNotFindIt_thenSomebodyElseEndedIt() throws Exception {
        exclusive("w0-0.0", 1, 0, 10, 5_000);
        released("w0-0.0", 20, 30, false);

        assertRefuted(LEASES, Rule.REASONS);
    }

    @Test
    void givenAHoldOfAShortLease_whenItIsOvertaken_thenTheWaiterMayHaveComeAnew() throws Exception {
        exclusive("w0-0.0", 2, 0, 1_000, 1_240);
        exclusive("w1-0.0", 1, 500, 600, 700);

        assertRefuted(LEASES);
    }

    @Test
    void givenARelease_whenItIsAnsweredAfterTheLease_thenItMayHaveComeTooLate() throws Exception {
        exclusive("w0-0.0", 1, 0, 1, 100);
        ended("w0-0.0", 99);
        log.released("w0-0.0#0", nanos(102), false);

        assertRefuted(LEASES);
    }

    @Test
    void givenAShortLease_whenItIsOverAsItsHolderHearsOfIt_thenNothingHasFailed() throws Exception {
        log.asked("w0-0.0", R, LockMode.EXCLUSIVE, nanos(0), Workload.LONGEST_WAIT);
        log.late("w0-0.0", nanos(100));

        assertRefuted(LEASES);
    }

    @Test
    void givenAStall_whenALateHandOverBeginsBeforeItsBacklogIsDone_thenNothingIsSaidOfIt() throws Exception {
        log.stalled("machine", nanos(0), nanos(1_000));
        exclusive("w0-0.0", 1, 1_100, 1_101, 5_000);
        ended("w0-0.0", 1_200);
        log.released("w0-0.0#0", nanos(1_210), true);
        exclusive("w1-0.0", 2, 1_150, 3_000, 6_000);

        assertRefuted(LEASES);
    }

    /** The actor's only hold becomes another, its second. */
    private void changed(String actor, LockMode mode, long token, long asked, long at, long until) {
        String before = actor + "#0";
        log.changing(before, nanos(asked));
        if (mode == LockMode.SHARED) {
            log.ended(before, nanos(asked));
        }
        log.changed(new Change(before, actor + "#1", mode), orNone(token), nanos(asked), nanos(at), time(until));
    }

    private void demoted(String actor, long asked, long at, long until) {
        changed(actor, LockMode.SHARED, NONE, asked, at, until);
    }

    private void promoted(String actor, long token, long asked, long at, long until) {
        changed(actor, LockMode.EXCLUSIVE, token, asked, at, until);
    }

    @Test
    void givenADemotedHold_whenAReaderIsGranted_thenTheyShare() throws Exception {
        exclusive("w0-0.0", 1, 0, 10, 5_000);
        demoted("w0-0.0", 50, 60, 5_050);
        shared("w1-0.0", 20, 55, 5_000);

        assertRefuted(LEASES);
    }

    @Test
    void givenADemotedHold_whenAWriterIsGrantedInIt_thenNoExclusion() throws Exception {
        exclusive("w0-0.0", 1, 0, 10, 100);
        demoted("w0-0.0", 50, 60, 150);
        exclusive("w1-0.0", 2, 20, 120, 200);

        assertRefuted(LEASES, Rule.EXCLUSION);
    }

    @Test
    void givenAPromotedHold_whenItIsTheOnlyOne_thenItDoesNotExcludeItself() throws Exception {
        shared("w0-0.0", 0, 10, 100);
        promoted("w0-0.0", 1, 50, 60, 150);

        assertRefuted(LEASES);
    }

    @Test
    void givenAPromotedHold_whenAReaderReadsOn_thenNoExclusion() throws Exception {
        shared("w0-0.0", 0, 10, 100);
        shared("w1-0.0", 0, 10, 100);
        promoted("w0-0.0", 1, 50, 60, 150);

        assertRefuted(LEASES, Rule.EXCLUSION);
    }

    @Test
    void givenAPromotionThatIsAskedFor_whenItIsNotAnswered_thenItReadsOn() throws Exception {
        shared("w0-0.0", 0, 10, 100);
        log.changing("w0-0.0#0", nanos(50));
        exclusive("w1-0.0", 1, 20, 90, 200);

        assertRefuted(LEASES, Rule.EXCLUSION);
    }

    @Test
    void givenAPromotionThatWaited_whenAWriterWasGrantedMeanwhile_thenItDidNotReadOn() throws Exception {
        // Its lease was renewed meanwhile, of which the log knows nothing.
        shared("w0-0.0", 0, 10, 100);
        promoted("w0-0.0", 2, 50, 300, 5_000);
        exclusive("w1-0.0", 1, 20, 150, 200);

        assertRefuted(LEASES, Rule.EXCLUSION);
    }

    @Test
    void givenAPromotionThatWaited_whenReadersHeldMeanwhile_thenTheyShare() throws Exception {
        shared("w0-0.0", 0, 10, 100);
        shared("w1-0.0", 0, 10, 100);
        promoted("w0-0.0", 1, 50, 300, 5_000);
        shared("w2-0.0", 40, 120, 300);

        assertRefuted(LEASES);
    }

    @Test
    void givenAPromotionThatWaited_whenAReaderReadsOn_thenNoExclusion() throws Exception {
        shared("w0-0.0", 0, 10, 100);
        shared("w1-0.0", 0, 10, 301);
        promoted("w0-0.0", 1, 50, 300, 5_000);

        assertRefuted(LEASES, Rule.EXCLUSION);
    }

    @Test
    void givenAPromotionThatWaitedInVain_whenAWriterWasGrantedMeanwhile_thenItDidNotReadOn() throws Exception {
        shared("w0-0.0", 0, 10, 100);
        log.changing("w0-0.0#0", nanos(50));
        log.kept("w0-0.0#0", nanos(50), nanos(300), time(400));
        exclusive("w1-0.0", 1, 20, 150, 200);

        assertRefuted(LEASES, Rule.EXCLUSION);
    }

    @Test
    void givenAHoldThatIsLostWhileItWaitsToBePromoted_whenAWriterIsGrantedAfterIt_thenExclusion() throws Exception {
        shared("w0-0.0", 0, 10, 100);
        log.changing("w0-0.0#0", nanos(50));
        log.lost("w0-0.0#0", nanos(101));
        exclusive("w1-0.0", 1, 20, 102, 200);

        assertRefuted(LEASES);
    }

    @Test
    void givenAPromotionThatWaited_whenItsTokenIsOfAHoldBefore_thenNoFencing() throws Exception {
        exclusive("w1-0.0", 7, 0, 1, 5);
        shared("w0-0.0", 6, 10, 100);
        promoted("w0-0.0", 6, 50, 300, 5_000);

        assertRefuted(LEASES, Rule.TOKENS);
    }

    @Test
    void givenAPromotionThatWaited_whenItEndedALeaseAgoAtTheMost_thenNothingIsSaidOfOrderAndHandOver()
            throws Exception {
        shared("w0-0.0", 0, 10, 5_000);
        promoted("w0-0.0", 1, 50, 4_000, 9_000);
        log.ended("w0-0.0#1", nanos(4_500));
        log.released("w0-0.0#1", nanos(4_501), true);
        exclusive("w2-0.0", 2, 3_300, 5_800, 9_000);
        released("w2-0.0", 5_900, 5_901, true);
        exclusive("w1-0.0", 3, 3_100, 6_000, 9_000);

        assertRefuted(LEASES);
    }

    @Test
    void givenADemotionThatIsAskedFor_whenItIsNotAnswered_thenItIsBelievedNoMore() throws Exception {
        exclusive("w0-0.0", 1, 0, 10, 100);
        log.changing("w0-0.0#0", nanos(50));
        ended("w0-0.0", 50);
        shared("w1-0.0", 20, 60, 200);

        assertRefuted(LEASES);
    }

    @Test
    void givenAPromotedHold_whenItsTokenIsOfAHoldBefore_thenNoFencing() throws Exception {
        exclusive("w1-0.0", 7, 0, 1, 5);
        shared("w0-0.0", 6, 10, 100);
        promoted("w0-0.0", 7, 50, 60, 150);

        assertRefuted(LEASES, Rule.TOKENS);
    }

    @Test
    void givenAServerThatForgot_whenAHoldFromBeforeIsDemoted_thenItIsNotJudged() throws Exception {
        exclusive("w0-0.0", 1, 0, 10, 5_000);
        fault(FaultKind.FORGET, History.ALL, 30, 31, 40);
        demoted("w0-0.0", 50, 60, 5_050);
        exclusive("w1-0.0", 2, 41, 70, 200);

        assertRefuted(promise(Bound.LEASE, Fencing.TOKENS, Map.of(FaultKind.FORGET, Effect.ENDS_HOLDS)));
        assertRefuted(LEASES, Rule.EXCLUSION);
    }

    @Test
    void givenASpoiltCall_whenTheHoldIsPromotedLater_thenItIsJudgedUntilThen() throws Exception {
        Guarantees promise = promise(Bound.LEASE, Fencing.TOKENS, Map.of(FaultKind.PAUSE, Effect.SPOILS_CALLS));
        shared("w0-0.0", 0, 35, 5_000);
        fault(FaultKind.PAUSE, History.ALL, 30, 40, 40);
        promoted("w0-0.0", 1, 50, 60, 5_050);
        exclusive("w1-0.0", 2, 41, 90, 200);

        assertRefuted(promise);
    }

    @Test
    void givenASessionThatWasPromoted_whenItWasLastSeenBeforeTheNextGrant_thenExclusion() throws Exception {
        shared("w0-0.0", 0, 10, NONE);
        promoted("w0-0.0", 1, 20, 40, NONE);
        log.kept("w0-0.0#1", nanos(60), nanos(60), time(NONE));
        exclusive("w1-0.0", 2, 20, 61, NONE);
        ended("w1-0.0", 70);
        assertRefuted(promise(Bound.SESSION, Fencing.TOKENS, Map.of()));

        exclusive("w2-0.0", 3, 20, 59, NONE);
        ended("w2-0.0", 60);
        assertRefuted(promise(Bound.SESSION, Fencing.TOKENS, Map.of()), Rule.EXCLUSION, Rule.TOKENS);
    }

    @Test
    void givenAHoldThatChanged_whenItIsReleased_thenOnlyThenItIsFree() throws Exception {
        exclusive("w0-0.0", 1, 0, 10, 5_000);
        demoted("w0-0.0", 50, 60, 9_000);
        log.ended("w0-0.0#1", nanos(7_990));
        log.released("w0-0.0#1", nanos(8_000), true);
        exclusive("w1-0.0", 2, 20, 8_500, 9_000);

        assertRefuted(LEASES);
    }

    @Test
    void givenAHoldThatChangedLongBefore_whenAWaiterGetsTheLockLate_thenTheHandOverWasDropped() throws Exception {
        exclusive("w0-0.0", 1, 0, 10, 5_000);
        demoted("w0-0.0", 50, 60, 9_000);
        log.ended("w0-0.0#1", nanos(7_990));
        log.released("w0-0.0#1", nanos(8_000), true);
        exclusive("w1-0.0", 2, 20, 9_100, 9_500);

        assertRefuted(LEASES, Rule.HANDOFF);
    }

    @Test
    void givenAChange_whenItWasALeaseAgoAtTheMost_thenNothingIsSaidOfOrderAndHandOver() throws Exception {
        exclusive("w0-0.0", 1, 0, 10, 5_000);
        demoted("w0-0.0", 50, 60, 900);
        log.ended("w0-0.0#1", nanos(500));
        log.released("w0-0.0#1", nanos(501), true);
        exclusive("w2-0.0", 2, 300, 1_800, 5_000);
        released("w2-0.0", 1_900, 1_901, true);
        exclusive("w1-0.0", 3, 100, 2_000, 5_000);

        assertRefuted(LEASES);
    }

    /** The key of the actor's only hold is given away. */
    private void transferred(String actor, long at) {
        log.transferred(actor + "#0", nanos(at));
    }

    private void received(String giver, String receiver, long token, long asked, long at, long until) {
        LockMode mode = token == NONE ? LockMode.SHARED : LockMode.EXCLUSIVE;
        log.received(
                new Change(giver + "#0", receiver + "#0", mode),
                R,
                orNone(token),
                nanos(asked),
                nanos(at),
                time(until));
    }

    @Test
    void givenAKeyGivenAway_whenItsReceiverHoldsOn_thenAllIsWell() throws Exception {
        exclusive("w1-0.0", 1, 0, 10, 100);
        read("w1-0.0", 1, 20, 0);
        write("w1-0.0", 1, 25, 0, 0);
        transferred("w1-0.0", 50);
        received("w1-0.0", "w0-0.0", 1, 60, 70, 5_000);
        read("w0-0.0", 1, 80, 1);
        write("w0-0.0", 1, 90, 1, 1);
        released("w0-0.0", 200, 210, true);
        exclusive("w2-0.0", 2, 20, 211, 5_000);

        assertRefuted(LEASES);
        assertThat(judge(LEASES).figure(Rule.TRANSFERS)).isEqualTo("1 given, 1 received");
    }

    /** The logs of processes are read one after the other. */
    @Test
    void givenAKeyGivenAway_whenTheReceiversLogIsReadFirst_thenItIsTheSameHold() throws Exception {
        received("w1-0.0", "w0-0.0", 1, 60, 70, 5_000);
        released("w0-0.0", 200, 210, true);
        exclusive("w1-0.0", 1, 0, 10, 100);
        transferred("w1-0.0", 50);

        assertRefuted(LEASES);
    }

    @Test
    void givenASharedKeyGivenAway_whenItsReceiverHoldsOn_thenAllIsWell() throws Exception {
        shared("w1-0.0", 0, 10, 100);
        shared("w2-0.0", 0, 10, 5_000);
        transferred("w1-0.0", 50);
        received("w1-0.0", "w0-0.0", NONE, 60, 70, 5_000);

        assertRefuted(LEASES);
    }

    @Test
    void givenAKeyGivenAway_whenItsReceiverHasAnotherToken_thenItIsAnotherHold() throws Exception {
        exclusive("w1-0.0", 1, 0, 10, 100);
        transferred("w1-0.0", 50);
        received("w1-0.0", "w0-0.0", 2, 60, 70, 5_000);

        assertRefuted(LEASES, Rule.TRANSFERS);
    }

    @Test
    void givenAKeyGivenAway_whenItsReceiverHasItInAnotherMode_thenItIsAnotherHold() throws Exception {
        exclusive("w1-0.0", 1, 0, 10, 100);
        transferred("w1-0.0", 50);
        received("w1-0.0", "w0-0.0", NONE, 60, 70, 5_000);

        assertRefuted(LEASES, Rule.TRANSFERS);
    }

    @Test
    void givenAKeyGivenAway_whenAWriterIsGrantedBeforeItIsReceived_thenNoExclusion() throws Exception {
        exclusive("w1-0.0", 1, 0, 10, 100);
        transferred("w1-0.0", 50);
        exclusive("w2-0.0", 2, 20, 55, 58);
        received("w1-0.0", "w0-0.0", 1, 60, 70, 5_000);

        assertRefuted(LEASES, Rule.EXCLUSION, Rule.TOKENS);
    }

    @Test
    void givenAKeyGivenAway_whenAWriterIsGrantedBesideItsReceiver_thenNoExclusion() throws Exception {
        exclusive("w1-0.0", 1, 0, 10, 100);
        transferred("w1-0.0", 50);
        received("w1-0.0", "w0-0.0", 1, 60, 70, 5_000);
        exclusive("w2-0.0", 2, 20, 120, 5_000);

        assertRefuted(LEASES, Rule.EXCLUSION);
    }

    @Test
    void givenAKeyGivenAway_whenItIsNeverReceived_thenTheGiverBelievesInNothing() throws Exception {
        exclusive("w1-0.0", 1, 0, 10, 5_000);
        transferred("w1-0.0", 50);
        exclusive("w2-0.0", 2, 20, 60, 5_000);

        assertRefuted(LEASES);
    }

    @Test
    void givenAKeyGivenAway_whenItsGiverBelievesOn_thenRefuted() throws Exception {
        exclusive("w1-0.0", 1, 0, 10, 5_000);
        transferred("w1-0.0", 50);
        log.kept("w1-0.0#0", nanos(51), nanos(52), time(5_000));

        assertRefuted(LEASES, Rule.TRANSFERS);
    }

    @Test
    void givenAKeyGivenAway_whenItsGiverIsToldOfALoss_thenRefuted() throws Exception {
        fault(FaultKind.CUT, "w2", 5, 6, 7);
        exclusive("w1-0.0", 1, 0, 10, 5_000);
        transferred("w1-0.0", 50);
        log.lost("w1-0.0#0", nanos(60));

        assertRefuted(LEASES, Rule.TRANSFERS);
    }

    @Test
    void givenAKeyGivenAway_whenItsGiverReleasesIt_thenRefuted() throws Exception {
        exclusive("w1-0.0", 1, 0, 10, 5_000);
        transferred("w1-0.0", 50);
        log.released("w1-0.0#0", nanos(60), true);

        assertRefuted(LEASES, Rule.TRANSFERS);
    }

    @Test
    void givenAKeyGivenAway_whenItsGiverWritesAfterItsReceiver_thenWritesAreOutOfOrder() throws Exception {
        exclusive("w1-0.0", 1, 0, 10, 5_000);
        read("w1-0.0", 1, 20, 0);
        transferred("w1-0.0", 50);
        received("w1-0.0", "w0-0.0", 1, 60, 70, 5_000);
        read("w0-0.0", 1, 80, 0);
        write("w1-0.0", 1, 90, 0, 0);

        assertRefuted(LEASES, Rule.WRITES);
    }

    @Test
    void givenAKeyGivenAwayInQuietTimes_whenItIsNotHeldWithinItsLease_thenThereIsNoReasonForIt() throws Exception {
        exclusive("w1-0.0", 1, 0, 10, 100);
        transferred("w1-0.0", 50);
        log.notReceived("w1-0.0#0", nanos(70));

        assertRefuted(LEASES, Rule.REASONS);
    }

    @Test
    void givenAKeyGivenAway_whenItsLeaseIsOverAsItIsReceived_thenAllIsWell() throws Exception {
        exclusive("w1-0.0", 1, 0, 10, 100);
        transferred("w1-0.0", 50);
        log.notReceived("w1-0.0#0", nanos(101));

        assertRefuted(LEASES);
    }

    @Test
    void givenAKeyGivenAway_whenAFaultStruck_thenItIsTheReasonThatItIsNotHeld() throws Exception {
        fault(FaultKind.FORGET, History.ALL, 55, 56, 57);
        exclusive("w1-0.0", 1, 0, 10, 100);
        transferred("w1-0.0", 50);
        log.notReceived("w1-0.0#0", nanos(70));

        assertRefuted(promise(Bound.LEASE, Fencing.TOKENS, Map.of(FaultKind.FORGET, Effect.ENDS_HOLDS)));
    }

    @Test
    void givenAServerThatForgot_whenAKeyFromBeforeIsReceived_thenItIsNotJudged() throws Exception {
        Guarantees promise = promise(Bound.LEASE, Fencing.TOKENS, Map.of(FaultKind.FORGET, Effect.ENDS_HOLDS));
        exclusive("w1-0.0", 1, 0, 10, 100);
        transferred("w1-0.0", 20);
        fault(FaultKind.FORGET, History.ALL, 50, 51, 52);
        received("w1-0.0", "w0-0.0", 1, 45, 60, 5_000);
        exclusive("w2-0.0", 2, 53, 70, 5_000);

        assertRefuted(promise);
        assertRefuted(LEASES, Rule.EXCLUSION);
    }

    @Test
    void givenNoLeases_whenJudged_thenNothingIsPromisedOfKeysGivenAway() throws Exception {
        assertThat(judge(promise(Bound.PROCESS, Fencing.TOKENS, Map.of())).on(Rule.TRANSFERS))
                .isEqualTo("no promise");
    }

    @Test
    void givenNoFairness_whenAWaitIsLong_thenNothingIsPromised() throws Exception {
        Guarantees unfair = new Guarantees(
                Bound.LEASE, Fencing.TOKENS, Map.of(), Servers.ONE, HANDOFF, Order.NONE, Guarantees.UNFAIR, "");
        exclusive("w0-0.0", 2, 0, 59_000, 60_000);
        exclusive("w1-0.0", 1, 0, 1, 58_999);

        assertRefuted(unfair);
        assertThat(judge(unfair).on(Rule.WAITS)).isEqualTo("no promise");
    }

    @Test
    void givenOffences_whenAskedForTheFirst_thenItsTimeIsKnown() throws Exception {
        exclusive("w0-0.0", 1, 0, 10, 100);
        exclusive("w1-0.0", 2, 20, 99, 200);
        exclusive("w2-0.0", 3, 20, 98, 200);

        assertThat(judge(LEASES).firstOffence(Rule.EXCLUSION)).isEqualTo(nanos(98));
        assertThat(judge(LEASES).firstOffence(Rule.TOKENS)).isEqualTo(nanos(99));
    }

    @Test
    void givenALongHoldAndAShortOne_whenAWriterComesAfterTheShortOne_thenTheLongOneIsNotForgotten() throws Exception {
        shared("w0-0.0", 0, 1, 1_000);
        shared("w1-0.0", 5, 10, 20);
        exclusive("w2-0.0", 1, 15, 500, 600);

        assertRefuted(LEASES, Rule.EXCLUSION);
    }

    @Test
    void givenAServerThatForgot_whenATokenIsNotGreaterThanBefore_thenTokensAreRefuted() throws Exception {
        exclusive("w0-0.0", 5, 0, 10, 1_000);
        fault(FaultKind.FORGET, History.ALL, 30, 31, 40);
        exclusive("w1-0.0", 4, 50, 60, 1_000);

        assertRefuted(promise(Bound.LEASE, Fencing.TOKENS, Map.of(FaultKind.FORGET, Effect.ENDS_HOLDS)), Rule.TOKENS);
    }

    @Test
    void givenAQuietTime_whenAWaitIsRefusedBeforeItsEnd_thenItHadNoReason() throws Exception {
        log.asked("w0-0.0", R, LockMode.EXCLUSIVE, 0, Duration.ofMillis(200));
        log.refused("w0-0.0", nanos(199));

        assertRefuted(LEASES, Rule.REASONS);
    }

    @Test
    void givenAWait_whenItIsRefusedAtItsEndOrInterrupted_thenAllIsWell() throws Exception {
        log.asked("w0-0.0", R, LockMode.EXCLUSIVE, 0, Duration.ofMillis(200));
        log.refused("w0-0.0", nanos(200));
        log.asked("w1-0.0", R, LockMode.EXCLUSIVE, 0, Duration.ofMillis(200));
        log.interrupted("w1-0.0", nanos(10));
        log.asked("w2-0.0", R, LockMode.EXCLUSIVE, 0, Duration.ZERO);
        log.refused("w2-0.0", nanos(1));

        assertRefuted(LEASES);
    }

    @Test
    void givenObserversOfTheServer_whenTheySeeWhatARuleExcludes_thenThatRuleIsRefuted() throws Exception {
        log.violated(Rule.ORDER, "granted before another");
        log.violated(Rule.REFUSALS, "a refused promotion has left something");

        assertRefuted(LEASES, Rule.ORDER, Rule.REFUSALS);
        assertThat(judge(LEASES).offences(Rule.ORDER)).containsExactly("granted before another");
    }

    @Test
    void givenObserversOfTheServer_whenOneHasSeenNothing_thenItProvesNothing() throws Exception {
        log.compared(Rule.REFUSALS, 0);
        log.compared(Rule.ORDER, 12);

        assertThat(judge(LEASES).offences(Rule.SUBSTANCE)).anyMatch(offence -> offence.contains("REFUSALS"));
        assertThat(judge(LEASES).offences(Rule.SUBSTANCE)).noneMatch(offence -> offence.contains("ORDER"));
        assertThat(judge(LEASES).figure(Rule.ORDER)).contains("12 looked at on the server");
    }

    @Test
    void givenNoObserver_whenJudged_thenRefusalsAreNotCalledProven() throws Exception {
        assertThat(judge(LEASES).on(Rule.REFUSALS)).isEqualTo("not judged");
    }

    @Test
    void givenNoHoldInAMomentOfQuiet_whenTheMachineIsBusyElse_thenThatIsNotTooFew() throws Exception {
        log.stalled("machine", nanos(0), nanos(1_000));
        exclusive("w0-0.0", 1, 0, 10, 500);
        log.stalled("machine", nanos(2_040), nanos(2_140));
        exclusive("w1-0.0", 2, 2_041, 2_050, 2_500);

        assertThat(judge(LEASES).offences(Rule.SUBSTANCE)).noneMatch(offence -> offence.contains("quiet seconds"));
    }
}
