package dev.latchkey.flock;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;

/**
 * The start of a lock file: one line of ASCII, always of the same length. It is read in one call and written in one, so a
 * process that is killed leaves the old line or the new one.
 *
 * <p>An empty or all-zero file counts as never locked: a file system may lose the last writes in a power failure, and the
 * clock keeps the tokens growing. Encoded by hand into reused buffers, because each exclusive acquire writes it. Guarded by
 * the file's guard.
 */
final class FileRecord {

    /** Each 0 stands for a digit, every other character for itself. */
    static final String TEMPLATE =
            "latchkey 1 fence 0000000000000000000 pid 0000000000 since 0000000000000 converting 0\n";

    private static final byte[] BLANK = TEMPLATE.getBytes(StandardCharsets.US_ASCII);
    private static final int FENCE = TEMPLATE.indexOf("fence ") + 6;
    private static final int FENCE_DIGITS = 19;
    private static final int PID = TEMPLATE.indexOf("pid ") + 4;
    private static final int PID_DIGITS = 10;
    private static final int SINCE = TEMPLATE.indexOf("since ") + 6;
    private static final int SINCE_DIGITS = 13;
    private static final int CONVERTING = TEMPLATE.indexOf("converting ") + 11;
    private static final long OWN_PID = ProcessHandle.current().pid();

    private final byte[] seen = new byte[BLANK.length];
    private final byte[] stamp = BLANK.clone();

    /** The last exclusive holder; all zero if there was none. */
    record Entry(long fencingToken, long pid) {
        static final Entry NONE = new Entry(0, 0);
    }

    FileRecord() {
        putNumber(stamp, PID, PID_DIGITS, OWN_PID);
    }

    /** Reads the line; throws if the file has other content. */
    void read(RandomAccessFile file) throws IOException {
        file.seek(0);
        int length = Math.max(0, file.read(seen));
        if (length < seen.length || seen[0] == 0) {
            checkBlank(length);
            System.arraycopy(BLANK, 0, seen, 0, seen.length);
        } else {
            checkForm();
        }
    }

    /** Writes the next fencing token, without a mark of a conversion, over what was read; returns the token. */
    long writeNextFencingToken(RandomAccessFile file) throws IOException {
        long nowMillis = System.currentTimeMillis();
        // The clock alone could stand still or go back; the counter alone would start again when the file is lost.
        long fencingToken = Math.max(fencingToken() + 1, nowMillis * 1_000);
        putNumber(stamp, FENCE, FENCE_DIGITS, fencingToken);
        putNumber(stamp, SINCE, SINCE_DIGITS, nowMillis);
        file.seek(0);
        file.write(stamp);
        return fencingToken;
    }

    /** Writes what was read, with the mark that a conversion has begun. */
    void writeMark(RandomAccessFile file) throws IOException {
        seen[CONVERTING] = '1';
        file.seek(0);
        file.write(seen);
    }

    boolean isMarked() {
        return seen[CONVERTING] == '1';
    }

    private long fencingToken() {
        return number(FENCE, FENCE_DIGITS);
    }

    /** Returns the last exclusive holder, as read. */
    Entry entry() {
        return new Entry(fencingToken(), number(PID, PID_DIGITS));
    }

    private void checkBlank(int length) throws IOException {
        for (int i = 0; i < length; i++) {
            if (seen[i] != 0) {
                throw foreign();
            }
        }
    }

    private void checkForm() throws IOException {
        for (int i = 0; i < seen.length; i++) {
            byte expected = BLANK[i];
            boolean fits = expected == '0' ? seen[i] >= '0' && seen[i] <= '9' : seen[i] == expected;
            if (!fits) {
                throw foreign();
            }
        }
    }

    private static IOException foreign() {
        return new IOException("it has content that this version of Latchkey did not write, and is left unchanged: "
                + "choose another directory, or move the file away while no process uses the lock");
    }

    private long number(int from, int digits) {
        long number = 0;
        for (int i = from; i < from + digits; i++) {
            number = number * 10 + (seen[i] - '0');
        }
        return number;
    }

    private static void putNumber(byte[] line, int from, int digits, long number) {
        long rest = number;
        for (int i = from + digits - 1; i >= from; i--) {
            line[i] = (byte) ('0' + rest % 10);
            rest /= 10;
        }
    }
}
