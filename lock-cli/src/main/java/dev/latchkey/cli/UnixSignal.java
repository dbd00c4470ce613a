package dev.latchkey.cli;

/** A signal that is acted on, with its number on every Unix. */
enum UnixSignal {
    HUP(1),
    INT(2),
    QUIT(3),
    TERM(15);

    private final int number;

    UnixSignal(int number) {
        this.number = number;
    }

    /** What a shell reports of a process that died by this signal. */
    int exitCode() {
        return 128 + number;
    }
}
