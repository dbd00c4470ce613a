package dev.latchkey.jdbc;

import java.sql.SQLException;
import java.util.Set;

/** How databases say that who asks may not: wrong credentials, no such database, no right. */
final class AccessDenial {

    /** Access to the database, no such database, no right to a table, column, statement or routine. */
    private static final Set<Integer> MYSQL = Set.of(1044, 1045, 1049, 1142, 1143, 1227, 1370);

    /** No right, no right to create, no such database, no such login. */
    private static final Set<Integer> SQL_SERVER = Set.of(229, 262, 4060, 18456);

    /** Wrong password, no right, account locked, expired, no such service. */
    private static final Set<Integer> ORACLE = Set.of(1017, 1031, 28000, 28001, 12514);

    /** No right, no such database, wrong user. */
    private static final Set<Integer> H2 = Set.of(90096, 90146, 90149, 28000);

    private AccessDenial() {}

    static boolean isIn(Throwable failure) {
        for (Throwable one = failure; one != null; one = one.getCause()) {
            if (one instanceof SQLException e && isDenial(e)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isDenial(SQLException e) {
        String state = String.valueOf(e.getSQLState());
        int code = e.getErrorCode();
        return state.startsWith("28")
                || state.equals("3D000")
                || state.equals("42501")
                || (state.startsWith("42") && MYSQL.contains(code))
                || (state.startsWith("S0") && SQL_SERVER.contains(code))
                || (String.valueOf(e.getMessage()).startsWith("ORA-") && ORACLE.contains(code))
                || (state.equals(String.valueOf(code)) && H2.contains(code));
    }
}
