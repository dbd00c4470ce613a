package dev.latchkey.documents;

import java.util.Locale;

/** How far a two-phase transaction is. */
enum TransactionState {
    /** Written down; nothing else has happened. */
    NEW,
    /** Some documents may have been changed. */
    PENDING,
    /** All documents have been changed, and it will not be undone. */
    APPLIED,
    /** All is done, and the traces in the documents are gone. */
    DONE,
    /** Some documents may have been changed; that is being undone, and no further one is changed. */
    CANCELING,
    /** All that was changed has been undone. */
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
