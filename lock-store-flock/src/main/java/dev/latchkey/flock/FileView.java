package dev.latchkey.flock;

import dev.latchkey.spi.Response;
import java.util.List;

/** What this JVM knows of a file: its own holds, and the last exclusive holder. */
record FileView(List<Response.Granted> own, FileRecord.Entry last) {}
