package dev.latchkey.etcd;

import com.google.protobuf.ByteString;
import dev.latchkey.spi.LocalProcess;
import java.util.Optional;

/** Who holds or waits, for people: the owner name of its factory, or else its process. */
final class OwnerText {

    private OwnerText() {}

    static String of(String owner) {
        return owner.isEmpty() ? LocalProcess.description() : owner;
    }

    /** The value of the key of one who waits. */
    static ByteString value(String owner) {
        return ByteString.copyFromUtf8(of(owner));
    }

    /** Nothing for a key that an earlier version has written. */
    static Optional<String> parse(ByteString value) {
        return Optional.of(value.toStringUtf8()).filter(text -> !text.isEmpty());
    }
}
