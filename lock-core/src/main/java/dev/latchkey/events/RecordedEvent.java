package dev.latchkey.events;

import dev.latchkey.LockMode;

/** What the flight recorder is told when it ends. */
interface RecordedEvent {

    /** A call that asks for a lock. */
    interface Acquire {

        void end(String resource, LockMode mode, long waitedNanos, String outcome);
    }

    /** A hold. */
    interface Hold {

        void end(String end);
    }

    /** A call to the store. */
    interface Call {

        void end(String operation, String outcome);
    }
}
