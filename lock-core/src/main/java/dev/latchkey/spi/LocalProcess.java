package dev.latchkey.spi;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.regex.Pattern;

/** This process, for stores that record who holds a lock: see {@link Holder#description()}. */
public final class LocalProcess {

    private static final int LONGEST = 100;
    private static final Pattern UNUSUAL = Pattern.compile("[^A-Za-z0-9_.-]");

    /** Found out when the class is first used, because it may ask a name server. */
    private static final String DESCRIPTION = describe();

    private LocalProcess() {}

    /**
     * Returns the process and its host, for example {@code 4711@host}. The first call may ask a name server.
     *
     * @return at most 100 letters, digits and characters of {@code @_.-}; the same at each call
     */
    public static String description() {
        return DESCRIPTION;
    }

    private static String describe() {
        String host = UNUSUAL.matcher(host()).replaceAll("_");
        String whole = ProcessHandle.current().pid() + "@" + host;
        return whole.substring(0, Math.min(LONGEST, whole.length()));
    }

    private static String host() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return "unknown-host";
        }
    }
}
