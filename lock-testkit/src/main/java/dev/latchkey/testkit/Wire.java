package dev.latchkey.testkit;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The lines between a test and its {@link Worker}: words parted by blanks, each the base64url of any text. */
final class Wire {

    private static final String QUOTE = ".";

    private Wire() {}

    static String line(List<String> words) {
        return words.stream()
                .map(word -> QUOTE
                        + Base64.getUrlEncoder().withoutPadding().encodeToString(word.getBytes(StandardCharsets.UTF_8)))
                .collect(Collectors.joining(" "));
    }

    static List<String> words(String line) {
        return Stream.of(line.split(" ", -1))
                .map(word -> new String(
                        Base64.getUrlDecoder().decode(word.substring(QUOTE.length())), StandardCharsets.UTF_8))
                .toList();
    }
}
