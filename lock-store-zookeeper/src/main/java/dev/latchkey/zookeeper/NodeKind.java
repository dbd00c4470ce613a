package dev.latchkey.zookeeper;

import org.jspecify.annotations.Nullable;

/** What a node in a queue stands for. */
enum NodeKind {
    /** Holds exclusively, or waits to. */
    WRITER('x'),
    /** Holds shared, or waits to. */
    READER('r'),
    /** Holds shared and waits to be promoted, or is promoted. */
    PROMOTER('p'),
    /** As a promoter, but does not wait: it never makes another promoter be refused. */
    TRIAL('t');

    private final char letter;

    NodeKind(char letter) {
        this.letter = letter;
    }

    char letter() {
        return letter;
    }

    boolean isPromotion() {
        return this == PROMOTER || this == TRIAL;
    }

    static @Nullable NodeKind of(char letter) {
        for (NodeKind kind : values()) {
            if (kind.letter == letter) {
                return kind;
            }
        }
        return null;
    }
}
