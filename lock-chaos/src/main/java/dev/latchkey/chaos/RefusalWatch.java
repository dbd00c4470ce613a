package dev.latchkey.chaos;

import dev.latchkey.redis.ScriptTexts;
import dev.latchkey.servers.RedisConnection;
import dev.latchkey.testkit.ServerAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Shares locks that others use, asks for promotions that must be refused, and writes down each that was not, or that
 * has changed the state or the time when its key goes. What is compared was read in the same step.
 */
final class RefusalWatch implements ServerObserver {

    private static final String TTL = "300";
    private static final String RETENTION = "600000";
    private static final String KEPT = "600300";
    private static final String TRY = "- 0 0 0 e";
    private static final String WAIT = "- 100 0 0 e";

    private static final List<String> RESOURCES = Workload.STRESS.resources();
    private static final long LONGEST_PAUSE_NANOS = Duration.ofMillis(50).toNanos();

    /** PTTL and TIME are rounded, each by itself, and read one after the other. */
    private static final long ROUNDING_MILLIS = 3;

    private static final Pattern NOTES = Pattern.compile("( [^: ]+:\\d+:\\d+):[^ ]*");

    private final EventLog log;
    private final SplittableRandom random;
    private final AtomicLong compared = new AtomicLong();
    private final Bystander bystander;
    private long rounds;

    RefusalWatch(ServerAddress server, EventLog log, long seed) {
        this.log = log;
        this.random = new SplittableRandom(seed);
        this.bystander = new Bystander(server, this::watch);
    }

    private void watch(RedisConnection connection) {
        askTwice(connection, "lock:{" + RESOURCES.get(random.nextInt(RESOURCES.size())) + '}');
        LockSupport.parkNanos(random.nextLong(LONGEST_PAUSE_NANOS));
    }

    private void askTwice(RedisConnection connection, String key) {
        long round = rounds++;
        String one = String.format("refused-%010d-one", round);
        String two = String.format("refused-%010d-two", round);
        boolean shared =
                isHeld(acquire(connection, key, one, "s", TRY)) && isHeld(acquire(connection, key, two, "s", TRY));
        if (shared) {
            compare(connection, key, one, TRY, -1);
            Object waits = acquire(connection, key, two, "X", WAIT);
            if (waits instanceof List<?> queued && queued.get(0).equals(0L)) {
                compare(connection, key, one, WAIT, -2);
            }
            script(connection, ScriptTexts.cancel(), key, two, "0." + two, RETENTION, stem(two, "p"));
            script(connection, ScriptTexts.cancel(), key, one, "0." + one, RETENTION, stem(one, "p"));
        }
        script(connection, ScriptTexts.release(), key, one, "", RETENTION);
        script(connection, ScriptTexts.release(), key, two, "", RETENTION);
    }

    private static String stem(String token, String want) {
        return String.join(" ", token, "0." + token, want, TTL, "100 0");
    }

    private static boolean isHeld(@Nullable Object answer) {
        return answer instanceof Long fence && fence > 0;
    }

    /** In one step: what is there, the request, and what is there then. */
    private void compare(RedisConnection connection, String key, String token, String how, long refusal) {
        connection.call("MULTI");
        look(connection, key);
        acquire(connection, key, token, "X", how);
        look(connection, key);
        Object answers = connection.call("EXEC");
        if (!(answers instanceof List<?> all && all.size() == 7 && all.get(3) instanceof List<?> answer)) {
            log.violated(Rule.REFUSALS, key + ": a promotion beside another reader was answered with " + answers);
            return;
        }
        if (answer.get(0).equals(-3L)) {
            return;
        }
        compared.incrementAndGet();
        boolean same = holds(all.get(0)).equals(holds(all.get(4)))
                && isUntouched((Long) all.get(1), (Long) all.get(5), millis(all.get(6)) - millis(all.get(2)));
        if (!answer.get(0).equals(refusal) || !same) {
            log.violated(Rule.REFUSALS, key + ": a promotion to be refused with " + refusal + " has left " + all);
        }
    }

    /** The state but for its notes: who was told that others ask for what it keeps, and who knows of its own hold. */
    private static String holds(@Nullable Object state) {
        return NOTES.matcher(String.valueOf(state)).replaceAll("$1");
    }

    private static void look(RedisConnection connection, String key) {
        connection.call("GET", key);
        connection.call("PTTL", key);
        connection.call("TIME");
    }

    /** Servers from 7.0 on stop their clock in a transaction: then nothing has gone of what is left of the key's time. */
    private static boolean isUntouched(long leftBefore, long leftAfter, long millisBetween) {
        return leftAfter <= leftBefore + ROUNDING_MILLIS && leftAfter >= leftBefore - millisBetween - ROUNDING_MILLIS;
    }

    private static long millis(@Nullable Object time) {
        List<?> parts = (List<?>) Objects.requireNonNull(time);
        return Long.parseLong(String.valueOf(parts.get(0))) * 1_000
                + Long.parseLong(String.valueOf(parts.get(1))) / 1_000;
    }

    private static @Nullable Object acquire(
            RedisConnection connection, String key, String token, String want, String how) {
        return script(connection, ScriptTexts.acquire(), key, token, TTL, KEPT, "0." + token, want, how);
    }

    private static @Nullable Object script(RedisConnection connection, String script, String key, String... args) {
        List<String> words = new ArrayList<>(List.of("EVAL", script, "1", key));
        words.addAll(List.of(args));
        return connection.call(words.toArray(String[]::new));
    }

    @Override
    public void close() {
        bystander.close();
        log.compared(Rule.REFUSALS, compared.get());
    }
}
