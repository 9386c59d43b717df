package truetail.bridge;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import site.ycsb.DB;
import site.ycsb.measurements.Measurements;

/**
 * Lends a class of YCSB's database interface layer to truetail, which decides when each request is made.
 *
 * <p>Standard input tells what to do, so that no password is on a command line, and its end means that truetail is gone:
 * this program ends then. Standard output tells by lines that begin with {@link #MARK} whether it can be done; all other
 * lines are the binding's. Each connection is a session: a thread and an object of the class, as in YCSB's client.
 */
public final class Bridge {
  private static final String MARK = "truetail-bridge: ";

  /** How long sessions may take to clean up when truetail is gone. */
  private static final long LAST_MILLIS = 5_000;

  private final Set<Thread> sessions = ConcurrentHashMap.newKeySet();
  private final byte[] token;
  private final Properties properties;
  private final Class<? extends DB> type;

  private Bridge(byte[] token, Properties properties, Class<? extends DB> type) {
    this.token = token;
    this.properties = properties;
    this.type = type;
  }

  public static void main(String[] arguments) throws IOException {
    DataInputStream orders = new DataInputStream(new BufferedInputStream(System.in));
    byte[] token = bytes(orders);
    String socket = text(orders);
    String className = text(orders);
    Properties properties = new Properties();
    for (int left = orders.readInt(); left > 0; left--) {
      String name = text(orders);
      properties.setProperty(name, text(orders));
    }
    Class<? extends DB> type = find(className);
    if (type == null) {
      System.exit(1);
    }
    // As YCSB's client does; bindings may ask for it.
    Measurements.setProperties(properties);
    ServerSocketChannel server = listen(socket);
    if (server == null) {
      System.exit(1);
    }
    say("java " + System.getProperty("java.vm.name") + " " + System.getProperty("java.vm.version"));
    say("ycsb " + version());
    say("ready " + (socket.isEmpty() ? ((InetSocketAddress) server.getLocalAddress()).getPort() : 0));
    Bridge bridge = new Bridge(token, properties, type);
    Thread watch = new Thread(() -> bridge.endWith(orders), "truetail-watch");
    watch.setDaemon(true);
    watch.start();
    bridge.serve(server);
  }

  private void serve(ServerSocketChannel server) throws IOException {
    for (int number = 0;; number++) {
      SocketChannel channel = server.accept();
      Thread thread = new Thread(() -> session(channel), "truetail-session-" + number);
      sessions.add(thread);
      thread.start();
    }
  }

  private void session(SocketChannel channel) {
    try (channel) {
      new Session(new Wire(channel)).run(token, this::open);
    } catch (IOException e) {
      // The other end is gone, which is how sessions end.
    } finally {
      sessions.remove(Thread.currentThread());
    }
  }

  private DB open() throws Exception {
    DB db = type.getDeclaredConstructor().newInstance();
    db.setProperties(properties);
    db.init();
    return db;
  }

  /** Waits for truetail's end; then sessions, whose connections have ended too, may clean up. */
  private void endWith(InputStream orders) {
    try {
      while (orders.read() >= 0) {
        // Nothing more is ordered.
      }
    } catch (IOException e) {
      // It is gone as well.
    }
    long end = System.nanoTime() + LAST_MILLIS * 1_000_000;
    for (Thread session : sessions) {
      try {
        session.join(Math.max(1, (end - System.nanoTime()) / 1_000_000));
      } catch (InterruptedException e) {
        break;
      }
    }
    System.exit(0);
  }

  private static Class<? extends DB> find(String name) {
    try {
      Class<?> found = Class.forName(name);
      if (DB.class.isAssignableFrom(found)) {
        return found.asSubclass(DB.class);
      }
      say("failed " + name + " is no database class of YCSB: it does not extend site.ycsb.DB");
    } catch (ClassNotFoundException e) {
      String near = Nearest.to(name, System.getProperty("java.class.path"));
      say("failed there is no class " + name + " in the jars" + (near == null ? "" : "; did you mean " + near + "?"));
    } catch (LinkageError e) {
      say("failed " + name + " can't be loaded: " + e + "; name the jars that it needs in ?jar=, too");
    }
    return null;
  }

  private static ServerSocketChannel listen(String socket) throws IOException {
    if (socket.isEmpty()) {
      return ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 0), 1024);
    }
    try {
      // Unix sockets came with JDK 16, and this is to be compiled by older ones, too.
      StandardProtocolFamily family = StandardProtocolFamily.valueOf("UNIX");
      Object address = Class.forName("java.net.UnixDomainSocketAddress").getMethod("of", Path.class)
          .invoke(null, Paths.get(socket));
      Object server = ServerSocketChannel.class.getMethod("open", java.net.ProtocolFamily.class).invoke(null, family);
      return ((ServerSocketChannel) server).bind((SocketAddress) address, 1024);
    } catch (ReflectiveOperationException | IllegalArgumentException e) {
      say("failed Java " + System.getProperty("java.version") + " has no unix sockets; give ?transport=tcp, or Java 16 or later");
      return null;
    }
  }

  /** Of YCSB, as Maven wrote it into its jar. */
  private static String version() {
    try (InputStream file = DB.class.getResourceAsStream("/META-INF/maven/site.ycsb/core/pom.properties")) {
      if (file != null) {
        Properties pom = new Properties();
        pom.load(file);
        return pom.getProperty("version", "unknown");
      }
    } catch (IOException e) {
      // What can't be read is not known.
    }
    return "unknown";
  }

  private static byte[] bytes(DataInputStream from) throws IOException {
    byte[] bytes = new byte[from.readInt()];
    from.readFully(bytes);
    return bytes;
  }

  private static String text(DataInputStream from) throws IOException {
    return new String(bytes(from), StandardCharsets.UTF_8);
  }

  private static void say(String words) {
    byte[] line = (MARK + words.replaceAll("\\s+", " ") + "\n").getBytes(StandardCharsets.UTF_8);
    System.out.write(line, 0, line.length);
    System.out.flush();
  }
}
