//! JVMs to run load tools in: what there is, and the flags of each.

use super::preset::Size;
use anyhow::{Context, bail};
use prove::invocations::split_words;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A JVM, or why it can't be had.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Jvm {
    /// As harnesses are called: `G1`.
    pub(super) name: String,
    /// Its program.
    pub(super) java: PathBuf,
    /// What chooses its collector, and whatever else a user wants.
    pub(super) flags: Vec<String>,
    pub(super) kind: Kind,
    /// Its version as it tells it, or the reason why it can't be started with these flags.
    pub(super) version: Result<String, String>,
}

/// Whose log and flags it has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    HotSpot,
    OpenJ9,
}

/// The collectors that are asked of `java`: the paper's four of HotSpot, and the two that came before them.
const COLLECTORS: [(&str, &str); 6] = [
    ("G1", "G1"),
    ("ZGC", "Z"),
    ("Shenandoah", "Shenandoah"),
    ("Epsilon", "Epsilon"),
    ("Parallel", "Parallel"),
    ("Serial", "Serial"),
];

/// What OpenJ9 writes its log with.
const J9_LOG: &str = "-Xverbosegclog";

/// The JVMs that flags name, or the collectors of `java`; each is started once.
///
/// # Errors
/// One line: a flag that names none, or the same name twice.
pub(super) fn all(flags: &[String]) -> anyhow::Result<Vec<Jvm>> {
    let java = default_java();
    let asked: Vec<Asked> = match flags {
        [] => COLLECTORS.map(|(name, collector)| Asked::collector(name, collector)).into(),
        flags => flags.iter().map(|flag| Asked::parse(flag)).collect::<anyhow::Result<_>>()?,
    };
    for (at, one) in asked.iter().enumerate() {
        if asked[..at].iter().any(|other| other.name.eq_ignore_ascii_case(&one.name)) {
            bail!("--jvm {}: this name is there twice", one.name);
        }
    }
    Ok(asked.into_iter().map(|asked| asked.probe(&java)).collect())
}

/// What `--jvm` says.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Asked {
    name: String,
    home: Option<PathBuf>,
    flags: Vec<String>,
}

impl Asked {
    fn collector(name: &str, collector: &str) -> Asked {
        let mut flags = Vec::new();
        if collector == "Epsilon" {
            flags.push("-XX:+UnlockExperimentalVMOptions".to_owned());
        }
        flags.push(format!("-XX:+Use{collector}GC"));
        Asked { name: name.to_owned(), home: None, flags }
    }

    fn parse(flag: &str) -> anyhow::Result<Asked> {
        let (name, rest) = flag.split_once('=').filter(|(name, _)| is_name(name)).with_context(|| {
            format!("--jvm {flag}: write NAME=JAVA_HOME[,FLAGS] with a name of letters, digits, spaces and -, such as `--jvm J9=/opt/openj9,-Xgcpolicy:metronome`")
        })?;
        let (home, flags) = rest.split_once(',').unwrap_or((rest, ""));
        let mut flags = split_words(flags).with_context(|| format!("--jvm {name}"))?;
        if flags.iter().any(|word| word.starts_with("-XX:+UseEpsilonGC")) {
            flags.insert(0, "-XX:+UnlockExperimentalVMOptions".to_owned());
        }
        let home = Some(home).filter(|home| !home.is_empty()).map(PathBuf::from);
        Ok(Asked { name: name.trim().to_owned(), home, flags })
    }

    fn probe(self, java: &Path) -> Jvm {
        let java = self.home.map_or(java.to_owned(), |home| home.join("bin").join("java"));
        let told = version(&java, &self.flags);
        let is_j9 = self.flags.iter().any(|word| word.starts_with(J9_LOG))
            || told.as_ref().is_ok_and(|version| version.contains("OpenJ9"));
        let kind = if is_j9 { Kind::OpenJ9 } else { Kind::HotSpot };
        // The log's file is that of each run.
        let flags = self.flags.into_iter().filter(|word| !word.starts_with(J9_LOG)).collect();
        Jvm { name: self.name, java, flags, kind, version: told }
    }
}

/// A comma would end the name of the tool in that of a harness.
fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || " -._".contains(c);
    !name.trim().is_empty() && name.chars().all(plain)
}

/// `java` of JAVA_HOME, or of the path.
fn default_java() -> PathBuf {
    let home = std::env::var_os("JAVA_HOME").map(|home| PathBuf::from(home).join("bin").join("java"));
    home.filter(|java| java.is_file()).unwrap_or_else(|| PathBuf::from("java"))
}

/// What `java -version` says under these flags, on one line.
fn version(java: &Path, flags: &[String]) -> Result<String, String> {
    let output = Command::new(java).args(flags).arg("-version").stdin(Stdio::null()).output();
    let output = output.map_err(|error| {
        format!(
            "no Java: `{}` can't be started ({error}); install a JDK, or name one with --jvm",
            java.display()
        )
    })?;
    let words =
        [output.stderr, output.stdout].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    if !output.status.success() {
        let first = words.lines().find(|line| !line.trim().is_empty()).unwrap_or("nothing was said");
        return Err(format!("`{} {} -version` fails: {}", java.display(), flags.join(" "), first.trim()));
    }
    let told = |line: &&str| !line.contains("[warning]") && !line.trim().is_empty();
    let lines: Vec<&str> = words.lines().filter(told).map(str::trim).collect();
    Ok(lines.get(1..).filter(|rest| !rest.is_empty()).unwrap_or(&lines).join("; "))
}

