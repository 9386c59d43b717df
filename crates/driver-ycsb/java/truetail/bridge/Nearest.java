package truetail.bridge;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Locale;
import java.util.jar.JarFile;
import java.util.stream.Stream;

/** The class that somebody may have meant. */
final class Nearest {
  /** Letters that may be wrong. */
  private static final int FAR = 3;

  private final String wanted;
  private String best;
  private int distance = FAR + 1;

  private Nearest(String wanted) {
    this.wanted = wanted;
  }

  /** The class in these jars and directories whose own name is most alike; null where none is. */
  static String to(String name, String classPath) {
    Nearest nearest = new Nearest(ownName(name));
    for (String place : classPath.split(File.pathSeparator)) {
      nearest.look(Path.of(place));
    }
    return nearest.best;
  }

  private void look(Path place) {
    try {
      if (Files.isDirectory(place)) {
        try (Stream<Path> files = Files.walk(place)) {
          files.forEach(file -> consider(place.relativize(file).toString()));
        }
      } else {
        try (JarFile jar = new JarFile(place.toFile())) {
          for (var entry : Collections.list(jar.entries())) {
            consider(entry.getName());
          }
        }
      }
    } catch (IOException e) {
      // What can't be read holds no class for anybody.
    }
  }

  private void consider(String file) {
    if (!file.endsWith(".class") || file.indexOf('$') >= 0 || file.startsWith("META-INF")) {
      return;
    }
    String name = file.substring(0, file.length() - ".class".length()).replace('/', '.');
    int apart = apart(wanted, ownName(name));
    if (apart < distance) {
      distance = apart;
      best = name;
    }
  }

  private static String ownName(String name) {
    return name.substring(name.lastIndexOf('.') + 1).toLowerCase(Locale.ROOT);
  }

  /** Levenshtein's distance. */
  private static int apart(String a, String b) {
    int[] last = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      last[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = last[0];
      last[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int change = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        diagonal = last[j];
        last[j] = Math.min(change, 1 + Math.min(last[j], last[j - 1]));
      }
    }
    return last[b.length()];
  }
}
