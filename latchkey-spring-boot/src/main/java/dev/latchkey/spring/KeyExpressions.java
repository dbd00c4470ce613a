package dev.latchkey.spring;

import java.lang.reflect.Method;
import java.util.HashSet;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.Expression;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.SpelCompilerMode;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.SpelParserConfiguration;
import org.springframework.expression.spel.ast.Literal;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;

/** Reads the expressions of keys, and refuses those that would give all calls one key by mistake. */
final class KeyExpressions {

    private static final Pattern VARIABLE = Pattern.compile("#(\\w+)");

    /** Without compilation: a compiled expression passes its arguments on without the check of {@link KeyText}. */
    private final SpelExpressionParser parser =
            new SpelExpressionParser(new SpelParserConfiguration(SpelCompilerMode.OFF, null));

    private final ParameterNameDiscoverer names = new DefaultParameterNameDiscoverer();

    Expression parse(Method method, String text) {
        if (text.isBlank()) {
            throw empty(method);
        }
        try {
            SpelExpression expression = (SpelExpression) parser.parseExpression(text);
            check(method, text, expression.getAST());
            return expression;
        } catch (ParseException e) {
            throw LockedMethodParser.wrong(
                    method,
                    "its key " + text + " is no expression: " + e.getSimpleMessage(),
                    "A text stands in single quotes, as in \"'nightly'\", an argument after a #, as in \"'order:' + #id\".");
        }
    }

    private void check(Method method, String text, SpelNode tree) {
        if (tree instanceof Literal literal && isEmpty(literal.getLiteralValue().getValue())) {
            throw empty(method);
        }
        if (tree instanceof PropertyOrFieldReference) {
            throw LockedMethodParser.wrong(
                    method,
                    "its key " + text + " is the name of nothing that is there",
                    "If it is the text that is meant, put it in single quotes: \"'" + text
                            + "'\"; if an argument, write \"#" + text + "\".");
        }
        Set<String> known = variables(method);
        Set<String> used = new HashSet<>();
        collect(tree, used);
        used.stream().filter(name -> !known.contains(name)).findFirst().ifPresent(name -> {
            throw LockedMethodParser.wrong(
                    method,
                    "its key " + text + " names #" + name + ", which is no argument, so all calls would share one lock",
                    "The arguments are "
                            + known.stream().sorted().map(one -> "#" + one).toList()
                            + ". Their names are known if javac was called with -parameters.");
        });
    }

    private static boolean isEmpty(@Nullable Object constant) {
        return constant == null || constant.toString().isEmpty();
    }

    private static LatchkeyConfigurationException empty(Method method) {
        return LockedMethodParser.wrong(
                method, "its key is empty", "Give a key, such as \"'nightly'\" or \"'order:' + #id\".");
    }

    private Set<String> variables(Method method) {
        Set<String> known = new HashSet<>(Set.of("root", "this"));
        for (int i = 0; i < method.getParameterCount(); i++) {
            known.add("p" + i);
            known.add("a" + i);
        }
        String[] named = names.getParameterNames(method);
        if (named != null) {
            known.addAll(Set.of(named));
        }
        return known;
    }

    /** What a selection or a projection sets is its own. */
    private static void collect(SpelNode node, Set<String> used) {
        if (node instanceof VariableReference) {
            Matcher name = VARIABLE.matcher(node.toStringAST());
            if (name.lookingAt()) {
                used.add(name.group(1));
            }
        }
        for (int i = 0; i < node.getChildCount(); i++) {
            collect(node.getChild(i), used);
        }
    }
}
