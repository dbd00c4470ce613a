package dev.latchkey.fuzz;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * The constants of a class file, which are all that a {@link Simulation} changes: names of types, whose static methods are
 * called, and what method references refer to.
 */
final class Constants {

    private static final int UTF8 = 1;
    private static final int LONG = 5;
    private static final int DOUBLE = 6;
    private static final int CLASS = 7;
    private static final int METHOD = 10;
    private static final int METHOD_OF_INTERFACE = 11;
    private static final int NAME_AND_TYPE = 12;
    private static final int METHOD_HANDLE = 15;
    private static final int INVOKE_VIRTUAL = 5;
    private static final int INVOKE_STATIC = 6;

    private final byte[] code;
    private final int[] starts;
    private final int end;
    private final List<byte[]> added = new ArrayList<>();

    Constants(byte[] code) {
        this.code = code;
        this.starts = new int[unsigned(8)];
        int at = 10;
        for (int i = 1; i < starts.length; i++) {
            starts[i] = at;
            int tag = code[at];
            at += length(at);
            // These count twice.
            i += tag == LONG || tag == DOUBLE ? 1 : 0;
        }
        this.end = at;
    }

    /** The class file with each text replaced. */
    byte[] replaced(UnaryOperator<String> change) {
        var out = new ByteArrayOutputStream(code.length + 512);
        out.write(code, 0, 8);
        writeShort(out, starts.length + added.size());
        for (int start : starts) {
            if (start != 0 && code[start] == UTF8) {
                out.writeBytes(utf8(change.apply(text(start))));
            } else if (start != 0) {
                out.write(code, start, length(start));
            }
        }
        added.forEach(out::writeBytes);
        out.write(code, end, code.length - end);
        return out.toByteArray();
    }

    /** Has a static method of an interface called at another interface. */
    void redirect(String from, String method, String to) {
        int other = 0;
        for (int start : starts) {
            if (start != 0 && code[start] == METHOD_OF_INTERFACE && calls(start, from, method)) {
                other = other == 0 ? add(to) : other;
                code[start + 1] = (byte) (other >> 8);
                code[start + 2] = (byte) other;
            }
        }
    }

    /** Has references to a method without parameters refer to a static method of that name, which takes the object. */
    void redirectReferences(String from, String method, String result, String to) {
        int other = 0;
        for (int start : starts) {
            boolean isReference = start != 0 && code[start] == METHOD_HANDLE && code[start + 1] == INVOKE_VIRTUAL;
            int referred = isReference ? starts[unsigned(start + 2)] : 0;
            if (referred != 0 && code[referred] == METHOD && calls(referred, from, method)) {
                other = other == 0 ? add(to, method, "(L" + from + ";)L" + result + ";") : other;
                code[start + 1] = INVOKE_STATIC;
                code[start + 2] = (byte) (other >> 8);
                code[start + 3] = (byte) other;
            }
        }
    }

    private boolean calls(int start, String owner, String method) {
        int type = starts[unsigned(start + 1)];
        int nameAndType = starts[unsigned(start + 3)];
        return text(starts[unsigned(type + 1)]).equals(owner)
                && text(starts[unsigned(nameAndType + 1)]).equals(method);
    }

    private int add(String type, String method, String descriptor) {
        int owner = add(type);
        int name = add(utf8(method));
        int parameters = add(utf8(descriptor));
        return add(pair(METHOD, owner, add(pair(NAME_AND_TYPE, name, parameters))));
    }

    private int add(String type) {
        int name = add(utf8(type));
        return add(new byte[] {CLASS, (byte) (name >> 8), (byte) name});
    }

    private int add(byte[] constant) {
        added.add(constant);
        return starts.length + added.size() - 1;
    }

    private static byte[] pair(int tag, int first, int second) {
        return new byte[] {(byte) tag, (byte) (first >> 8), (byte) first, (byte) (second >> 8), (byte) second};
    }

    private String text(int start) {
        return new String(code, start + 3, length(start) - 3, StandardCharsets.UTF_8);
    }

    private static byte[] utf8(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        var out = new ByteArrayOutputStream(bytes.length + 3);
        out.write(UTF8);
        writeShort(out, bytes.length);
        out.writeBytes(bytes);
        return out.toByteArray();
    }

    private static void writeShort(ByteArrayOutputStream out, int value) {
        out.write(value >> 8);
        out.write(value);
    }

    /** How long the constant is, with its tag. */
    private int length(int at) {
        return switch (code[at]) {
            case UTF8 -> 3 + unsigned(at + 1);
            case LONG, DOUBLE -> 9;
            case CLASS, 8, 16, 19, 20 -> 3;
            case 15 -> 4;
            default -> 5;
        };
    }

    private int unsigned(int at) {
        return (code[at] & 0xff) << 8 | (code[at + 1] & 0xff);
    }
}
