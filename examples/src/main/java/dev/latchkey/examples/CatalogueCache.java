package dev.latchkey.examples;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * A file that many processes read and seldom one has to make again: readers share the lock, and one of those that find no
 * file becomes the writer without letting go.
 *
 * <p>{@code CatalogueCache DSN FILE NAME}, several of them with the same file; each line of input makes it read. What to see:
 *
 * <ul>
 *   <li>While there is a file all read it, at the same time.
 *   <li>Without one, a single process makes it, however many ask at once; the others wait, and read what it made.
 *   <li>Nobody sees half a file, though it is written in place.
 * </ul>
 */
public final class CatalogueCache {

    private final LockFactory locks;
    private final Path file;
    private final String name;

    private CatalogueCache(LockFactory locks, Path file, String name) {
        this.locks = locks;
        this.file = file;
        this.name = name;
    }

    /**
     * Reads once for each line of input.
     *
     * @param args the DSN, the file, and who reads
     * @throws Exception if the store or the file cannot be used
     */
    public static void main(String[] args) throws Exception {
        try (LockFactory locks = LockFactory.connect(args[0]);
                BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            CatalogueCache cache = new CatalogueCache(locks, Path.of(args[1]), args[2]);
            while (in.readLine() != null) {
                System.out.println(cache.read());
            }
        }
    }

    private String read() throws IOException, InterruptedException {
        while (true) {
            try (Lock lock = locks.createLock("catalogue", Duration.ofSeconds(30))) {
                lock.acquireShared();
                if (Files.exists(file)) {
                    return "read " + Files.readString(file);
                }
                // Promotes. There is no gap in which another could make the file, so there is no need to look again.
                if (lock.tryAcquire(Duration.ofSeconds(20))) {
                    Files.writeString(file, "catalogue made by " + name);
                    lock.acquireShared(); // Demotes: from here on the others may read, too.
                    return "made " + Files.readString(file);
                }
            }
            // Refused: another reader is about to become the writer, and waits for this one to let go.
        }
    }
}
