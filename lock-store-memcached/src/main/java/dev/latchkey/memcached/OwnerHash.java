package dev.latchkey.memcached;

import dev.latchkey.Key;
import java.util.Arrays;
import java.util.Base64;

/**
 * Who holds, as the server and the driver's log may see it: a hash of the token, which proves nothing. The server has no
 * rights to read apart from rights to write, and the driver writes the names of items into its log.
 *
 * @param id 22 characters of {@code A-Z a-z 0-9 - _}
 */
record OwnerHash(String id) {

    private static final int BYTES = 16;

    static OwnerHash of(Key key) {
        byte[] hash = Arrays.copyOf(Hash.of(key.token()), BYTES);
        return new OwnerHash(Base64.getUrlEncoder().withoutPadding().encodeToString(hash));
    }
}
