package dev.latchkey.combined;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Runs the decisions of the combined store, {@link VoteCount} and {@link TokenAgreement}, against members and a network of its own:
 * messages are late, reordered or lost, clients stop in the middle, leases end at any moment, and owners come again that
 * hold a part of what they held. Each schedule follows from its number.
 */
class FenceSimulatorTest {

    private static final int SCHEDULES = 100_000;
    private static final Strategy CONSENSUS = new ConsensusStrategy();

    /** How clients come to a token. */
    private enum Rule {
        AGREED,
        /** The same among members that count by clocks, each by another, of which one may be set back now and then. */
        AGREED_BY_THE_CLOCKS,
        /** The same, but who comes again has its old token unless a member says that it has lost that. */
        AGREED_UNLESS_CONTRADICTED,
        /** The greatest of the members' own. */
        GREATEST,
        /** The sum of the members' own, those of members that did not grant left out. */
        SUM
    }

    /** What went wrong in some schedules. */
    private static final class Findings {
        private int completed;
        private int outOfOrder;
        private int duplicates;
        private long farthestAhead;
    }

    @ParameterizedTest
    @CsvSource({"3,AGREED", "5,AGREED", "3,AGREED_BY_THE_CLOCKS", "5,AGREED_BY_THE_CLOCKS"})
    @Tag("slow")
    void givenAnySchedule_whenTokensAreAgreedOn_thenTheyAreUniqueAndGrow(int members, Rule rule) {
        Findings findings = run(members, rule, 0, SCHEDULES);

        assertThat(findings.completed).as("holds that were granted").isGreaterThan(SCHEDULES);
        assertThat(findings.outOfOrder).isZero();
        assertThat(findings.duplicates).isZero();
    }

    @ParameterizedTest
    @CsvSource({
        "3,GREATEST",
        "5,GREATEST",
        "3,SUM",
        "5,SUM",
        "3,AGREED_UNLESS_CONTRADICTED",
        "5,AGREED_UNLESS_CONTRADICTED"
    })
    @Tag("slow")
    void givenTheSameSchedules_whenARuleIsNaive_thenTheSimulatorFindsItOut(int members, Rule rule) {
        Findings findings = run(members, rule, 0, SCHEDULES / 10);

        assertThat(findings.outOfOrder + findings.duplicates).isPositive();
    }

    /** What the proof does not promise: a majority has only one member in common, and that one forgets. */
    @Test
    @Tag("slow")
    void givenAMemberForgets_whenTokensAreAgreedOn_thenTheSimulatorFindsItOut() {
        Findings findings = run(3, Rule.AGREED, 1, SCHEDULES);

        assertThat(findings.outOfOrder + findings.duplicates).isPositive();
    }

    private static Findings run(int members, Rule rule, int forgetful, int schedules) {
        Findings findings = new Findings();
        for (int seed = 0; seed < schedules; seed++) {
            new Schedule(new Random(seed * 1_000_003L + members), members, rule, forgetful).run(findings);
        }
        return findings;
    }

    /** What no proposal comes from, however far off a client is: nobody may drive the members' counters ahead. */
    @Test
    @Tag("slow")
    void givenClientsProposeWildly_whenMembersCountByClocks_thenTheyStayNearThem() {
        Findings findings = run(3, Rule.AGREED_BY_THE_CLOCKS, 0, SCHEDULES / 10);

        assertThat(findings.farthestAhead)
                .isLessThan(Node.BOUND + Schedule.LARGEST_SKEW + Schedule.STEPS * Schedule.MICROS_A_STEP);
    }

