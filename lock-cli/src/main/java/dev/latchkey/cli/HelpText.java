package dev.latchkey.cli;

/** Text of more than one help page. Percent signs are doubled, because picocli formats it. */
final class HelpText {

    static final String DURATIONS = "Durations: 500ms, 30s, 5m, 1h30m, PT30S, or plain seconds such as 2.5.";

    /** The end of the text keeps the two spaces before each line. */
    static final String FAILURES = """
              64          the command line is wrong, or asks what the store cannot do
              69          the store cannot be reached, or failed
              70          a defect of lock
              77          the store refuses the password, the user or the permission\
            """;

    static final String CONFLICT = "  75          somebody else holds the lock (-E changes it, -x makes it 0)";

    static final String KEY_SOURCES = """
            The key is what lock acquire printed. Without the argument it is the variable
            LATCHKEY_KEY; with - it is the first line of stdin. An argument shows in the
            process list, and whoever has the key can release the lock: prefer the others.""";

    private HelpText() {}
}
