package dev.latchkey.etcd;

import com.google.protobuf.ByteString;
import java.util.Comparator;

/** All keys from the first one to the one before the last. */
record KeyRange(ByteString from, ByteString to) {

    private static final Comparator<ByteString> ORDER = ByteString.unsignedLexicographicalComparator();

    /** All keys that begin with a text that ends with a slash. */
    static KeyRange below(String prefix) {
        String next = prefix.substring(0, prefix.length() - 1) + (char) ('/' + 1);
        return new KeyRange(ByteString.copyFromUtf8(prefix), ByteString.copyFromUtf8(next));
    }

    boolean contains(ByteString key) {
        return ORDER.compare(from, key) <= 0 && ORDER.compare(key, to) < 0;
    }

    static KeyRange only(ByteString key) {
        return new KeyRange(key, key.concat(ByteString.copyFrom(new byte[1])));
    }
}
