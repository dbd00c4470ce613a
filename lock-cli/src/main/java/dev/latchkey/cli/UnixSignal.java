package dev.latchkey.cli;

/** A signal that is acted on, with its number on Linux; of the first four and of TERM and ALRM it is the same on every Unix. */
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

    /** What a shell reports of a process that died by this signal. */
    int exitCode() {
        return 128 + number;
    }
}
