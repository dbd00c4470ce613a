package dev.latchkey.redis;

import dev.latchkey.spi.Request;

/** The script requests of one acquire that may wait, for a lock or for permits. */
interface AttemptRequests {

    /** Returns the name of this attempt, by which messages name it. */
    String attempt();

    /** Returns the name of what is acquired, by which failures name it, and which the channel of a cluster is for. */
    String resource();

    /** Returns what is asked for. */
    Request request();

    /** Whether a release by another waiter of this store can take this one along. */
    boolean canBeTakenAlong();

    /** Returns what stands for this attempt in the queue on the server, if it can be taken along. */
    String member(NotificationChannel.Push push);

    /** Acquires, or joins the queue, or keeps the place that the ticket names. */
    ScriptRequest acquire(long ticket, NotificationChannel.Push push);

    /** The same for a waiter that polled until now and can be notified from now on. */
    ScriptRequest acquireListening(long ticket, NotificationChannel.Push push);

    /** Leaves the queue, and undoes what was granted. */
    ScriptRequest cancel();
}
