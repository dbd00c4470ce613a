package dev.latchkey.cli.serve;

import com.sun.net.httpserver.Headers;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Refuses requests that a foreign page has made a browser send: those to another name than our own, which an attacker's name server may
 * have pointed here, and those that come from another origin.
 */
final class RequestGuard {

    private final List<String> hosts;

    RequestGuard(List<String> hosts) {
        this.hosts = hosts.stream().map(host -> host.toLowerCase(Locale.ROOT)).toList();
    }

    /** Returns why the request is refused; empty if it is not. */
    Optional<String> refusal(Headers headers, InetSocketAddress local, boolean isData) {
        List<String> named = headers.getOrDefault("Host", List.of());
        if (named.size() != 1 || !isOwn(named.get(0).toLowerCase(Locale.ROOT), local)) {
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
        String address = literal(local.getAddress());
        return isAt(host, address, port)
                || (local.getAddress().isLoopbackAddress() && isAt(host, "localhost", port))
                || hosts.contains(host)
                || hosts.stream().anyMatch(own -> isAt(host, own, port));
    }

    private static boolean isAt(String host, String name, int port) {
        return host.equals(name + ":" + port) || (port == 80 && host.equals(name));
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
