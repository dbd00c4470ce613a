package dev.latchkey.servers;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A PostgreSQL that runs on this machine. It keeps others from its directory by a segment of System V shared memory, which the kernel
 * keeps when it is killed, and of which there are 4,096 at most: it goes as in a power failure.
 *
 * @param server the program
 * @param directory of its data
 */
record LocalPostgres(Launcher.Launched server, Path directory) implements Launcher.Launched {

    /** In {@code postmaster.pid}: the key and the id of the segment. */
    private static final int SEGMENT_LINE = 6;

    @Override
    public boolean isAlive() {
        return server.isAlive();
    }

    @Override
    public void kill() {
        if (server.isAlive()) {
            server.kill();
            removeSegment();
        }
    }

    private void removeSegment() {
        Path file = directory.resolve("postmaster.pid");
        if (!Files.exists(file)) {
            return;
        }
        try {
            List<String> lines = Files.readAllLines(file, StandardCharsets.UTF_8);
            if (lines.size() > SEGMENT_LINE) {
                String id = lines.get(SEGMENT_LINE).strip().split(" +", 2)[1];
                int unused = new ProcessBuilder("ipcrm", "-m", id)
                        .redirectErrorStream(true)
                        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                        .start()
                        .waitFor();
            }
        } catch (IOException e) {
            // There is no ipcrm here: what stays is small, and a test can do without.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void freeze() {
        server.freeze();
    }

    @Override
    public void thaw() {
        server.thaw();
    }

    @Override
    public String log() {
        return server.log();
    }
}
