package dev.latchkey.release;

import java.io.IOException;
import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.GenericDeclaration;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestTemplate;

/** The public and protected types of a jar with their members but for tests, as text: sorted, a line for each. */
final class PublicApi {

    private static final int VISIBLE = Modifier.PUBLIC | Modifier.PROTECTED;
    private static final int SHOWN = VISIBLE | Modifier.STATIC | Modifier.FINAL;
    private static final int SHOWN_OF_CLASS = SHOWN | Modifier.ABSTRACT;

    private PublicApi() {}

    static String of(Path jar) throws IOException {
        try (JarFile file = new JarFile(jar.toFile())) {
            return file.stream()
                    .map(entry -> entry.getName())
                    .filter(name -> name.endsWith(".class") && !name.endsWith("-info.class"))
                    .map(name -> load(name.substring(0, name.length() - ".class".length())))
                    .filter(PublicApi::isVisible)
                    .sorted(Comparator.comparing(Class::getName))
                    .map(PublicApi::describe)
                    .collect(Collectors.joining("\n"))
                    .replaceAll("\\bjava\\.lang\\.([A-Z])", "$1");
        }
    }

    private static Class<?> load(String name) {
        try {
            return Class.forName(name.replace('/', '.'), false, PublicApi.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
    }

    private static boolean isVisible(Class<?> type) {
        Class<?> around = type.getDeclaringClass();
        return !type.isAnonymousClass()
                && !type.isLocalClass()
                && (type.getModifiers() & VISIBLE) != 0
                && (around == null || isVisible(around));
    }

    private static boolean isVisible(Member member) {
        return (member.getModifiers() & VISIBLE) != 0 && !member.isSynthetic() && !isTest(member);
    }

    /** The tests of a contract are run, not called: their names may change. */
    private static boolean isTest(Member member) {
        return member instanceof Method method
                && Arrays.stream(method.getAnnotations())
                        .map(Annotation::annotationType)
                        .anyMatch(type -> type == Test.class || type.isAnnotationPresent(TestTemplate.class));
    }

    private static String describe(Class<?> type) {
        return head(type)
                + '\n'
                + Stream.of(
                                members(type.getDeclaredFields(), PublicApi::field),
                                members(type.getDeclaredConstructors(), PublicApi::constructor),
                                members(type.getDeclaredMethods(), PublicApi::method))
                        .flatMap(members -> members)
                        .collect(Collectors.joining());
    }

    private static <M extends Member> Stream<String> members(M[] members, Function<M, String> toText) {
        return Arrays.stream(members)
                .filter(PublicApi::isVisible)
                .sorted(Comparator.comparing(Member::getName).thenComparing(Object::toString))
                .map(member -> "    " + toText.apply(member) + '\n');
    }

    private static String head(Class<?> type) {
        return modifiers(type, type.getModifiers())
                + (type.isSealed() ? "sealed " : "")
                + kind(type)
                + type.getName()
                + typeParameters(type)
                + (type.getSuperclass() == null || type.getSuperclass() == Object.class
                        ? ""
                        : " extends " + type.getGenericSuperclass().getTypeName())
                + list(type.isInterface() ? " extends " : " implements ", type.getGenericInterfaces())
                + (type.isSealed() ? list(" permits ", type.getPermittedSubclasses()) : "");
    }

    private static String kind(Class<?> type) {
        if (type.isAnnotation()) {
            return "@interface ";
        }
        return type.isInterface() ? "interface " : type.isEnum() ? "enum " : type.isRecord() ? "record " : "class ";
    }

    private static String field(Field field) {
        return modifiers(field.getDeclaringClass(), field.getModifiers())
                + type(field.getAnnotatedType())
                + ' '
                + field.getName();
    }

    private static String constructor(Constructor<?> constructor) {
        return modifiers(constructor.getDeclaringClass(), constructor.getModifiers())
                + typeParameters(constructor)
                + "new"
                + parameters(constructor);
    }

    private static String method(Method method) {
        return modifiers(method.getDeclaringClass(), method.getModifiers())
                + (method.isDefault() ? "default " : "")
                + typeParameters(method)
                + type(method.getAnnotatedReturnType())
                + ' '
                + method.getName()
                + parameters(method);
    }

    private static String parameters(Executable executable) {
        return Arrays.stream(executable.getAnnotatedParameterTypes())
                        .map(PublicApi::type)
                        .collect(Collectors.joining(", ", "(", ")"))
                + list(" throws ", executable.getGenericExceptionTypes());
    }

    private static String type(AnnotatedType type) {
        return (type.isAnnotationPresent(Nullable.class) ? "@Nullable " : "")
                + type.getType().getTypeName();
    }

    /** Interfaces and their methods are abstract without saying so. */
    private static String modifiers(Class<?> around, int all) {
        String text = Modifier.toString(all & (around.isInterface() ? SHOWN : SHOWN_OF_CLASS));
        return text.isEmpty() ? "" : text + ' ';
    }

    private static String typeParameters(GenericDeclaration declaration) {
        TypeVariable<?>[] parameters = declaration.getTypeParameters();
        return parameters.length == 0
                ? ""
                : Arrays.stream(parameters)
                        .map(parameter -> parameter.getName() + bounds(parameter))
                        .collect(Collectors.joining(", ", "<", "> "));
    }

    private static String bounds(TypeVariable<?> parameter) {
        List<Type> bounds = List.of(parameter.getBounds());
        return bounds.equals(List.of(Object.class))
                ? ""
                : bounds.stream().map(Type::getTypeName).collect(Collectors.joining(" & ", " extends ", ""));
    }

    private static String list(String before, Type[] types) {
        return types.length == 0
                ? ""
                : Arrays.stream(types).map(Type::getTypeName).sorted().collect(Collectors.joining(", ", before, ""));
    }
}