impl Jvm {
    fn is_epsilon(&self) -> bool {
        self.flags.iter().any(|word| word == "-XX:+UseEpsilonGC")
    }

    /// The heap that it gets, MiB; `None` where its flags say so themselves.
    pub(super) fn heap_mib(&self, size: &Size, available_mib: u64) -> Option<u64> {
        let own = self.flags.iter().any(|word| word.starts_with("-Xmx") || word.starts_with("-XX:MaxRAM"));
        let heap =
            if self.is_epsilon() { size.epsilon_heap(available_mib) } else { size.heap(available_mib) };
        (!own).then_some(heap)
    }

    /// Heap that is touched before the load, MiB: it takes time.
    pub(super) fn touched_mib(&self, size: &Size, available_mib: u64) -> u64 {
        self.heap_mib(size, available_mib).filter(|_| self.is_epsilon()).unwrap_or(0)
    }

    /// Program and flags, with the log's file where one is wanted.
    pub(super) fn words(&self, size: &Size, available_mib: u64, log: Option<&Path>) -> Vec<String> {
        let mut words = vec![self.java.display().to_string()];
        words.extend(self.flags.iter().cloned());
        if let Some(heap) = self.heap_mib(size, available_mib) {
            words.push(format!("-Xmx{heap}m"));
            if self.is_epsilon() {
                // What it takes from the system in the middle of a load would be pauses of another kind.
                words.extend([format!("-Xms{heap}m"), "-XX:+AlwaysPreTouch".to_owned()]);
            }
        }
        if self.kind == Kind::HotSpot {
            // A load tool whose threads die of it would go on without them.
            words.push("-XX:+ExitOnOutOfMemoryError".to_owned());
        }
        words.extend(log.map(|file| self.log_flag(file)));
        words
    }

    /// HotSpot's lines have wall time, which foreign rows have too, and the uptime in nanoseconds, which makes it exact.
    fn log_flag(&self, file: &Path) -> String {
        let file = file.display();
        match self.kind {
            Kind::HotSpot => {
                format!(
                    "-Xlog:safepoint*,gc*:file={file}:utctime,timenanos,uptimenanos,level,tags:filecount=0"
                )
            }
            Kind::OpenJ9 => format!("{J9_LOG}:{file}"),
        }
    }
}

#[cfg(test)]
pub(super) fn made(name: &str, flags: &str) -> Jvm {
    let asked = Asked::parse(&format!("{name}=/jdk,{flags}")).expect("a JVM");
    Jvm { version: Ok("17".to_owned()), ..asked.probe(Path::new("java")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tell_tale::arguments::TellTaleArguments;

    fn words(jvm: &Jvm, log: Option<&str>) -> String {
        let size = Size::of(&TellTaleArguments::default()).expect("a size");
        jvm.words(&size, 100_000, log.map(Path::new)).join(" ")
    }

    #[test]
    fn each_kind_of_jvm_has_its_heap_and_its_log() {
        insta::assert_snapshot!(
            [
                words(&made("G1", "-XX:+UseG1GC"), Some("/x/gc.log")),
                words(&made("G1", "-XX:+UseG1GC -Xmx1g"), None),
                words(&made("Epsilon", "-XX:+UseEpsilonGC"), Some("/x/gc.log")),
                words(&made("J9", "-Xgcpolicy:gencon -Xverbosegclog:mine.log"), Some("/x/gc.log")),
            ]
            .join("\n"),
            @r#"
        /jdk/bin/java -XX:+UseG1GC -Xmx256m -XX:+ExitOnOutOfMemoryError -Xlog:safepoint*,gc*:file=/x/gc.log:utctime,timenanos,uptimenanos,level,tags:filecount=0
        /jdk/bin/java -XX:+UseG1GC -Xmx1g -XX:+ExitOnOutOfMemoryError
        /jdk/bin/java -XX:+UnlockExperimentalVMOptions -XX:+UseEpsilonGC -Xmx4096m -Xms4096m -XX:+AlwaysPreTouch -XX:+ExitOnOutOfMemoryError -Xlog:safepoint*,gc*:file=/x/gc.log:utctime,timenanos,uptimenanos,level,tags:filecount=0
        /jdk/bin/java -Xgcpolicy:gencon -Xmx256m -Xverbosegclog:/x/gc.log
        "#
        );
    }

    #[test]
    fn what_names_no_jvm_is_refused() {
        let wrong = |flags: &[&str]| {
            let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
            all(&flags).expect_err("refused").to_string()
        };
        assert!(wrong(&["/opt/jdk"]).starts_with("--jvm /opt/jdk: write NAME=JAVA_HOME[,FLAGS]"));
        assert!(wrong(&["a,b=/opt/jdk"]).starts_with("--jvm a,b=/opt/jdk: write"));
        assert_eq!(wrong(&["A=/x", "a=/y"]), "--jvm a: this name is there twice");
    }

    #[test]
    fn a_jvm_that_is_not_there_has_a_reason() {
        let jvms = all(&["X=/no/such/place,-XX:+UseG1GC".to_owned()]).expect("one JVM");
        let why = jvms[0].version.as_ref().expect_err("not there");
        assert!(why.starts_with("no Java: `/no/such/place/bin/java` can't be started"), "{why}");
    }
}
