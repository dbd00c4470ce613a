package dev.latchkey.zookeeper;

import org.jspecify.annotations.Nullable;

/** What a node in line stands for. */
enum NodeKind {
    /** One who holds exclusively or waits to. */
    WRITER('x'),
    /** One who shares or waits to. */
    READER('r'),
    /** One who shares and waits to hold exclusively, or does. */
    PROMOTER('p'),
    /** As a promoter, but of one who does not wait: it never keeps another one from waiting. */
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
