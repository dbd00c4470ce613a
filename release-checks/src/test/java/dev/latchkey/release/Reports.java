package dev.latchkey.release;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/** What Surefire and Failsafe wrote down of the modules that were built before this one. */
final class Reports {

    /**
     * A test that ran, and was not skipped. One that failed has ended the build.
     *
     * @param type the class that ran it, which for a test of a contract is that of the store
     * @param method without parameters
     */
    record Ran(String type, String method) {

        String simpleType() {
            return type.substring(type.lastIndexOf('.') + 1);
        }
    }

    private Reports() {}

    static List<Ran> read(Path root) throws Exception {
        List<Ran> all = new ArrayList<>();
        for (Path report : files(root)) {
            NodeList cases = DocumentBuilderFactory.newInstance()
                    .newDocumentBuilder()
                    .parse(report.toFile())
                    .getElementsByTagName("testcase");
            for (int i = 0; i < cases.getLength(); i++) {
                Element one = (Element) cases.item(i);
                if (one.getElementsByTagName("skipped").getLength() == 0) {
                    all.add(new Ran(
                            one.getAttribute("classname"),
                            one.getAttribute("name").replaceAll("[({].*", "")));
                }
            }
        }
        return all;
    }

    private static List<Path> files(Path root) throws IOException {
        List<Path> files = new ArrayList<>();
        for (String reports : List.of("surefire-reports", "failsafe-reports")) {
            try (Stream<Path> modules = Files.list(root)) {
                for (Path directory : modules.map(
                                module -> module.resolve("target").resolve(reports))
                        .filter(Files::isDirectory)
                        .toList()) {
                    try (Stream<Path> found = Files.list(directory)) {
                        found.filter(file -> file.getFileName().toString().matches("TEST-.*\\.xml"))
                                .forEach(files::add);
                    }
                }
            }
        }
        return files;
    }
}
