package dev.latchkey.zookeeper;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The queue of one resource, as a server saw it at one moment, and its rules:
 *
 * <ol>
 *   <li>A writer holds when no node is before it.
 *   <li>A reader holds when no writer is before it, and no promoter is in the queue. A reader that finds a promoter behind
 *       itself joins again behind it, because the promoter cannot know whether the reader holds already.
 *   <li>A promoter keeps its node and adds a second one. It holds exclusively when no reader before the second node may
 *       hold. Readers with a writer before them do not hold, because the writer waits for the promoter itself; except if
 *       the writer is of this store and has released, which readers of this store know before its node is deleted.
 *   <li>If two wait to promote, the later one is refused.
 *   <li>A writer's node with the mark of a demotion counts as a reader's.
 * </ol>
 *
 * <p>A server may be behind the others, but shows all changes in one order: a reader that holds by an older view is in every
 * view that has the promoter.
 */
final class WaitQueue {

    private final List<NodeName> bases = new ArrayList<>();
    private final List<NodeName> promotions = new ArrayList<>();
    private final Set<String> names;
    private final Set<String> leaving;
    private final long floor;

    /**
     * Creates a queue.
     *
     * @param names the names of the nodes, in any order
     * @param floor no earlier exclusive hold had a greater token, except those of nodes still in the queue
     */
    WaitQueue(Collection<String> names, long floor) {
        this(names, floor, Set.of());
    }

    /**
     * Creates a queue.
     *
     * @param leaving ids of writers of this store that have given up while their nodes may be there: readers of this store
     *     behind them may hold already, so a promotion looks through them
     */
    WaitQueue(Collection<String> names, long floor, Set<String> leaving) {
        this.names = new HashSet<>(names);
        this.leaving = Set.copyOf(leaving);
        this.floor = floor;
        for (String name : names) {
            NodeName entry = NodeName.parse(name);
            if (entry != null) {
                (entry.kind().isPromotion() ? promotions : bases).add(entry);
            }
        }
        bases.sort(Comparator.comparingInt(NodeName::number));
        promotions.sort(Comparator.comparingInt(NodeName::number));
        promotions.removeIf(promotion -> base(promotion).isEmpty());
    }

    long floor() {
        return floor;
    }

    /** Returns whether no node is before the given one. */
    boolean isFirst(String name) {
        NodeName own = NodeName.parse(name);
        return own != null && all().stream().noneMatch(other -> other.isBefore(own));
    }

    Optional<NodeName> find(String id) {
        return all().stream().filter(entry -> entry.id().equals(id)).findFirst();
    }

    /** Returns the names of all nodes of one id. */
    List<String> namesOf(String id) {
        return names.stream()
                .filter(name -> name.startsWith(id + '-') || name.startsWith(id + '.'))
                .toList();
    }

    private List<NodeName> all() {
        List<NodeName> all = new ArrayList<>(bases);
        all.addAll(promotions);
        return all;
    }

    private Optional<NodeName> base(NodeName promotion) {
        String id = promotion.baseId();
        return bases.stream().filter(base -> base.id().equals(id)).findFirst();
    }

    boolean isDemoted(NodeName base) {
        return names.contains(NodeName.demotionMark(base.id()));
    }

    boolean shares(NodeName base) {
        return base.kind() == NodeKind.READER || isDemoted(base);
    }

    QueuePosition of(String name) {
        NodeName own = NodeName.parse(name);
        if (own == null || !names.contains(name)) {
            return QueuePosition.GONE;
        }
        return switch (own.kind()) {
            case WRITER -> ofWriter(own);
            case READER -> ofReader(own);
            case PROMOTER, TRIAL -> ofPromotion(own);
        };
    }

    private QueuePosition ofWriter(NodeName own) {
        return last(bases, own).<QueuePosition>map(QueuePosition.Behind::new).orElse(QueuePosition.FREE);
    }

    private QueuePosition ofReader(NodeName own) {
        Optional<NodeName> writer = writerBefore(own);
        if (writer.isPresent()) {
            return new QueuePosition.Behind(writer.get());
        }
        if (promotions.isEmpty()) {
            return QueuePosition.FREE;
        }
        return last(promotions, own)
                .<QueuePosition>map(QueuePosition.Behind::new)
                .orElse(QueuePosition.STEP_BACK);
    }

    private QueuePosition ofPromotion(NodeName own) {
        if (base(own).isEmpty()) {
            return QueuePosition.GONE;
        }
        if (own.kind() == NodeKind.PROMOTER
                && promotions.stream()
                        .anyMatch(other -> other.kind() == NodeKind.PROMOTER
                                && other.isBefore(own)
                                && !other.baseId().equals(own.baseId()))) {
            return QueuePosition.REFUSED;
        }
        List<NodeName> readers =
                bases.stream().filter(base -> mayKeepBack(base, own)).toList();
        return last(readers, own).<QueuePosition>map(QueuePosition.Behind::new).orElse(QueuePosition.FREE);
    }

    private boolean mayKeepBack(NodeName base, NodeName promotion) {
        return !base.id().equals(promotion.baseId())
                && shares(base)
                && bases.stream()
                        .noneMatch(other -> other.isBefore(base) && !shares(other) && !leaving.contains(other.id()));
    }

    /** Returns the sticky nodes that a node waits for, but for those that another one before it waits for as well. */
    List<NodeName> stickyBefore(String name) {
        NodeName own = NodeName.parse(name);
        List<NodeName> found = new ArrayList<>();
        for (int i = bases.size() - 1; own != null && i >= 0; i--) {
            NodeName base = bases.get(i);
            if (base.isBefore(own) && isInTheWay(base, own)) {
                if (base.isSticky()) {
                    found.add(base);
                }
                if (!own.kind().isPromotion() && !shares(base)) {
                    break;
                }
            }
        }
        return found;
    }

    private boolean isInTheWay(NodeName base, NodeName own) {
        return switch (own.kind()) {
            case WRITER -> true;
            case READER -> !shares(base);
            case PROMOTER, TRIAL -> mayKeepBack(base, own);
        };
    }

    private Optional<NodeName> writerBefore(NodeName own) {
        return last(bases.stream().filter(base -> !shares(base)).toList(), own);
    }

    private static Optional<NodeName> last(List<NodeName> entries, NodeName before) {
        return entries.stream().filter(entry -> entry.isBefore(before)).reduce((one, later) -> later);
    }

    /** Returns the nodes that wait, the next one to be granted first, as far as the queue shows. */
    List<NodeName> waiters() {
        List<NodeName> holders = holders();
        Set<String> holding = new HashSet<>();
        holders.forEach(holder -> holding.add(holder.baseId()));
        List<NodeName> waiters = new ArrayList<>();
        promotions.stream()
                .filter(promotion -> promotion.kind() == NodeKind.PROMOTER && !holders.contains(promotion))
                .forEach(waiters::add);
        bases.stream().filter(base -> !holding.contains(base.id())).forEach(waiters::add);
        return waiters;
    }

    /** Returns the nodes that hold, as far as the queue shows; for a promotion its second node. */
    List<NodeName> holders() {
        Optional<NodeName> promoted = promotions.stream()
                .filter(promotion -> ofPromotion(promotion).equals(QueuePosition.FREE))
                .findFirst();
        if (promoted.isPresent()) {
            return List.of(promoted.get());
        }
        List<NodeName> holders = new ArrayList<>();
        for (NodeName base : bases) {
            if (!shares(base)) {
                return holders.isEmpty() ? List.of(base) : holders;
            }
            if (last(promotions, base).isEmpty()) {
                holders.add(base);
            }
        }
        return holders;
    }
}
