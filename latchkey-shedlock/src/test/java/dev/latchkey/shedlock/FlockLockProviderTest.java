package dev.latchkey.shedlock;

import dev.latchkey.LockFactory;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/** A store without leases. */
class FlockLockProviderTest extends LockProviderContract {

    @TempDir
    private Path directory;

    @Override
    LockFactory connect() {
        return LockFactory.connect("flock://" + directory);
    }
}
