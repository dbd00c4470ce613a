package dev.latchkey.mongodb;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.regex.Pattern;

/** Who this process is, for people who look into the collection. */
final class ThisProcess {

    private static final int LONGEST = 100;
    private static final Pattern UNUSUAL = Pattern.compile("[^A-Za-z0-9_.-]");

    private ThisProcess() {}

    /** As {@code 4711@host}. */
    static String description() {
        return Known.DESCRIPTION;
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

    /** Asked when it is first needed: it may ask a name server. */
    private static final class Known {
        static final String DESCRIPTION = describe();
    }
}
