package dev.latchkey.chaos.election;

import dev.latchkey.LockFactory;
import dev.latchkey.leader.LeaderElection;
import dev.latchkey.leader.Term;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;

/** The {@code main} of a process that stands for election until it is killed, and writes down as long as it believes to lead. */
final class Candidate {

    static final String DSN = "LATCHKEY_CHAOS_DSN";
    static final String ELECTION = "election";
    static final char RESIGN = 'r';
    static final char FAIL = 'f';

    static final long LOOK_NANOS = Duration.ofMillis(1).toNanos();

    private static final long CLEAN_UP_NANOS = Duration.ofMillis(50).toNanos();

    private static final int INPUT_ENDED = 3;

    private final BeliefFile beliefs;
    private final CompletableFuture<LeaderElection> election = new CompletableFuture<>();
    private volatile boolean fails;

    private Candidate(BeliefFile beliefs) {
        this.beliefs = beliefs;
    }

    /**
     * Runs until the end of its input, of which each character has it resign or fail.
     *
     * @param args the file for what it believes, the TTL in milliseconds, and its kind
     * @throws IOException if its input cannot be read
     */
    public static void main(String[] args) throws IOException {
        LockFactory locks = LockFactory.connect(Objects.requireNonNull(System.getenv(DSN), DSN));
        BeliefFile beliefs = BeliefFile.open(Path.of(args[0]));
        Duration ttl = Duration.ofMillis(Long.parseLong(args[1]));
        if (CandidateKind.valueOf(args[2]) == CandidateKind.NAIVE) {
            new NaiveCandidate(locks, ttl, beliefs).start();
            System.in.transferTo(System.out);
        } else {
            new Candidate(beliefs).stand(locks, ttl);
        }
        Runtime.getRuntime().halt(INPUT_ENDED);
    }

    private void stand(LockFactory locks, Duration ttl) throws IOException {
        election.complete(LeaderElection.builder(locks, ELECTION)
                .ttl(ttl)
                .stopTime(ttl.dividedBy(4))
                .backoff(Duration.ofMillis(20), Duration.ofMillis(200))
                .onElected(this::lead)
                .start());
        for (int command = System.in.read(); command >= 0; command = System.in.read()) {
            if (command == RESIGN) {
                election.join().resign();
            } else if (command == FAIL) {
                fails = true;
            }
        }
    }

    private void lead(Term term) {
        fails = false;
        long look = System.nanoTime();
        if (!believes(term)) {
            return;
        }
        int at = beliefs.begin(term.number(), look);
        try {
            believe(term, at, look);
        } finally {
            cleanUp();
            beliefs.returns(at, System.nanoTime());
        }
    }

    /** Takes a while, in which the next callback must not begin. */
    private static void cleanUp() {
        boolean unused = Thread.interrupted();
        LockSupport.parkNanos(CLEAN_UP_NANOS);
    }

    private void believe(Term term, int at, long begun) {
        long look = begun;
        while (believes(term)) {
            // Believed after the look, and since the begin: therefore at the look as well.
            beliefs.believe(at, look);
            if (fails) {
                throw new IllegalStateException("told to fail");
            }
            LockSupport.parkNanos(LOOK_NANOS);
            look = System.nanoTime();
        }
    }

    private boolean believes(Term term) {
        return term.lasts() || election.join().isLeader();
    }
}
