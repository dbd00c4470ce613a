package dev.latchkey.chaos.election;

import dev.latchkey.servers.RedisServer;
import dev.latchkey.testkit.TimeLimits;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/** Four processes stand for election on Redis, and something is done to each leader, until there were enough terms. */
final class ElectionTrial implements AutoCloseable {

    /** How long the lease of a leader is. */
    static final Duration TTL = TimeLimits.ttl(Duration.ofSeconds(1));

    /** How long a callback has to return when its term is over, and how long before the lease a term ends. */
    static final Duration STOP_TIME = TTL.dividedBy(4);

    private static final int CANDIDATES = 4;

    /** A leader that has not looked for so long is not taken for one that leads. */
    private static final Duration FRESH = Duration.ofMillis(50);

    /** A process that has just been replaced has to start. */
    private static final Duration LIMIT = TimeLimits.LIMIT;

    private final Path directory;
    private final CandidateKind kind;
    private final SplittableRandom random;
    private final RedisServer server = RedisServer.startDurable();
    private final List<CandidateProcess> running = new ArrayList<>();
    private final List<CandidateProcess> dead = new ArrayList<>();
    private final List<ElectionFault> strikes = new ArrayList<>();
    private final List<TakeOver> takeOvers = new ArrayList<>();

    ElectionTrial(Path directory, long seed, CandidateKind kind) {
        this.directory = directory;
        this.kind = kind;
        this.random = new SplittableRandom(seed);
        for (int i = 0; i < CANDIDATES; i++) {
            start();
        }
    }

    private void start() {
        String name = "candidate-" + (running.size() + dead.size() + 1);
        running.add(CandidateProcess.start(directory.resolve(name), server.address(), TTL, kind));
    }

    /** Goes on until there were so many terms, or two leaders at once. */
    ElectionHistory run(int terms) throws InterruptedException {
        List<ElectionFault> faults = kind == CandidateKind.NAIVE
                ? List.of(ElectionFault.SILENCE, ElectionFault.REFUSE, ElectionFault.FREEZE_SERVER)
                : List.of(ElectionFault.values());
        ElectionHistory history = history();
        while (history.terms().size() < terms && history.offences().isEmpty()) {
            BelievedTerm leader = awaitLeader();
            ElectionFault fault = faults.get(random.nextInt(faults.size()));
            long start = System.nanoTime();
            strikes.add(fault);
            strike(fault, process(leader), leader.number());
            termAfter(leader.number()).ifPresent(next -> takeOvers.add(new TakeOver(fault, next.since() - start)));
            history = history();
        }
        return history;
    }

    private void strike(ElectionFault fault, CandidateProcess leader, long number) throws InterruptedException {
        switch (fault) {
            case RESIGN -> send(Candidate.RESIGN, leader, number);
            case FAIL -> send(Candidate.FAIL, leader, number);
            case KILL -> kill(leader, number);
            case FREEZE -> during(leader::freeze, leader::thaw, number);
            case FREEZE_FOR_A_LEASE -> {
                leader.freeze();
                pause(TTL.multipliedBy(random.nextInt(80, 121)).dividedBy(100));
                leader.thaw();
            }
            case SILENCE -> during(leader.proxy()::silence, leader.proxy()::heal, number);
            case REFUSE -> during(leader.proxy()::refuse, leader.proxy()::heal, number);
            case RESTART_SERVER -> {
                server.kill();
                server.restart();
            }
            case FREEZE_SERVER ->
                server.freezeFor(TTL.multipliedBy(random.nextInt(50, 200)).dividedBy(100));
            case RESIGN_TO_FROZEN -> {
                CandidateProcess other = other(leader);
                other.freeze();
                try {
                    send(Candidate.RESIGN, leader, number);
                } finally {
                    other.thaw();
                }
            }
        }
    }

    private void send(char command, CandidateProcess leader, long number) throws InterruptedException {
        leader.send(command);
        awaitTermAfter(number);
    }

    /** Another one stands in its place. */
    private void kill(CandidateProcess leader, long number) throws InterruptedException {
        leader.close();
        running.remove(leader);
        dead.add(leader);
        awaitTermAfter(number);
        start();
    }

    private void during(Runnable fault, Runnable end, long number) throws InterruptedException {
        fault.run();
        try {
            awaitTermAfter(number);
        } finally {
            end.run();
        }
    }

    private CandidateProcess other(CandidateProcess leader) {
        List<CandidateProcess> others =
                running.stream().filter(process -> process != leader).toList();
        return others.get(random.nextInt(others.size()));
    }

    private CandidateProcess process(BelievedTerm term) {
        return running.stream()
                .filter(process -> process.terms().contains(term) || has(process, term.number()))
                .findFirst()
                .orElseThrow();
    }

    private static boolean has(CandidateProcess process, long number) {
        return process.terms().stream().anyMatch(term -> term.number() == number);
    }

    /** Waits for somebody who believes now. */
    private BelievedTerm awaitLeader() throws InterruptedException {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (end - System.nanoTime() > 0) {
            Optional<BelievedTerm> newest = running.stream()
                    .flatMap(process -> process.terms().stream())
                    .max(Comparator.comparingLong(BelievedTerm::number))
                    .filter(term -> System.nanoTime() - term.until() < FRESH.toNanos());
            if (newest.isPresent()) {
                return newest.get();
            }
            pause(Duration.ofMillis(2));
        }
        throw new AssertionError("nobody leads, for " + LIMIT + "; see what the candidates printed in " + directory);
    }

    private void awaitTermAfter(long number) throws InterruptedException {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (termAfter(number).isEmpty()) {
            if (end - System.nanoTime() < 0) {
                throw new AssertionError("nobody leads after term " + number + ", for " + LIMIT
                        + "; see what the candidates printed in " + directory);
            }
            pause(Duration.ofMillis(2));
        }
    }

    private Optional<BelievedTerm> termAfter(long number) {
        return running.stream()
                .flatMap(process -> process.terms().stream())
                .filter(term -> term.number() > number)
                .min(Comparator.comparingLong(BelievedTerm::number));
    }

    private ElectionHistory history() {
        List<BelievedTerm> terms = new ArrayList<>();
        running.forEach(process -> terms.addAll(process.terms()));
        dead.forEach(process -> terms.addAll(process.terms()));
        return new ElectionHistory(STOP_TIME, terms, List.copyOf(strikes), List.copyOf(takeOvers));
    }

    /** The length of a fault, or between two looks. */
    private static void pause(Duration length) throws InterruptedException {
        TimeUnit.NANOSECONDS.sleep(length.toNanos());
    }

    @Override
    public void close() {
        running.forEach(CandidateProcess::close);
        server.close();
    }
}
