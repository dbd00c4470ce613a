package dev.latchkey.chaos;

import dev.latchkey.Key;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The way of keys from one {@link Worker} to another, which no fault strikes: each is a file, named as the hold it is of. */
record KeyExchange(Path directory) {

    private static final String BEING_WRITTEN = ".";

    /** A key that was given away, with the name of the hold. */
    record Offer(String hold, Key key) {}

    void give(String hold, Key key) {
        Path file = directory.resolve(BEING_WRITTEN + hold);
        // Not a channel: an interrupt would close it.
        try (FileOutputStream out = new FileOutputStream(file.toFile())) {
            out.write(key.serialize().getBytes(StandardCharsets.UTF_8));
            Files.move(file, directory.resolve(hold), StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw new UncheckedIOException("could not give a key away", e);
        }
    }

    /** Takes a key that another process has given away, which nobody else gets then; empty if there is none. */
    Optional<Offer> take(String process) {
        try (Stream<Path> files = Files.list(directory)) {
            List<String> holds = files.map(file -> file.getFileName().toString())
                    .filter(hold -> !hold.startsWith(BEING_WRITTEN) && !hold.startsWith(process + "."))
                    .toList();
            for (String hold : holds) {
                Optional<Offer> taken = take(hold, process);
                if (taken.isPresent()) {
                    return taken;
                }
            }
            return Optional.empty();
        } catch (IOException e) {
            throw new UncheckedIOException("could not look for keys", e);
        }
    }

    private Optional<Offer> take(String hold, String process) throws IOException {
        Path mine = directory.resolve(BEING_WRITTEN + process + BEING_WRITTEN + hold);
        try {
            Files.move(directory.resolve(hold), mine, StandardCopyOption.ATOMIC_MOVE);
        } catch (NoSuchFileException e) {
            // Another was faster.
            return Optional.empty();
        }
        Offer given = new Offer(hold, Key.deserialize(Files.readString(mine)));
        Files.delete(mine);
        return Optional.of(given);
    }
}
