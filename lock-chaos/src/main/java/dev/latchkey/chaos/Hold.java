package dev.latchkey.chaos;

import dev.latchkey.LockMode;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

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
    private final List<Answer> answers = new ArrayList<>();
    private long ended = NEVER;
    private long lost = NEVER;
    private long released = NEVER;
    private boolean foundByRelease = true;

    Hold(String id, String resource, LockMode mode, OptionalLong token, Answer granted) {
        this.id = id;
        this.resource = resource;
        this.mode = mode;
        this.token = token;
        answers.add(granted);
    }

    void kept(Answer answer) {
        answers.add(answer);
    }

    void ended(long at) {
        ended = Math.min(ended, at);
    }

    void lost(long at) {
        lost = Math.min(lost, at);
    }

    void released(long at, boolean wasHeld) {
        released = at;
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

    long granted() {
        return answers.get(0).at();
    }

    List<Answer> answers() {
        return answers;
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
