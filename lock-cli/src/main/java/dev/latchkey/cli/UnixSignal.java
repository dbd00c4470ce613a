package dev.latchkey.cli;

import java.util.Arrays;
import java.util.Optional;

/**
 * The signals that are handled, with their numbers on Linux. Those of the first four, TERM and ALRM are the same on
 * every Unix.
 */
enum UnixSignal {
    HUP(1),
    INT(2),
    QUIT(3),
    USR1(10),
    USR2(12),
    ALRM(14),
    TERM(15),
    XCPU(24),
    VTALRM(26),
    PROF(27),
    IO(29),
    PWR(30);

    private final int number;

    UnixSignal(int number) {
        this.number = number;
    }

    /** Returns the signal that killed a process, by what a shell reports. */
    static Optional<UnixSignal> of(int exitCode) {
        return Arrays.stream(values())
                .filter(signal -> signal.exitCode() == exitCode)
                .findFirst();
    }

    /** Returns its bit in a set of signals of the kernel. */
    long bit() {
        return 1L << (number - 1);
    }

    /** Returns what a shell reports for a process that was killed by this signal. */
    int exitCode() {
        return 128 + number;
    }
}
