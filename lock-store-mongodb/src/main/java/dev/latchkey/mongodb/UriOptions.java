package dev.latchkey.mongodb;

import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The options that a MongoDB URI may have. The driver ignores unknown options with a warning, and a lock would then be kept in
 * another place, or less safely, than the URI says.
 */
final class UriOptions {

    static final String COLLECTION = "collection";
    static final String ALLOWED_CLOCK_SKEW = "allowedClockSkewMS";

    /** The options of a connection string of driver 5.14, including deprecated ones that it still reads. */
    private static final Set<String> DRIVER = Set.of(
            "appName",
            "authMechanism",
            "authMechanismProperties",
            "authSource",
            "compressors",
            "connectTimeoutMS",
            "directConnection",
            "enableOverloadRetargeting",
            "gssapiServiceName",
            "heartbeatFrequencyMS",
            "journal",
            "loadBalanced",
            "localThresholdMS",
            "maxAdaptiveRetries",
            "maxConnecting",
            "maxIdleTimeMS",
            "maxLifeTimeMS",
            "maxPoolSize",
            "maxStalenessSeconds",
            "minPoolSize",
            "proxyHost",
            "proxyPassword",
            "proxyPort",
            "proxyUsername",
            "readConcernLevel",
            "readPreference",
            "readPreferenceTags",
            "replicaSet",
            "retryReads",
            "retryWrites",
            "safe",
            "serverMonitoringMode",
            "serverSelectionTimeoutMS",
            "socketTimeoutMS",
            "srvAllowedHostsSuffix",
            "srvMaxHosts",
            "srvServiceName",
            "ssl",
            "sslInvalidHostNameAllowed",
            "timeoutMS",
            "tls",
            "tlsAllowInvalidHostnames",
            "tlsInsecure",
            "uuidRepresentation",
            "w",
            "waitQueueTimeoutMS",
            "wTimeoutMS",
            "zlibCompressionLevel");

    private static final Set<String> KNOWN =
            DRIVER.stream().map(UriOptions::lowerCase).collect(Collectors.toUnmodifiableSet());

    private UriOptions() {}

    /** Refuses options that neither this store nor the driver knows. The driver ignores case. */
    static void check(String name) {
        if (!KNOWN.contains(lowerCase(name))) {
            Set<String> known = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
            known.addAll(DRIVER);
            known.add(COLLECTION);
            known.add(ALLOWED_CLOCK_SKEW);
            throw new IllegalArgumentException(
                    "unknown option \"" + name + "\" in the MongoDB URI; known are " + String.join(", ", known));
        }
    }

    private static String lowerCase(String name) {
        return name.toLowerCase(Locale.ROOT);
    }
}
