//! Where Cassandra's jars and a JVM that runs them are, and how the jars get there.

use crate::command::run;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The version that is fetched.
pub const VERSION: &str = "5.0.6";

/// Names the directory of a Cassandra's jars that somebody has already, such as `/usr/share/cassandra/lib`.
const VARIABLE: &str = "TRUETAIL_CASSANDRA_LIB";

/// Pinned like a dependency.
const PLUGIN: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies";

/// Where the jars are, or will be: below the user's own data; root's are for everybody, since servers do not run as root.
///
/// # Errors
/// One line: that there is no place.
pub fn place() -> Result<PathBuf, String> {
    if let Some(path) = std::env::var_os(VARIABLE) {
        return Ok(path.into());
    }
    // SAFETY: `geteuid` takes nothing and cannot fail.
    let data = if unsafe { libc::geteuid() } == 0 {
        PathBuf::from("/var/lib")
    } else {
        let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/share"));
        let data = std::env::var_os("XDG_DATA_HOME").map(PathBuf::from).or_else(home);
        data.ok_or_else(|| format!("no HOME, under which to put Cassandra; set {VARIABLE} to its `lib`"))?
    };
    Ok(data.join("truetail").join(format!("cassandra-{VERSION}")))
}

/// Makes sure that the jars are there: Maven fetches them from Maven Central, 66 MB, once. Gives where they are.
///
/// # Errors
/// One line: what failed, and what to do.
pub fn fetch() -> Result<PathBuf, String> {
    let place = place()?;
    if place.join(jar()).is_file() || std::env::var_os(VARIABLE).is_some() {
        return Ok(place);
    }
    let parent = place.parent().unwrap_or(Path::new("/")).to_owned();
    let told = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    std::fs::create_dir_all(&parent).map_err(|e| told(&parent, e))?;
    // Tests side by side want the same; the lock goes with the process.
    let lock = parent.join("cassandra.lock");
    let held = File::create(&lock).map_err(|e| told(&lock, e))?;
    held.lock().map_err(|e| told(&lock, e))?;
    if place.join(jar()).is_file() {
        return Ok(place);
    }
    let half = parent.join(format!("cassandra-{VERSION}.part"));
    let _ = std::fs::remove_dir_all(&half);
    std::fs::create_dir_all(&half).map_err(|e| told(&half, e))?;
    std::fs::write(half.join("pom.xml"), project()).map_err(|e| told(&half, e))?;
    let mut maven = Command::new("mvn");
    maven.args(["-q", "-B", PLUGIN, "-DincludeScope=runtime"]).current_dir(&half);
    maven.arg(format!("-DoutputDirectory={}", half.display()));
    run(&mut maven, None).map_err(|reason| {
        format!(
            "Cassandra {VERSION} could not be fetched: {reason}; install Maven (Debian: `maven`), or set {VARIABLE} to \
             the `lib` of one that is installed"
        )
    })?;
    std::fs::rename(&half, &place).map_err(|e| told(&place, e))?;
    Ok(place)
}

fn jar() -> String {
    format!("cassandra-all-{VERSION}.jar")
}

fn project() -> String {
    format!(
        "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><modelVersion>4.0.0</modelVersion>\
         <groupId>truetail</groupId><artifactId>cassandra</artifactId><version>1</version><packaging>pom</packaging>\
         <dependencies><dependency><groupId>org.apache.cassandra</groupId><artifactId>cassandra-all</artifactId>\
         <version>{VERSION}</version></dependency></dependencies></project>\n"
    )
}

/// The jar that must be an agent of the JVM: Cassandra measures objects with it.
pub(super) fn agent(lib: &Path) -> Result<PathBuf, String> {
    let files = std::fs::read_dir(lib).map_err(|e| format!("{}: {e}", lib.display()))?;
    files
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.file_name().and_then(|name| name.to_str()).is_some_and(is_agent))
        .ok_or_else(|| format!("{}: there is no jamm-….jar, as Cassandra needs it", lib.display()))
}

fn is_agent(name: &str) -> bool {
    name.starts_with("jamm-") && name.ends_with(".jar")
}

/// Where distributions keep their JVMs.
const JVMS: &str = "/usr/lib/jvm";

/// A JVM that Cassandra runs on: 17 or 11.
pub(super) fn java() -> Result<PathBuf, String> {
    let chosen = std::env::var_os("JAVA_HOME").map(PathBuf::from);
    let installed = std::fs::read_dir(JVMS).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut homes: Vec<PathBuf> = installed.collect();
    homes.sort();
    for wanted in ["17", "11"] {
        let suits = |home: &&PathBuf| {
            let release = std::fs::read_to_string(home.join("release")).unwrap_or_default();
            version(&release) == Some(wanted) && home.join("bin/java").is_file()
        };
        if let Some(home) = chosen.iter().chain(&homes).find(suits) {
            return Ok(home.join("bin/java"));
        }
    }
    Err(format!(
        "no JVM 17 or 11 in JAVA_HOME or {JVMS}, on which Cassandra {VERSION} runs; install one (Debian: \
         `openjdk-17-jre-headless`)"
    ))
}

/// The first number of the version in a JDK's file `release`.
fn version(release: &str) -> Option<&str> {
    let line = release.lines().find_map(|line| line.strip_prefix("JAVA_VERSION=\""))?;
    line.split(['.', '"', '-', '+']).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jdk_says_its_version() {
        assert_eq!(version("IMPLEMENTOR=\"Debian\"\nJAVA_VERSION=\"17.0.15\"\n"), Some("17"));
        assert_eq!(version("JAVA_VERSION=\"25\"\n"), Some("25"));
        assert_eq!(version("nothing"), None);
    }

    #[test]
    fn the_agent_is_told_from_other_jars() {
        assert!(is_agent("jamm-0.4.0.jar") && !is_agent("jamm.txt") && !is_agent("netty-all-4.1.jar"));
    }
}
