package dev.latchkey.jdbc;

import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A JDBC URL, with the credentials apart if the DSN had them before the host. No message repeats any of it. */
record Dsn(String url, Optional<String> user, Optional<String> password, ReleaseCommit releases) {

    /** An {@code @} behind the slashes and before what ends a host; Oracle has its own before the slashes. */
    private static final Pattern CREDENTIALS = Pattern.compile("^jdbc:[a-z0-9:+]+://[^/?;]*@");

    /** The one option that is the store's, and not the driver's. */
    private static final Pattern DURABLE_RELEASE = Pattern.compile("(?<=[?&;])durable-release=([^&;]*)(?:[&;]|$)");

    static Dsn parse(String dsn) {
        Matcher durable = DURABLE_RELEASE.matcher(dsn);
        if (!durable.find()) {
            return parse(dsn, ReleaseCommit.ASYNCHRONOUS);
        }
        String rest = durable.replaceFirst("").replaceFirst("[?&;]$", "");
        return switch (durable.group(1)) {
            case "true" -> parse(rest, ReleaseCommit.DURABLE);
            case "false" -> parse(rest, ReleaseCommit.ASYNCHRONOUS);
            default -> throw new IllegalArgumentException("durable-release must be true or false");
        };
    }

    private static Dsn parse(String dsn, ReleaseCommit releases) {
        if (dsn.startsWith("jdbc:")) {
            checkAuthority(dsn);
            return new Dsn(dsn, Optional.empty(), Optional.empty(), releases);
        }
        try {
            return of(new URI(dsn), releases);
        } catch (URISyntaxException e) {
            // Its message and its input hold the password.
            throw wrong(dsn);
        }
    }

    /** Drivers do not read credentials there, and some print what they cannot read. */
    private static void checkAuthority(String url) {
        if (CREDENTIALS.matcher(url).find()) {
            throw new IllegalArgumentException(
                    "a JDBC URL has no credentials before the host: write them as options, as in"
                            + " jdbc:postgresql://host/database?user=…&password=…, or use the form"
                            + " postgresql://user:password@host/database");
        }
    }

    private static Dsn of(URI uri, ReleaseCommit releases) {
        if (uri.getHost() == null
                || uri.getRawPath() == null
                || uri.getRawPath().length() < 2) {
            throw wrong(uri.toString());
        }
        String port = uri.getPort() < 0 ? "" : ":" + uri.getPort();
        String options = uri.getRawQuery() == null ? "" : "?" + uri.getRawQuery();
        String url = "jdbc:" + uri.getScheme() + "://" + uri.getHost() + port + uri.getRawPath() + options;
        String[] credentials =
                Optional.ofNullable(uri.getRawUserInfo()).orElse("").split(":", 2);
        return new Dsn(
                url,
                Optional.of(decoded(credentials[0])).filter(user -> !user.isEmpty()),
                credentials.length == 2 ? Optional.of(decoded(credentials[1])) : Optional.empty(),
                releases);
    }

    /** A plus sign is a plus sign in this part of an address. */
    private static String decoded(String text) {
        return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
    }

    private static IllegalArgumentException wrong(String dsn) {
        String scheme = dsn.split(":", 2)[0];
        return new IllegalArgumentException("a DSN that begins with " + scheme + ": names a host and a database, as in "
                + scheme + "://user:password@host/database; special characters in the password are written as %XX");
    }

    /** Without credentials. */
    @Override
    public String toString() {
        return "Dsn[" + url.split("[:/?]", 4)[1] + "]";
    }
}
