package dev.latchkey.benchmarks;

import dev.latchkey.benchmarks.Figures.Measured;
import dev.latchkey.benchmarks.Figures.Row;
import java.io.StringWriter;
import java.util.Locale;
import javax.xml.stream.XMLOutputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamWriter;

/** A bar for each lock, table by table, as SVG; its colours suit a light page as well as a dark one. */
final class Chart {

    private static final int WIDTH = 880;
    private static final int BARS_AT = 310;
    private static final int LONGEST_BAR = 400;
    private static final int LINE = 24;
    private static final int HEADING = 60;
    private static final int TOP = 34;

    /** The first colours are for viewers that know no schemes: they can be read on white and on black. */
    private static final String STYLE = """
            text { font: 13px system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif; fill: #7d8590 }
            .name { text-anchor: end }
            .heading { font-weight: 600; font-size: 14px }
            .small { font-size: 12px }
            .LATCHKEY { fill: #2f81f7 } .PEER { fill: #9a8a5f } .FLOOR { fill: #8b949e }
            @media (prefers-color-scheme: light) {
              text { fill: #57606a } .heading, .ours { fill: #1f2328 }
              .LATCHKEY { fill: #0969da } .PEER { fill: #c69026 } .FLOOR { fill: #afb8c1 }
            }
            @media (prefers-color-scheme: dark) {
              text { fill: #9da7b3 } .heading, .ours { fill: #f0f6fc }
              .LATCHKEY { fill: #4493f8 } .PEER { fill: #bb8009 } .FLOOR { fill: #656c76 }
            }
            """;

    private final XMLStreamWriter svg;

    private Chart(XMLStreamWriter svg) {
        this.svg = svg;
    }

    static String of(Figures figures) {
        StringWriter text = new StringWriter();
        try {
            new Chart(XMLOutputFactory.newFactory().createXMLStreamWriter(text)).write(figures);
        } catch (XMLStreamException e) {
            throw new IllegalStateException("the chart of " + figures.store() + " cannot be written", e);
        }
        return text + "\n";
    }

    private void write(Figures figures) throws XMLStreamException {
        int lines =
                figures.tables().stream().mapToInt(table -> table.rows().size()).sum();
        int height = TOP + HEADING * figures.tables().size() + LINE * lines + 10;
        svg.writeStartElement("svg");
        svg.writeDefaultNamespace("http://www.w3.org/2000/svg");
        svg.writeAttribute("viewBox", "0 0 " + WIDTH + " " + height);
        svg.writeAttribute("width", Integer.toString(WIDTH));
        svg.writeAttribute("height", Integer.toString(height));
        svg.writeAttribute("role", "img");
        element("title", figures.store() + ": cycles of acquire and release in a second");
        element("style", STYLE);
        legend();
        int y = TOP;
        for (Measured table : figures.tables()) {
            write(table, y);
            y += HEADING + LINE * table.rows().size();
        }
        svg.writeEndElement();
        svg.flush();
    }

    private void legend() throws XMLStreamException {
        String[][] entries = {{"LATCHKEY", "Latchkey"}, {"PEER", "peers"}, {"FLOOR", "the bare minimum"}};
        int x = BARS_AT;
        for (String[] entry : entries) {
            bar(entry[0], x, 10, 12);
            text("small", x + 18, 20, entry[1]);
            x += 40 + 8 * entry[1].length();
        }
        text("small", 8, 20, "cycles/s · how many times as fast Latchkey is");
    }

    private void write(Measured table, int top) throws XMLStreamException {
        text("heading", 8, top + 24, table.title());
        text("small", 8, top + 42, table.placement());
        double most = table.rows().stream()
                .mapToDouble(Row::cyclesPerSecond)
                .filter(speed -> !Double.isNaN(speed))
                .max()
                .orElse(1);
        int y = top + HEADING - 6;
        for (Row row : table.rows()) {
            write(table, row, most, y);
            y += LINE;
        }
    }

    private void write(Measured table, Row row, double most, int y) throws XMLStreamException {
        String ours = row.role() == Contender.Role.LATCHKEY ? " ours" : "";
        text("name" + ours, BARS_AT - 10, y + 14, row.contender());
        double speed = row.cyclesPerSecond();
        if (row.cut() != null || Double.isNaN(speed)) {
            text("small", BARS_AT, y + 14, "cut");
            return;
        }
        double length = Math.max(1, LONGEST_BAR * speed / most);
        bar(row.role().name(), BARS_AT, y + 3, length);
        String ratio = ours.isEmpty() || !table.oursFor(row).equals(row) ? " · " + Page.ratio(table.ratio(row)) : "";
        text("value" + ours, BARS_AT + length + 8, y + 14, Page.number(speed) + ratio);
    }

    private void bar(String role, double x, double y, double length) throws XMLStreamException {
        svg.writeEmptyElement("rect");
        svg.writeAttribute("class", role);
        svg.writeAttribute("x", number(x));
        svg.writeAttribute("y", number(y));
        svg.writeAttribute("width", number(length));
        svg.writeAttribute("height", "13");
        svg.writeAttribute("rx", "2");
    }

    private void text(String kind, double x, double y, String content) throws XMLStreamException {
        svg.writeStartElement("text");
        svg.writeAttribute("class", kind);
        svg.writeAttribute("x", number(x));
        svg.writeAttribute("y", number(y));
        svg.writeCharacters(content);
        svg.writeEndElement();
        svg.writeCharacters("\n");
    }

    private void element(String name, String content) throws XMLStreamException {
        svg.writeStartElement(name);
        svg.writeCharacters(content);
        svg.writeEndElement();
        svg.writeCharacters("\n");
    }

    private static String number(double value) {
        return String.format(Locale.ROOT, "%.1f", value);
    }
}
