package dev.latchkey.cli;

import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What a terminal shows, as SVG. Knows the styles that {@code lock top} uses: bold, faint, underlined, inverse, and two colours. */
final class TerminalPicture {

    private static final double CELL_WIDTH = 8.4;
    private static final int CELL_HEIGHT = 18;
    private static final int EDGE = 14;
    private static final String PAPER = "#101216";
    private static final String INK = "#e7e9ee";

    /** Of other spaces, SVG shows one. */
    private static final char NO_BREAK_SPACE = '\u00a0';

    private static final Pattern PART = Pattern.compile("\u001b\\[([0-9;]*)m|([^\u001b]+)");

    private final StringBuilder svg = new StringBuilder();
    private String ink = INK;
    private boolean isBold;
    private boolean isFaint;
    private boolean isInverse;
    private boolean isUnderlined;

    private TerminalPicture() {}

    static String of(List<String> styledLines, int columns) {
        TerminalPicture picture = new TerminalPicture();
        picture.draw(styledLines, columns);
        return picture.svg.toString();
    }

    private void draw(List<String> lines, int columns) {
        long width = Math.round(columns * CELL_WIDTH) + 2 * EDGE;
        int height = lines.size() * CELL_HEIGHT + 2 * EDGE;
        svg.append("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + width + "\" height=\"" + height
                + "\" viewBox=\"0 0 " + width + " " + height + "\">\n");
        svg.append("<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"" + PAPER + "\"/>\n");
        svg.append(
                "<g font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"14\">\n");
        for (int row = 0; row < lines.size(); row++) {
            line(lines.get(row), row);
        }
        svg.append("</g>\n</svg>\n");
    }

    private void line(String line, int row) {
        int column = 0;
        Matcher part = PART.matcher(line);
        while (part.find()) {
            if (part.group(1) != null) {
                style(part.group(1));
            } else {
                String text = part.group(2);
                int cells = text.codePointCount(0, text.length());
                text(text, row, column, cells);
                column += cells;
            }
        }
    }

    private void style(String codes) {
        for (String code : codes.split(";", -1)) {
            switch (code) {
                case "", "0" -> {
                    ink = INK;
                    isBold = false;
                    isFaint = false;
                    isInverse = false;
                    isUnderlined = false;
                }
                case "1" -> isBold = true;
                case "2" -> isFaint = true;
                case "4" -> isUnderlined = true;
                case "7" -> isInverse = true;
                case "22" -> {
                    isBold = false;
                    isFaint = false;
                }
                case "24" -> isUnderlined = false;
                case "27" -> isInverse = false;
                case "31" -> ink = "#ff6b74";
                case "33" -> ink = "#ffb340";
                case "39" -> ink = INK;
                case "49" -> {
                    // The background stays as it is.
                }
                default -> throw new IllegalArgumentException("a style that no picture knows: " + code);
            }
        }
    }

    private void text(String text, int row, int column, int cells) {
        double x = EDGE + column * CELL_WIDTH;
        int y = EDGE + row * CELL_HEIGHT;
        if (isInverse) {
            svg.append(String.format(
                    Locale.ROOT,
                    "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n",
                    x,
                    y,
                    cells * CELL_WIDTH,
                    CELL_HEIGHT,
                    ink));
        }
        if (!text.isBlank()) {
            svg.append(String.format(
                    Locale.ROOT,
                    "<text x=\"%.1f\" y=\"%d\" textLength=\"%.1f\" fill=\"%s\"%s%s%s>%s</text>\n",
                    x,
                    y + 13,
                    cells * CELL_WIDTH,
                    isInverse ? PAPER : ink,
                    isBold ? " font-weight=\"bold\"" : "",
                    isFaint ? " opacity=\"0.6\"" : "",
                    isUnderlined ? " text-decoration=\"underline\"" : "",
                    text.replace("&", "&amp;").replace("<", "&lt;").replace(' ', NO_BREAK_SPACE)));
        }
    }
}
