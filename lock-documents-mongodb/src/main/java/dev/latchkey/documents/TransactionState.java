package dev.latchkey.documents;

import java.util.Locale;

/** The state of a two-phase transaction. */
enum TransactionState {
    /** Stored; nothing else has happened. */
    NEW,
    /** Some documents may have been changed. */
    PENDING,
    /** All documents have been changed, and will not be changed back. */
    APPLIED,
    /** All documents have been changed, and the marks in them are removed. */
    DONE,
    /** Some documents may have been changed. They are being changed back, and no other document is changed. */
    CANCELING,
    /** All changes have been undone. */
    CANCELED;

    String stored() {
        return name().toLowerCase(Locale.ROOT);
    }

    static TransactionState of(String stored) {
        return valueOf(stored.toUpperCase(Locale.ROOT));
    }

    boolean isOver() {
        return this == DONE || this == CANCELED;
    }
}
