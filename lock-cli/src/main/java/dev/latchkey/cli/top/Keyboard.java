package dev.latchkey.cli.top;

import dev.latchkey.cli.top.Keystroke.Kind;
import java.io.IOException;
import org.jline.utils.NonBlockingReader;

/** Reads keys. Those that type nothing arrive as an escape sequence, which a terminal sends at once. Not thread-safe. */
public final class Keyboard {

    private static final int ESCAPE = 27;
    private static final int BACKSPACE = 8;
    private static final int CONTROL_L = 12;
    private static final int DELETE = 127;

    /** An escape that is followed by nothing for this long was typed. */
    private static final long SEQUENCE_MILLIS = 100;

    private static final int LONGEST_SEQUENCE = 16;

    /** Without a limit, JLine holds while it reads what it needs to give the terminal back: closing would wait for a key. */
    private static final long LONGEST_READ_MILLIS = 60_000;

    private final NonBlockingReader reader;

    Keyboard(NonBlockingReader reader) {
        this.reader = reader;
    }

    /**
     * Waits for the next key.
     *
     * @return it; {@link Kind#END_OF_INPUT} if there is none any more
     */
    public Keystroke next() {
        try {
            int read;
            do {
                read = reader.read(LONGEST_READ_MILLIS);
            } while (read == NonBlockingReader.READ_EXPIRED);
            return keystroke(read);
        } catch (IOException e) {
            return Keystroke.of(Kind.END_OF_INPUT);
        }
    }

    private Keystroke keystroke(int read) throws IOException {
        return switch (read) {
            case NonBlockingReader.EOF -> Keystroke.of(Kind.END_OF_INPUT);
            case ESCAPE -> Keystroke.of(afterEscape());
            case '\r', '\n' -> Keystroke.of(Kind.ENTER);
            case BACKSPACE, DELETE -> Keystroke.of(Kind.BACKSPACE);
            case CONTROL_L -> Keystroke.of(Kind.REDRAW);
            default ->
                Character.isISOControl(read) ? Keystroke.of(Kind.OTHER) : new Keystroke(Kind.CHARACTER, (char) read);
        };
    }

    private Kind afterEscape() throws IOException {
        int next = reader.peek(SEQUENCE_MILLIS);
        if (next != '[' && next != 'O') {
            return Kind.ESCAPE;
        }
        int unused = reader.read();
        StringBuilder sequence = new StringBuilder();
        while (sequence.length() < LONGEST_SEQUENCE) {
            int part = reader.read(SEQUENCE_MILLIS);
            if (part < 0) {
                return Kind.OTHER;
            }
            sequence.append((char) part);
            if (part >= '@' && part <= '~') {
                break;
            }
        }
        return kind(sequence.toString());
    }

    private static Kind kind(String sequence) {
        return switch (sequence) {
            case "A" -> Kind.UP;
            case "B" -> Kind.DOWN;
            case "H", "1~", "7~" -> Kind.HOME;
            case "F", "4~", "8~" -> Kind.END;
            case "5~" -> Kind.PAGE_UP;
            case "6~" -> Kind.PAGE_DOWN;
            default -> Kind.OTHER;
        };
    }
}
