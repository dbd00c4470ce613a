package dev.latchkey.jdbc;

import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Wraps another, in the way that most wrappers do. */
class DelegatingSource implements DataSource {

    private final DataSource target;

    DelegatingSource(DataSource target) {
        this.target = target;
    }

    public DataSource getTargetDataSource() {
        return target;
    }

    @Override
    public Connection getConnection() throws SQLException {
        return target.getConnection();
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
        return target.getConnection(user, password);
    }

    @Override
    public @Nullable PrintWriter getLogWriter() throws SQLException {
        return target.getLogWriter();
    }

    @Override
    public void setLogWriter(@Nullable PrintWriter out) throws SQLException {
        target.setLogWriter(out);
    }

    @Override
    public void setLoginTimeout(int seconds) throws SQLException {
        target.setLoginTimeout(seconds);
    }

    @Override
    public int getLoginTimeout() throws SQLException {
        return target.getLoginTimeout();
    }

    @Override
    public Logger getParentLogger() throws SQLFeatureNotSupportedException {
        return target.getParentLogger();
    }

    @Override
    public <T> T unwrap(Class<T> kind) throws SQLException {
        return kind.isInstance(this) ? kind.cast(this) : target.unwrap(kind);
    }

    @Override
    public boolean isWrapperFor(Class<?> kind) throws SQLException {
        return kind.isInstance(this) || target.isWrapperFor(kind);
    }
}
