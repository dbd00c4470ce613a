package dev.latchkey.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Runs the decisions of the combined store, {@link Tally} and {@link Fence}, against members and a network of its own:
 * messages are late, reordered or lost, clients stop in the middle, leases end at any moment. Each schedule follows from
 * its number.
 */
class FenceSimulatorTest {

    private static final int SCHEDULES = 100_000;
    private static final Strategy CONSENSUS = new ConsensusStrategy();

    /** How clients come to a token. */
    private enum Rule {
        AGREED,
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
    }

    @ParameterizedTest
    @CsvSource({"3", "5"})
    void givenAnySchedule_whenTokensAreAgreedOn_thenTheyAreUniqueAndGrow(int members) {
        Findings findings = run(members, Rule.AGREED, 0, SCHEDULES);

        assertThat(findings.completed).as("holds that were granted").isGreaterThan(SCHEDULES);
        assertThat(findings.outOfOrder).isZero();
        assertThat(findings.duplicates).isZero();
    }

    @ParameterizedTest
    @CsvSource({"3,GREATEST", "5,GREATEST", "3,SUM", "5,SUM"})
    void givenTheSameSchedules_whenARuleIsNaive_thenTheSimulatorFindsItOut(int members, Rule rule) {
        Findings findings = run(members, rule, 0, SCHEDULES / 10);

        assertThat(findings.outOfOrder + findings.duplicates).isPositive();
    }

    /** What the proof does not promise: a majority has only one member in common, and that one forgets. */
    @Test
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

    /** One independent store for one resource. */
    private static final class Node {
        private int owner = -1;
        private long fence;

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
    private record Message(int client, int hold, int node, Kind kind, long number) {}

    private enum Kind {
        LOCK,
        LOCKED,
        RAISE,
        RAISED,
        UNLOCK
    }

    /** A hold that was granted: when its acquire began, and when it returned. */
    private record Done(long began, long returned, long token) {}

    /** One client, which acquires again and again, each time as another owner. */
    private static final class Client {
        private int hold;
        private long began;
        private Map<Integer, Long> granted = new HashMap<>();
        private Map<Integer, Tally.Vote> votes = new HashMap<>();
        private Set<Integer> raised = new HashSet<>();
        private Map<Integer, Boolean> raises = new HashMap<>();
        private Fence<Integer> fence = new Fence<>(0, Set.of(), Set.of());
        private boolean raising;
        private boolean idle = true;
        private long last;
    }

    private static final class Schedule {
        private static final int CLIENTS = 3;
        private static final int STEPS = 120;

        private final Random random;
        private final Rule rule;
        private final Node[] nodes;
        private final Client[] clients = new Client[CLIENTS];
        private final List<Message> network = new ArrayList<>();
        private final List<Done> done = new ArrayList<>();
        private int forgetful;
        private int nextHold;
        private long now;

        Schedule(Random random, int members, Rule rule, int forgetful) {
            this.random = random;
            this.rule = rule;
            this.forgetful = forgetful;
            this.nodes = new Node[members];
            for (int i = 0; i < members; i++) {
                nodes[i] = new Node();
                nodes[i].fence = random.nextInt(4);
            }
            for (int i = 0; i < CLIENTS; i++) {
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
            client.hold = nextHold++;
            client.began = now;
            client.granted = new HashMap<>();
            client.votes = new HashMap<>();
            client.raised = new HashSet<>();
            client.raises = new HashMap<>();
            client.raising = false;
            long proposal = random.nextBoolean() ? client.last + 1 : 0;
            toAll(number, Kind.LOCK, rule == Rule.AGREED ? proposal : 0);
        }

        private void toAll(int client, Kind kind, long number) {
            for (int node = 0; node < nodes.length; node++) {
                network.add(new Message(client, clients[client].hold, node, kind, number));
            }
        }

        private void arrive(Message message) {
            Node node = nodes[message.node()];
            Client client = clients[message.client()];
            boolean current = client.hold == message.hold() && !client.idle;
            switch (message.kind()) {
                case LOCK -> answer(message, Kind.LOCKED, node.grant(message.hold(), message.number()));
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
            network.add(new Message(to.client(), to.hold(), to.node(), kind, number));
        }

        private void locked(Client client, Message message) {
            if (message.number() >= 0) {
                client.granted.put(message.node(), message.number());
            }
            client.votes.put(message.node(), message.number() < 0 ? Tally.Vote.CONFLICTED : Tally.Vote.GRANTED);
            switch (Tally.early(client.votes.values(), CONSENSUS, nodes.length)) {
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
                case GREATEST -> finish(number, Fence.of(client.granted).token());
                case SUM ->
                    finish(
                            number,
                            client.granted.values().stream()
                                    .mapToLong(Long::longValue)
                                    .sum());
                case AGREED -> {
                    client.fence = Fence.of(client.granted);
                    if (client.fence.isSound(Set.of(), nodes.length)) {
                        finish(number, client.fence.token());
                        return;
                    }
                    client.raising = true;
                    for (int node : client.fence.behind()) {
                        network.add(new Message(number, client.hold, node, Kind.RAISE, client.fence.token()));
                    }
                }
            }
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
        }

        private void finish(int number, long token) {
            Client client = clients[number];
            client.last = token;
            done.add(new Done(client.began, now, token));
            client.idle = true;
            if (random.nextInt(4) > 0) {
                toAll(number, Kind.UNLOCK, 0);
            }
        }

        private void judge(Findings findings) {
            findings.completed += done.size();
            boolean duplicate = false;
            boolean disorder = false;
            for (int i = 0; i < done.size(); i++) {
                for (int j = 0; j < i; j++) {
                    Done earlier = done.get(j);
                    Done later = done.get(i);
                    duplicate |= earlier.token() == later.token();
                    disorder |= earlier.returned() < later.began() && earlier.token() >= later.token();
                }
            }
            findings.duplicates += duplicate ? 1 : 0;
            findings.outOfOrder += disorder ? 1 : 0;
        }
    }
}
