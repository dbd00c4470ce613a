package dev.latchkey.combined;

import dev.latchkey.spi.Durability;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.InspectableStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.ProcessBound;
import dev.latchkey.spi.SharedStore;
import dev.latchkey.spi.UnfencedStore;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Whether stores may be combined, what they can do together, and what whoever combines them should know. */
record MemberCapabilities(List<? extends PersistingStore> stores, Strategy strategy) {

    private static final Logger log = LoggerFactory.getLogger(CombinedStore.class);

    MemberCapabilities {
        int total = stores.size();
        if (total == 0) {
            throw new IllegalArgumentException("a combined store needs members: the list is empty");
        }
        if (Stream.of(stores.toArray()).distinct().count() < total) {
            throw new IllegalArgumentException(
                    "a combined store must not contain a member twice: each vote must come from another member");
        }
        stores.forEach(MemberCapabilities::checkFit);
        int quorum = VoteCount.quorum(strategy, total);
        if (!strategy.isMet(quorum, total) || 2 * quorum <= total) {
            throw new IllegalArgumentException(
                    "the strategy " + strategy.getClass().getSimpleName() + " is met by " + quorum + " of " + total
                            + " members: two keys could hold at once. It must take more than half");
        }
    }

    /** The others lose a hold at a known time, or give the next one a greater number. */
    private static void checkFit(PersistingStore store) {
        Optional<UnfencedStore> unfenced = store.capability(UnfencedStore.class);
        if (unfenced.isPresent() && store.capability(ExpiringStore.class).isEmpty()) {
            throw new IllegalArgumentException("a combined store cannot have a "
                    + store.getClass().getSimpleName()
                    + " as a member: its holds have neither a fencing token nor a lease, so nothing tells the writes of a holder"
                    + " whose connection broke from those of the next one. For fencing tokens, use "
                    + unfenced.get().alternative());
        }
    }

    List<Member> numbered() {
        List<Member> numbered = new ArrayList<>();
        stores.forEach(store -> numbered.add(new Member(numbered.size() + 1, store)));
        return List.copyOf(numbered);
    }

    /** Why keys cannot travel; empty if they can. */
    List<String> processBound() {
        return stores.stream()
                .flatMap(store -> store.capability(ProcessBound.class).stream())
                .map(ProcessBound::reason)
                .distinct()
                .toList();
    }

    Set<Class<?>> capabilities() {
        Set<Class<?>> capabilities = new HashSet<>(List.of(PersistingStore.class, CombinedStore.class));
        if (stores.stream()
                .anyMatch(store -> store.capability(ExpiringStore.class).isPresent())) {
            capabilities.add(ExpiringStore.class);
        }
        for (Class<?> ofAll : List.of(SharedStore.class, InspectableStore.class)) {
            if (stores.stream().allMatch(store -> store.capability(ofAll).isPresent())) {
                capabilities.add(ofAll);
            }
        }
        if (!processBound().isEmpty()) {
            capabilities.add(ProcessBound.class);
        }
        return Set.copyOf(capabilities);
    }

    /** Says what is allowed, and may not be what was meant. */
    void warnOf(Quorum quorum) {
        int total = stores.size();
        if (!strategy.canBeMet(1, total) && total > 1 && strategy instanceof ConsensusStrategy) {
            log.warn(
                    "lock.combined_survives_nothing members={}: a consensus needs 3 members to tolerate the failure of one",
                    total);
        } else if (total % 2 == 0 && strategy instanceof ConsensusStrategy) {
            log.warn("lock.combined_even members={}: one member less tolerates as many failures", total);
        }
        int unfit = total - quorum.fencing();
        if (!quorum.isUnanimous() && unfit > 0) {
            log.warn(
                    "lock.combined_unfenced members={} of {}: they cannot agree on fencing tokens, so some holds have none",
                    unfit,
                    total);
        }
        if (quorum.members().stream()
                .flatMap(member -> member.fencing().stream())
                .anyMatch(store -> store.survives() == Durability.BY_THE_CLOCK)) {
            log.debug("lock.combined_by_the_clock: tokens of members that lose their data grow by their clocks");
        }
    }
}
