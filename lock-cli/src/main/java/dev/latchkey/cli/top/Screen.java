package dev.latchkey.cli.top;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import java.util.List;
import org.jline.terminal.Attributes;
import org.jline.terminal.Attributes.ControlChar;
import org.jline.terminal.Attributes.InputFlag;
import org.jline.terminal.Attributes.LocalFlag;
import org.jline.terminal.Size;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;
import org.jline.utils.AttributedString;
import org.jline.utils.InfoCmp.Capability;

/** The terminal while it shows the view. Closing gives it back as it was. Not thread-safe. */
public final class Screen implements AutoCloseable {

    private static final int USUAL_HEIGHT = 24;
    private static final int USUAL_WIDTH = 80;

    private final Terminal terminal;
    private final Attributes before;

    /** What each line shows now; what is beyond is unknown. */
    private List<AttributedString> drawn = List.of();

    private Screen(Terminal terminal) {
        this.terminal = terminal;
        before = terminal.getAttributes();
        take();
    }

    private void take() {
        // In one change. The raw mode of JLine 3.30 waits a tenth of a second for a key: without one, the keyboard
        // seems to have ended.
        Attributes attributes = terminal.getAttributes();
        attributes.setLocalFlags(EnumSet.of(LocalFlag.ICANON, LocalFlag.ECHO, LocalFlag.IEXTEN), false);
        attributes.setInputFlags(EnumSet.of(InputFlag.IXON, InputFlag.ICRNL, InputFlag.INLCR), false);
        attributes.setControlChar(ControlChar.VMIN, 1);
        attributes.setControlChar(ControlChar.VTIME, 0);
        // Control-Z: a process that stops now would leave the terminal to the shell as it is.
        attributes.setControlChar(ControlChar.VSUSP, 0);
        terminal.setAttributes(attributes);
        terminal.puts(Capability.enter_ca_mode);
        terminal.puts(Capability.cursor_invisible);
        // A character that is wider than we think must not move the end of its line to the next one.
        terminal.puts(Capability.exit_am_mode);
        clear();
    }

    /**
     * Takes the terminal at stdin and stdout. The signals of this process stay as they are, but for {@code WINCH} and
     * {@code CONT}.
     *
     * @param onResize called, on a thread of the JVM, when the terminal has another size, or a shell may have used it
     * @return the screen, empty until it is drawn
     * @throws IOException if there is no terminal
     */
    public static Screen open(Runnable onResize) throws IOException {
        // Its way to read without blocking changes the terminal again, on the thread that reads, also when it was given
        // back.
        System.setProperty(TerminalBuilder.PROP_NON_BLOCKING_READS, "false");
        Terminal terminal = TerminalBuilder.builder()
                .system(true)
                .provider("exec")
                .dumb(false)
                .encoding(StandardCharsets.UTF_8)
                .nativeSignals(false)
                .build();
        try {
            Screen screen = new Screen(terminal);
            for (Terminal.Signal signal : List.of(Terminal.Signal.WINCH, Terminal.Signal.CONT)) {
                Object unused = terminal.handle(signal, ignored -> onResize.run());
            }
            return screen;
        } catch (RuntimeException | Error e) {
            terminal.close();
            throw e;
        }
    }

    /**
     * Returns the keyboard, which another thread may read.
     *
     * @return the keys that are pressed
     */
    public Keyboard keyboard() {
        return new Keyboard(terminal.reader());
    }

    /** Forgets what is drawn, as after a message of another program. */
    public void clear() {
        drawn = List.of();
        terminal.puts(Capability.clear_screen);
    }

    /**
     * Draws what has changed.
     *
     * @param view what to show
     * @param size that of the terminal
     * @return false if nobody reads the terminal any more
     */
    public boolean draw(TopView view, Size size) {
        List<AttributedString> lines = view.lines(size.getRows(), size.getColumns(), System.nanoTime());
        for (int i = 0; i < lines.size(); i++) {
            if (i >= drawn.size() || !lines.get(i).equals(drawn.get(i))) {
                // Each at its own place: a character that is wider than we think moves what follows it in its line
                // alone.
                terminal.puts(Capability.cursor_address, i, 0);
                terminal.writer().write(lines.get(i).toAnsi(terminal));
                terminal.puts(Capability.clr_eol);
            }
        }
        drawn = lines;
        return !terminal.writer().checkError();
    }

    /**
     * Takes the terminal anew, and asks for its size, which takes some milliseconds.
     *
     * @return the size
     */
    public Size measure() {
        Size told = terminal.getSize();
        Size size = told.getRows() > 0 && told.getColumns() > 0 ? told : new Size(USUAL_WIDTH, USUAL_HEIGHT);
        take();
        return size;
    }

    @Override
    public void close() {
        terminal.puts(Capability.enter_am_mode);
        terminal.puts(Capability.cursor_normal);
        terminal.puts(Capability.exit_ca_mode);
        terminal.flush();
        terminal.setAttributes(before);
        try {
            terminal.close();
        } catch (IOException e) {
            // It is as it was before.
        }
    }
}
