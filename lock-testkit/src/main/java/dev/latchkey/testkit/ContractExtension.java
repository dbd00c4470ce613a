package dev.latchkey.testkit;

import org.junit.jupiter.api.extension.AfterTestExecutionCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** Gives each contract test its {@link Fixture}, and clears away after it, before the test class closes its store. */
final class ContractExtension implements ParameterResolver, AfterTestExecutionCallback {

    private static final Namespace NAMESPACE = Namespace.create(ContractExtension.class);

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == Fixture.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        Fixture fixture = new Fixture((StoreContract) context.getRequiredTestInstance());
        context.getStore(NAMESPACE).put(Fixture.class, new Keep(fixture));
        return fixture;
    }

    @Override
    public void afterTestExecution(ExtensionContext context) throws Exception {
        Keep keep = context.getStore(NAMESPACE).remove(Fixture.class, Keep.class);
        if (keep != null) {
            keep.fixture().end();
        }
    }

    private record Keep(Fixture fixture) {}
}
