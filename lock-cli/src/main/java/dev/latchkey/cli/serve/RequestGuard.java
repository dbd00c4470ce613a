package dev.latchkey.cli.serve;

import com.sun.net.httpserver.Headers;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Refuses requests that a foreign page has made a browser send: those to another name than our own, which an attacker's name server may
 * have pointed here, and those that come from another origin.
 */
final class RequestGuard {

    private static final Pattern IPV6 = Pattern.compile("\\[([0-9a-f:.]+)](.*)");

    private final List<String> hosts;

    RequestGuard(List<String> hosts) {
        this.hosts = hosts.stream()
                .map(host -> comparable(host.toLowerCase(Locale.ROOT)))
                .toList();
    }

    /** Returns why the request is refused; empty if it is not. */
    Optional<String> refusal(Headers headers, InetSocketAddress local, boolean isData) {
        List<String> named = headers.getOrDefault("Host", List.of());
        if (named.size() != 1 || !isOwn(comparable(named.get(0).toLowerCase(Locale.ROOT)), local)) {
            return Optional.of("this Host is not ours; name it with --host if it is");
        }
        String host = named.get(0).toLowerCase(Locale.ROOT);
        for (String origin : headers.getOrDefault("Origin", List.of())) {
            String lower = origin.toLowerCase(Locale.ROOT);
            if (!lower.equals("http://" + host) && !lower.equals("https://" + host)) {
                return Optional.of("requests of another Origin are refused");
            }
        }
        String site = headers.getFirst("Sec-Fetch-Site");
        if (isData && site != null && !site.equals("same-origin") && !site.equals("none")) {
            return Optional.of("requests of another site are refused");
        }
        return Optional.empty();
    }

    private boolean isOwn(String host, InetSocketAddress local) {
        int port = local.getPort();
        String address = comparable(literal(local.getAddress()));
        return isAt(host, address, port)
                || (local.getAddress().isLoopbackAddress() && isAt(host, "localhost", port))
                || hosts.contains(host)
                || hosts.stream().anyMatch(own -> isAt(host, own, port));
    }

    private static boolean isAt(String host, String name, int port) {
        return host.equals(name + ":" + port) || (port == 80 && host.equals(name));
    }

    /** An IPv6 address has many forms: this is one of them. All else is left as it is, and nothing is asked of a name server. */
    private static String comparable(String host) {
        Matcher literal = IPV6.matcher(host);
        if (!literal.matches()) {
            return host;
        }
        try {
            // In brackets, it is taken as an address only.
            return "[" + InetAddress.getByName("[" + literal.group(1) + "]").getHostAddress() + "]" + literal.group(2);
        } catch (UnknownHostException e) {
            return host;
        }
    }

    /** As it stands in a URL. */
    static String literal(InetAddress address) {
        String text = address.getHostAddress().replaceFirst("%.*", "");
        if (address instanceof Inet6Address) {
            return "[" + text.replaceFirst("^0:0:0:0:0:0:0:1$", "::1") + "]";
        }
        return text;
    }
}