    /** Quiet: one after the other, every message arrives. */
    @Test
    void givenClocksApart_whenNothingGoesWrong_thenNearlyAllAgreeAtOnce() {
        TokenProposal pace = new TokenProposal();
        Random random = new Random(7);
        long[] skews = {0, 3_000, -200_000};
        long[] fences = new long[skews.length];
        int apart = 0;
        for (long now = 1_000_000_000; now < 3_000_000_000L; now += random.nextInt(40_000_000)) {
            long proposal = pace.at(now * 1_000);
            Map<Integer, Long> granted = new HashMap<>();
            for (int i = 0; i < skews.length; i++) {
                fences[i] = Node.next(fences[i], proposal, now + skews[i] + 50 + random.nextInt(200));
                granted.put(i, fences[i]);
            }
            TokenAgreement<Integer> fence = TokenAgreement.of(granted);
            if (!fence.isSound(Set.of(), skews.length)) {
                apart++;
                pace.learn(proposal, fence.token(), now * 1_000, (now + 500) * 1_000);
                Arrays.fill(fences, fence.token());
            }
        }
        // Of some hundred over half an hour; the pace falls behind on purpose, and catches up.
        assertThat(apart).isBetween(1, 40);
    }

    /** One independent store for one resource. */
    private static final class Node {

        /** How far ahead of its clock a member follows a proposal. */
        private static final long BOUND = 1_000_000;

        private int owner = -1;
        private long fence;

        /** By the rule of the Redis store. */
        static long next(long last, long proposal, long clock) {
            long from = proposal > clock && proposal - clock <= BOUND ? proposal : clock;
            return Math.max(last + 1, from);
        }

        long grantByTheClock(int client, long proposal, long clock) {
            if (owner >= 0) {
                return owner == client ? fence : -1;
            }
            owner = client;
            fence = next(fence, proposal, clock);
            return fence;
        }

        long grant(int client, long proposal) {
            if (owner == client) {
                return fence;
            }
            if (owner >= 0) {
                return -1;
            }
            owner = client;
            fence = Math.max(fence + 1, proposal);
            return fence;
        }

        boolean raise(int client, long token) {
            if (owner != client || fence > token) {
                return false;
            }
            fence = token;
            return true;
        }
    }

    /** Something on its way; when it arrives is up to chance. */
    private record Message(int client, int hold, int attempt, int node, Kind kind, long number) {}

    private enum Kind {
        LOCK,
        LOCKED,
        RAISE,
        RAISED,
        UNLOCK
    }

    /** A hold that was granted: to which owner, when its acquire began, and when it returned. */
    private record Done(int hold, long began, long returned, long token) {}

    /**
     * One client, which acquires again and again: as another owner, or as the same, which may hold it still at some members, at
     * none, or where it is refreshed while the rest of its leases end.
     */
    private static final class Client {
        private int hold;
        private int attempt;
        private Map<Integer, Long> parts = new HashMap<>();
        private long held;
        private long began;
        private Map<Integer, Long> granted = new HashMap<>();
        private Map<Integer, VoteCount.Vote> votes = new HashMap<>();
        private Set<Integer> raised = new HashSet<>();
        private Map<Integer, Boolean> raises = new HashMap<>();
        private TokenAgreement<Integer> fence = new TokenAgreement<>(0, Set.of(), Set.of());
        private boolean raising;
        private boolean idle = true;
        private long last;
        private long proposal;
    }

    private static final class Schedule {
        private static final int CLIENTS = 3;
        private static final int STEPS = 120;
        private static final long MICROS_A_STEP = 200;
        private static final long LARGEST_SKEW = 2_000_000;
        private static final long BEGIN = 1_700_000_000_000_000L;

        private final Random random;
        private final Rule rule;
        private final Node[] nodes;
        private final Client[] clients = new Client[CLIENTS];
        private final List<Message> network = new ArrayList<>();
        private final List<Done> done = new ArrayList<>();
        private int forgetful;
        private final long[] skews;
        private final TokenProposal[] paces = new TokenProposal[CLIENTS];
        private int nextHold;
        private long now;

