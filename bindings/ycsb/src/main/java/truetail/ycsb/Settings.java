package truetail.ycsb;

import java.util.Properties;
import site.ycsb.DBException;

/** Properties with defaults, and errors that name the property, the value and what is accepted. */
final class Settings {
  /** Whether every operation is the same request that asks for nothing. */
  static final String NOOP = "truetail.noop";

  private final Properties properties;

  Settings(Properties properties) {
    this.properties = properties;
  }

  String text(String name, String otherwise) {
    return properties.getProperty(name, otherwise);
  }

  int number(String name, int otherwise, int least, int most) throws DBException {
    String text = properties.getProperty(name);
    if (text == null) {
      return otherwise;
    }
    try {
      int number = Integer.parseInt(text.trim());
      if (number >= least && number <= most) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Said below, together with what is out of range.
    }
    throw new DBException(name + " is `" + text + "`; give a number from " + least + " to " + most);
  }

  boolean flag(String name, boolean otherwise) throws DBException {
    String text = properties.getProperty(name, Boolean.toString(otherwise)).trim();
    if (text.equals("true") || text.equals("false")) {
      return text.equals("true");
    }
    throw new DBException(name + " is `" + text + "`; give true or false");
  }
}
