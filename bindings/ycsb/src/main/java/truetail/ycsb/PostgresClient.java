package truetail.ycsb;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import java.util.regex.Pattern;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * YCSB on PostgreSQL through its JDBC driver, one connection for each YCSB thread.
 *
 * <p>The table is that of YCSB's own JDBC binding: {@code usertable(YCSB_KEY varchar(255) primary key, FIELD0 text, …)}.
 * Every statement is prepared and its own transaction. Nothing is retried. After a connection was lost, the next operation
 * connects anew, and the time that takes is its own.
 *
 * <p>With {@code truetail.noop} every operation is one empty statement, and there need be no table.
 */
public final class PostgresClient extends DB {
  private static final String KEY = "YCSB_KEY";
  private static final String EMPTY = ";";
  private static final Pattern IDENTIFIER = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,62}");

  private final FirstError errors = new FirstError();
  private final Map<String, PreparedStatement> statements = new HashMap<>();
  private String url;
  private Properties login;
  private Connection connection;
  private boolean noop;

  /** What an operation does; statements come from {@link #prepared}. */
  private interface Exchange {
    Status run() throws SQLException;
  }

  @Override
  public void init() throws DBException {
    JvmAnchor.printOnce();
    Settings settings = new Settings(getProperties());
    url = settings.text("postgres.url", "jdbc:postgresql://127.0.0.1:5432/postgres?sslmode=disable");
    login = new Properties();
    login.setProperty("user", settings.text("postgres.user", "postgres"));
    noop = settings.flag(Settings.NOOP, false);
    String password = settings.text("postgres.password", null);
    if (password != null) {
      login.setProperty("password", password);
    }
    try {
      connect();
      if (settings.flag("postgres.create", false)) {
        create(settings);
      }
    } catch (SQLException e) {
      throw new DBException(url + ": " + e.getMessage() + "; set postgres.url, postgres.user, postgres.password", e);
    }
  }

  private void connect() throws SQLException {
    if (connection == null) {
      connection = DriverManager.getConnection(url, login);
    }
  }

  private void create(Settings settings) throws DBException, SQLException {
    String table = settings.text("table", "usertable");
    String prefix = settings.text("fieldnameprefix", "field");
    int count = settings.number("fieldcount", 10, 0, 1_000);
    if (!isIdentifier(table) || !isIdentifier(prefix + count)) {
      throw new DBException("table `" + table + "`, fields `" + prefix + "`: names of letters, digits and _ only");
    }
    StringBuilder sql = new StringBuilder("CREATE TABLE IF NOT EXISTS " + table + " (" + KEY + " varchar(255) PRIMARY KEY");
    for (int i = 0; i < count; i++) {
      sql.append(", ").append(prefix).append(i).append(" text");
    }
    sql.append(')');
    // Sessions that create at the same time collide in PostgreSQL's catalogue, IF NOT EXISTS or not.
    synchronized (PostgresClient.class) {
      try (Statement statement = connection.createStatement()) {
        statement.execute(sql.toString());
      }
    }
  }

  @Override
  public void cleanup() throws DBException {
    disconnect();
  }

  private void disconnect() {
    statements.clear();
    if (connection == null) {
      return;
    }
    try {
      connection.close();
    } catch (SQLException e) {
      // It is of no use any more, closed or not.
    }
    connection = null;
  }

  private Status run(String operation, Exchange exchange) {
    try {
      connect();
      return exchange.run();
    } catch (SQLException e) {
      errors.say(operation, e.getMessage() + " (SQLSTATE " + e.getSQLState() + ")");
      if (isLost(e)) {
        disconnect();
      }
      return Status.ERROR;
    }
  }

  /** Whether the connection went with it: class 08, or the server ended it (57P). */
  private boolean isLost(SQLException e) {
    String state = e.getSQLState();
    if (state != null && (state.startsWith("08") || state.startsWith("57P"))) {
      return true;
    }
    try {
      return connection == null || connection.isClosed();
    } catch (SQLException asked) {
      return true;
    }
  }

  /** The statement, prepared once for each connection. */
  private PreparedStatement prepared(String sql) throws SQLException {
    PreparedStatement known = statements.get(sql);
    if (known == null) {
      known = connection.prepareStatement(sql);
      statements.put(sql, known);
    }
    return known;
  }

  /** Asks for nothing: what is left of an operation is the way to the server and back. */
  private Status nothing(String operation) {
    return run(operation, () -> {
      prepared(EMPTY).execute();
      return Status.OK;
    });
  }

  @Override
  public Status read(String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
    if (noop) {
      return nothing("read");
    }
    if (!areIdentifiers(table, fields)) {
      return Status.BAD_REQUEST;
    }
    return run("read", () -> {
      PreparedStatement statement = prepared("SELECT " + columns(fields) + " FROM " + table + " WHERE " + KEY + " = ?");
      statement.setString(1, key);
      try (ResultSet rows = statement.executeQuery()) {
        if (!rows.next()) {
          return Status.NOT_FOUND;
        }
        takeRow(rows, result);
        return Status.OK;
      }
    });
  }

  @Override
  public Status scan(String table, String startkey, int recordcount, Set<String> fields,
      Vector<HashMap<String, ByteIterator>> result) {
    if (noop) {
      return nothing("scan");
    }
    if (!areIdentifiers(table, fields)) {
      return Status.BAD_REQUEST;
    }
    return run("scan", () -> {
      PreparedStatement statement = prepared("SELECT " + columns(fields) + " FROM " + table + " WHERE " + KEY
          + " >= ? ORDER BY " + KEY + " LIMIT ?");
      statement.setString(1, startkey);
      statement.setInt(2, recordcount);
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          HashMap<String, ByteIterator> record = new HashMap<>();
          takeRow(rows, record);
          result.add(record);
        }
        return Status.OK;
      }
    });
  }

  @Override
  public Status insert(String table, String key, Map<String, ByteIterator> values) {
    if (noop) {
      return nothing("insert");
    }
    if (!areIdentifiers(table, values.keySet())) {
      return Status.BAD_REQUEST;
    }
    List<String> fields = new ArrayList<>(values.keySet());
    StringBuilder sql = new StringBuilder("INSERT INTO " + table + " (" + KEY);
    fields.forEach(field -> sql.append(", ").append(field));
    sql.append(") VALUES (?").append(", ?".repeat(fields.size())).append(')');
    return run("insert", () -> {
      PreparedStatement statement = prepared(sql.toString());
      statement.setString(1, key);
      setFields(statement, 2, fields, values);
      return statement.executeUpdate() == 1 ? Status.OK : Status.UNEXPECTED_STATE;
    });
  }

  @Override
  public Status update(String table, String key, Map<String, ByteIterator> values) {
    if (noop) {
      return nothing("update");
    }
    if (values.isEmpty() || !areIdentifiers(table, values.keySet())) {
      return Status.BAD_REQUEST;
    }
    List<String> fields = new ArrayList<>(values.keySet());
    String sql = "UPDATE " + table + " SET " + String.join(" = ?, ", fields) + " = ? WHERE " + KEY + " = ?";
    return run("update", () -> {
      PreparedStatement statement = prepared(sql);
      setFields(statement, 1, fields, values);
      statement.setString(1 + fields.size(), key);
      return statement.executeUpdate() == 1 ? Status.OK : Status.NOT_FOUND;
    });
  }

  @Override
  public Status delete(String table, String key) {
    if (noop) {
      return nothing("delete");
    }
    if (!isIdentifier(table)) {
      return Status.BAD_REQUEST;
    }
    return run("delete", () -> {
      PreparedStatement statement = prepared("DELETE FROM " + table + " WHERE " + KEY + " = ?");
      statement.setString(1, key);
      return statement.executeUpdate() == 1 ? Status.OK : Status.NOT_FOUND;
    });
  }

  private static void setFields(PreparedStatement statement, int from, List<String> fields, Map<String, ByteIterator> values)
      throws SQLException {
    int at = from;
    for (String field : fields) {
      statement.setString(at++, values.get(field).toString());
    }
  }

  private static void takeRow(ResultSet rows, Map<String, ByteIterator> record) throws SQLException {
    ResultSetMetaData columns = rows.getMetaData();
    for (int i = 1; i <= columns.getColumnCount(); i++) {
      String name = columns.getColumnLabel(i);
      String value = rows.getString(i);
      // PostgreSQL folds names to lower case, and so does YCSB by default.
      if (value != null && !name.equalsIgnoreCase(KEY)) {
        record.put(name, new ByteArrayByteIterator(value.getBytes(StandardCharsets.UTF_8)));
      }
    }
  }

  private static String columns(Set<String> fields) {
    return fields == null || fields.isEmpty() ? "*" : String.join(", ", fields);
  }

  static boolean isIdentifier(String name) {
    return IDENTIFIER.matcher(name).matches();
  }

  private static boolean areIdentifiers(String table, Set<String> fields) {
    return isIdentifier(table) && (fields == null || fields.stream().allMatch(PostgresClient::isIdentifier));
  }
}
