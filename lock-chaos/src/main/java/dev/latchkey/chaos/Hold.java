package dev.latchkey.chaos;

import dev.latchkey.LockMode;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** One hold, as its holder wrote it down. Changed only while the {@link History} is read. */
final class Hold {

    /** The time of what has not happened. */
    static final long NEVER = Long.MAX_VALUE;

    /** The store was asked about the hold at one time, and answered at another; {@code until} bounds it from then on. */
    record Answer(long asked, long at, long until) {}

    private final String id;
    private final String resource;
    private final LockMode mode;
    private final OptionalLong token;
    /** As long as it has the same mode. */
    private final List<Answer> answers = new ArrayList<>();
    /** This one in the mode before, if that was another, or before its key was given away. */
    private @Nullable Hold before;

    private @Nullable Hold next;
    private long ended = NEVER;
    private long lost = NEVER;
    private long released = NEVER;
    private boolean foundByRelease = true;
    private long transferred = NEVER;
    private boolean believedAfterTransfer;

    Hold(String id, String resource, LockMode mode, OptionalLong token, Answer granted) {
        this(id, resource, mode, token, granted, null);
    }

    private Hold(String id, String resource, LockMode mode, OptionalLong token, Answer granted, @Nullable Hold before) {
        this.id = id;
        this.resource = resource;
        this.mode = mode;
        this.token = token;
        this.before = before;
        answers.add(granted);
    }

    /**
     * It is promoted or demoted: it ends as what it was, and goes on as another, which is returned. What is promoted was held
     * until then, however long that took: the lease may have been renewed meanwhile.
     */
    Hold changed(String newId, LockMode newMode, OptionalLong newToken, Answer granted) {
        if (newMode == LockMode.EXCLUSIVE) {
            kept(new Answer(granted.asked(), granted.at(), granted.at()));
        }
        ended(granted.at());
        next = new Hold(newId, resource, newMode, newToken, granted, this);
        return next;
    }

    /** Its key is given away, and it with it. */
    void transferred(long at) {
        ended(at);
        transferred = at;
    }

    /** Who was given its key has found it held: nobody else can have had it until then, though the giver believed in nothing. */
    void goesOnAs(Hold receiver) {
        answers.add(new Answer(receiver.asked(), receiver.granted(), receiver.granted()));
        ended = receiver.granted();
        next = receiver;
        receiver.before = this;
    }

    void kept(Answer answer) {
        answers.add(answer);
        believedAfterTransfer |= transferred != NEVER;
    }

    void ended(long at) {
        ended = Math.min(ended, at);
    }

    void lost(long at) {
        lost = Math.min(lost, at);
        believedAfterTransfer |= transferred != NEVER;
    }

    void released(long at, boolean wasHeld) {
        released = at;
        believedAfterTransfer |= transferred != NEVER && wasHeld;
        foundByRelease = wasHeld;
    }

    String id() {
        return id;
    }

    String resource() {
        return resource;
    }

    boolean isExclusive() {
        return mode == LockMode.EXCLUSIVE;
    }

    OptionalLong token() {
        return token;
    }

    /** The name of the process, which all its holds begin with. */
    String process() {
        return id.substring(0, id.indexOf('.'));
    }

    long asked() {
        return answers.get(0).asked();
    }

    /** When it was asked for, in whatever mode it was at first. */
    long begun() {
        return before == null ? asked() : before.begun();
    }

    /** Whether it was promoted or demoted to be what it is. */
    boolean isChanged() {
        return before != null && before.transferred == NEVER;
    }

    /** Whose key it was given; null if it was asked for here. */
    @Nullable Hold giver() {
        return before == null || before.transferred == NEVER ? null : before;
    }

    boolean isTransferred() {
        return transferred != NEVER;
    }

    /** Whether its holder, who had given its key away, kept it, was told that it was lost, or found it as it released it. */
    boolean isBelievedAfterTransfer() {
        return believedAfterTransfer;
    }

    /** This one, or what it was promoted or demoted to, or received as, in the end. */
    Hold last() {
        return next == null ? this : next.last();
    }

    long granted() {
        return answers.get(0).at();
    }

    /** Those in the modes before included. */
    Stream<Answer> answers() {
        return before == null ? answers.stream() : Stream.concat(before.answers(), answers.stream());
    }

    /** When the holder gave it up: before it asked the store to. */
    long ended() {
        return ended;
    }

    /** When the holder was told of its loss. */
    long lost() {
        return lost;
    }

    /** When the store had answered its release. */
    long released() {
        return released;
    }

    /** Whether it was there still, as the store answered its release. */
    boolean foundByRelease() {
        return foundByRelease;
    }

    /** When it was given up, or said to be lost. */
    long knownEnd() {
        return Math.min(ended, lost);
    }

    /** The end of its lease, as it was said last. */
    long leaseEnd() {
        return answers.get(answers.size() - 1).until();
    }

    /** The last time at which its holder looked and found it to be its own. */
    long lastSeen() {
        return ended == NEVER ? answers.get(answers.size() - 1).at() : ended;
    }
}
