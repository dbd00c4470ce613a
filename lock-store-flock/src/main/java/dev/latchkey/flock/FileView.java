package dev.latchkey.flock;

import dev.latchkey.spi.Response;
import java.util.List;

/** What there is to see of a file from this JVM: its own holds, and who held it exclusively last. */
record FileView(List<Response.Granted> own, FileRecord.Entry last) {}