        Schedule(Random random, int members, Rule rule, int forgetful) {
            this.random = random;
            this.rule = rule;
            this.forgetful = forgetful;
            this.nodes = new Node[members];
            this.skews = new long[members];
            for (int i = 0; i < members; i++) {
                nodes[i] = new Node();
                nodes[i].fence = random.nextInt(4);
                skews[i] = random.nextInt(3) == 0 ? random.nextLong(LARGEST_SKEW) : random.nextLong(2_000);
            }
            for (int i = 0; i < CLIENTS; i++) {
                paces[i] = new TokenProposal();
                clients[i] = new Client();
            }
        }

        void run(Findings findings) {
            for (int step = 0; step < STEPS; step++) {
                now++;
                step();
            }
            judge(findings);
        }

        private void step() {
            int dice = random.nextInt(100);
            if (dice < 6) {
                begin(random.nextInt(CLIENTS));
            } else if (dice < 9) {
                nodes[random.nextInt(nodes.length)].owner = -1;
            } else if (dice < 10 && forgetful > 0) {
                forgetful--;
                nodes[random.nextInt(nodes.length)] = new Node();
            } else if (dice < 11 && random.nextInt(10) == 0) {
                skews[random.nextInt(nodes.length)] = random.nextLong(LARGEST_SKEW);
            } else if (dice < 11) {
                clients[random.nextInt(CLIENTS)].idle = true;
            } else if (!network.isEmpty()) {
                Message message = network.remove(random.nextInt(network.size()));
                if (dice < 96) {
                    arrive(message);
                }
            }
        }

        private void begin(int number) {
            Client client = clients[number];
            if (!client.idle) {
                return;
            }
            client.idle = false;
            client.attempt++;
            if (client.held == 0 || random.nextInt(3) > 0) {
                client.hold = nextHold++;
                client.held = 0;
                client.parts = new HashMap<>();
            }
            client.began = now;
            client.granted = new HashMap<>();
            client.votes = new HashMap<>();
            client.raised = new HashSet<>();
            client.raises = new HashMap<>();
            client.raising = false;
            client.proposal = proposal(number);
            toAll(number, Kind.LOCK, client.proposal);
        }

        /** What it knows, nothing, or with clocks anything: being wrong must do no harm. */
        private long proposal(int number) {
            boolean known = random.nextBoolean();
            return switch (rule) {
                case AGREED, AGREED_UNLESS_CONTRADICTED -> known ? clients[number].last + 1 : 0;
                case AGREED_BY_THE_CLOCKS ->
                    known
                            ? paces[number].at(nanos())
                            : random.nextInt(4) == 0 ? BEGIN + random.nextLong(10_000_000) : 0;
                case GREATEST, SUM -> 0;
            };
        }

        private long nanos() {
            return now * MICROS_A_STEP * 1_000;
        }

        private long grant(Message message) {
            Node node = nodes[message.node()];
            return rule == Rule.AGREED_BY_THE_CLOCKS
                    ? node.grantByTheClock(
                            message.hold(), message.number(), BEGIN + skews[message.node()] + now * MICROS_A_STEP)
                    : node.grant(message.hold(), message.number());
        }

        private void toAll(int client, Kind kind, long number) {
            for (int node = 0; node < nodes.length; node++) {
                network.add(new Message(client, clients[client].hold, clients[client].attempt, node, kind, number));
            }
        }

        private void arrive(Message message) {
            Node node = nodes[message.node()];
            Client client = clients[message.client()];
            boolean current = client.attempt == message.attempt() && !client.idle;
            switch (message.kind()) {
                case LOCK -> answer(message, Kind.LOCKED, grant(message));
                case RAISE -> answer(message, Kind.RAISED, node.raise(message.hold(), message.number()) ? 1 : 0);
                case UNLOCK -> node.owner = node.owner == message.hold() ? -1 : node.owner;
                case LOCKED -> {
                    if (current && !client.raising) {
                        locked(client, message);
                    }
                }
                case RAISED -> {
                    if (current && client.raising) {
                        raised(client, message);
                    }
                }
            }
        }

        private void answer(Message to, Kind kind, long number) {
            network.add(new Message(to.client(), to.hold(), to.attempt(), to.node(), kind, number));
        }

