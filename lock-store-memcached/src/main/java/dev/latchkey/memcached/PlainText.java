package dev.latchkey.memcached;

import java.nio.charset.StandardCharsets;
import net.spy.memcached.CachedData;
import net.spy.memcached.transcoders.Transcoder;

/** Values as plain text, whatever transcoder a client of the application has. */
final class PlainText implements Transcoder<String> {

    static final PlainText PLAIN = new PlainText();

    private static final int NO_FLAGS = 0;

    private PlainText() {}

    @Override
    public boolean asyncDecode(CachedData data) {
        return false;
    }

    @Override
    public CachedData encode(String text) {
        return new CachedData(NO_FLAGS, text.getBytes(StandardCharsets.UTF_8), getMaxSize());
    }

    @Override
    public String decode(CachedData data) {
        return new String(data.getData(), StandardCharsets.UTF_8);
    }

    @Override
    public int getMaxSize() {
        return CachedData.MAX_SIZE;
    }
}
