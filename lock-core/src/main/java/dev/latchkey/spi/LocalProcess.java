package dev.latchkey.spi;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;

/** This process, for stores that record who holds a lock: see {@link Holder#description()}. */
public final class LocalProcess {

    private static final int LONGEST = 100;
    private static final Pattern UNUSUAL = Pattern.compile("[^A-Za-z0-9_.-]");

    /** Found out when the class is first used, because it may ask a name server. */
    private static final String DESCRIPTION = describe();

    private static final String OWNER_NAME = describeOwner();

    private LocalProcess() {}

    /**
     * Returns the process and its host, for example {@code 4711@host}. The first call may ask a name server.
     *
     * @return at most 100 letters, digits and characters of {@code @_.-}; the same at each call
     */
    public static String description() {
        return DESCRIPTION;
    }

    /**
     * Returns the host and this process, for example {@code host/4711}: what a factory is called that was given no owner
     * name. The first call may ask a name server.
     *
     * @return at most 100 letters, digits and characters of {@code /_.-}; the same at each call
     */
    public static String ownerName() {
        return OWNER_NAME;
    }

    private static String describeOwner() {
        String pid = "/" + ProcessHandle.current().pid();
        String host = UNUSUAL.matcher(host()).replaceAll("_");
        return host.substring(0, Math.min(LONGEST - pid.length(), host.length())) + pid;
    }

    private static String describe() {
        String host = UNUSUAL.matcher(host()).replaceAll("_");
        String whole = ProcessHandle.current().pid() + "@" + host;
        return whole.substring(0, Math.min(LONGEST, whole.length()));
    }

    /** The kernel knows it without a name server, on Linux. */
    private static String host() {
        try {
            String known =
                    Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
            return known.isEmpty() ? hostByName() : known;
        } catch (IOException e) {
            return hostByName();
        }
    }

    private static String hostByName() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return "unknown-host";
        }
    }
}
