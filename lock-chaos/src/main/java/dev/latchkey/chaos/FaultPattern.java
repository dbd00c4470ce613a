package dev.latchkey.chaos;

import java.io.IOException;
import java.util.List;

/** Which faults strike when, and for how long. The same pattern strikes the same faults, as far as the machine lets it. */
interface FaultPattern {

    /**
     * Strikes until it is over; when this returns, all is well again.
     *
     * @param store what is struck
     * @param places of processes
     * @param log of what struck when
     * @throws IOException if something cannot be written
     * @throws InterruptedException if interrupted
     */
    void strike(StoreUnderTest store, List<WorkerSlot> places, EventLog log) throws IOException, InterruptedException;
}
