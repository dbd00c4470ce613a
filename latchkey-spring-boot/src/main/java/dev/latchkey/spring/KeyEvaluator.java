package dev.latchkey.spring;

import java.lang.reflect.Method;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.spel.ast.Literal;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.support.StandardEvaluationContext;

/** Says which resource a call locks. */
final class KeyEvaluator {

    private final BeanFactoryResolver beans;
    private final String prefix;
    private final ParameterNameDiscoverer names = new DefaultParameterNameDiscoverer();

    KeyEvaluator(BeanFactory beans, String prefix) {
        this.beans = new BeanFactoryResolver(beans);
        this.prefix = prefix.isEmpty() ? "" : prefix + ":";
    }

    /** What an expression sees without a name. */
    record Root(@Nullable Object target, Method method) {}

    String resource(LockedMethod locked, MethodInvocation call) {
        String key = key(locked, call);
        if (key == null || key.isEmpty()) {
            throw locked.wrongKey((key == null ? "null" : "empty") + " in this call: such calls would share one lock");
        }
        return prefix.isEmpty() ? key : prefix + key;
    }

    private @Nullable String key(LockedMethod locked, MethodInvocation call) {
        if (locked.key() instanceof SpelExpression constant && constant.getAST() instanceof Literal literal) {
            Object value = literal.getLiteralValue().getValue();
            return value == null ? null : value.toString();
        }
        Root root = new Root(call.getThis(), locked.method());
        StandardEvaluationContext context =
                new MethodBasedEvaluationContext(root, locked.method(), call.getArguments(), names);
        context.setBeanResolver(beans);
        KeyText text = new KeyText(locked);
        context.setTypeConverter(text);
        Object value = locked.key().getValue(context);
        return value == null ? null : text.text(value);
    }
}
