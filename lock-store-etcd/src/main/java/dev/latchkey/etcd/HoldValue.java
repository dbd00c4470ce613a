package dev.latchkey.etcd;

import com.google.protobuf.ByteString;
import java.time.Duration;
import java.util.Optional;

/**
 * What is stored with a hold.
 *
 * @param end how long after the request for its lease the hold ends: its TTL, and the age of the lease when it was acquired
 * @param holder the process, for people
 */
record HoldValue(Duration end, Optional<String> holder) {

    ByteString bytes() {
        return ByteString.copyFromUtf8(end.toNanos() + " " + holder.orElse(""));
    }

    /** One that somebody else has written ends with its lease. */
    static HoldValue parse(ByteString bytes) {
        String[] words = bytes.toStringUtf8().split(" ", 2);
        try {
            return new HoldValue(
                    Duration.ofNanos(Long.parseLong(words[0])),
                    Optional.of(words[words.length - 1]).filter(word -> words.length == 2 && !word.isEmpty()));
        } catch (NumberFormatException e) {
            return new HoldValue(Duration.ZERO, Optional.empty());
        }
    }
}
