package dev.latchkey.memcached;

/**
 * An item that shows by being there that something lasts: a reader's hold, or a reader's wait to become the writer. Its
 * TTL alone ends it, so that the server's clock decides for each reader.
 */
record MarkerItem(Kind kind, OwnerHash owner) {

    enum Kind {
        READS("r"),
        PROMOTES("p");

        private final String letter;

        Kind(String letter) {
            this.letter = letter;
        }

        String letter() {
            return letter;
        }
    }
}
