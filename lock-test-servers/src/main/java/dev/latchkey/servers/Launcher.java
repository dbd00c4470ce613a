package dev.latchkey.servers;

import java.nio.file.Path;
import java.util.List;

/** One way to run a server program on this machine: as a process, or in a container. */
interface Launcher {

    /**
     * Starts the program; does not wait until it is ready.
     *
     * @param directory the only place where it writes
     * @param arguments of the program, without its name
     */
    Launched launch(Path directory, List<String> arguments);

    /** Says what is run, for messages. */
    @Override
    String toString();

    /** A program that was started. */
    interface Launched {

        boolean isAlive();

        /** Ends it and its children as a power failure would, frozen or not, and waits until they are gone. */
        void kill();

        void freeze();

        void thaw();

        /** All that it printed. */
        String log();
    }
}