        private void locked(Client client, Message message) {
            if (message.number() >= 0) {
                client.granted.put(message.node(), message.number());
            }
            client.votes.put(message.node(), message.number() < 0 ? VoteCount.Vote.CONFLICTED : VoteCount.Vote.GRANTED);
            switch (VoteCount.early(client.votes.values(), CONSENSUS, nodes.length)) {
                case OPEN -> {
                    if (client.votes.size() == nodes.length) {
                        giveUp(message.client());
                    }
                }
                case GRANTED -> tokenOf(message.client());
                default -> giveUp(message.client());
            }
        }

        private void tokenOf(int number) {
            Client client = clients[number];
            switch (rule) {
                case GREATEST ->
                    finish(number, TokenAgreement.of(client.granted).token());
                case SUM ->
                    finish(
                            number,
                            client.granted.values().stream()
                                    .mapToLong(Long::longValue)
                                    .sum());
                case AGREED, AGREED_UNLESS_CONTRADICTED, AGREED_BY_THE_CLOCKS -> {
                    if (isKept(client)) {
                        finish(number, client.held);
                        return;
                    }
                    client.fence = TokenAgreement.of(client.granted);
                    if (client.fence.isSound(Set.of(), nodes.length)) {
                        finish(number, client.fence.token());
                        return;
                    }
                    paces[number].learn(
                            client.proposal, client.fence.token(), client.began * MICROS_A_STEP * 1_000, nanos());
                    client.raising = true;
                    for (int node : client.fence.behind()) {
                        network.add(new Message(
                                number, client.hold, client.attempt, node, Kind.RAISE, client.fence.token()));
                    }
                }
            }
        }

        private boolean isKept(Client client) {
            if (client.held == 0) {
                return false;
            }
            return rule == Rule.AGREED_UNLESS_CONTRADICTED
                    ? client.granted.entrySet().stream()
                            .allMatch(part -> client.parts
                                    .getOrDefault(part.getKey(), part.getValue())
                                    .equals(part.getValue()))
                    : TokenAgreement.isKept(client.held, client.granted, nodes.length);
        }

        private void raised(Client client, Message message) {
            client.raises.put(message.node(), message.number() == 1);
            if (message.number() == 1) {
                client.raised.add(message.node());
            }
            if (client.fence.isSound(client.raised, nodes.length)) {
                finish(message.client(), client.fence.token());
            } else if (client.raises.size() == client.fence.behind().size()) {
                giveUp(message.client());
            }
        }

        private void giveUp(int number) {
            toAll(number, Kind.UNLOCK, 0);
            clients[number].idle = true;
            clients[number].held = 0;
        }

        private void finish(int number, long token) {
            Client client = clients[number];
            client.last = token;
            client.held = token;
            client.parts.putAll(client.granted);
            client.raised.forEach(node -> client.parts.put(node, token));
            done.add(new Done(client.hold, client.began, now, token));
            client.idle = true;
            if (random.nextInt(4) > 0) {
                toAll(number, Kind.UNLOCK, 0);
                client.held = random.nextBoolean() ? token : 0;
            }
        }

        private void judge(Findings findings) {
            findings.completed += done.size();
            done.forEach(each -> findings.farthestAhead = Math.max(findings.farthestAhead, each.token() - BEGIN));
            boolean duplicate = false;
            boolean disorder = false;
            for (int i = 0; i < done.size(); i++) {
                for (int j = 0; j < i; j++) {
                    Done earlier = done.get(j);
                    Done later = done.get(i);
                    boolean isKept = earlier.hold() == later.hold() && earlier.token() == later.token();
                    duplicate |= earlier.token() == later.token() && !isKept;
                    disorder |= earlier.returned() < later.began() && earlier.token() >= later.token() && !isKept;
                }
            }
            findings.duplicates += duplicate ? 1 : 0;
            findings.outOfOrder += disorder ? 1 : 0;
        }
    }
}
