//! What a URL says.

use crate::secrets::Secrets;
use driver::{TargetUrl, UrlError};
use std::path::{Path, PathBuf};
use units::Nanos;

/// How sessions reach the JVM.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Transport {
    /// A unix socket in a directory of ours: the least that the kernel can cost.
    Unix,
    /// TCP on 127.0.0.1, for the kernel's receive stamps.
    Tcp,
}

/// All that is needed to start the JVM and to connect.
#[derive(Clone)]
pub(crate) struct Config {
    pub(crate) class: String,
    /// Jars and directories, absolute; without wildcards.
    pub(crate) class_path: Vec<PathBuf>,
    pub(crate) java: PathBuf,
    /// Arguments of the JVM.
    pub(crate) jvm: Vec<String>,
    pub(crate) transport: Transport,
    /// What the binding is told.
    pub(crate) properties: Vec<(String, String)>,
    /// How long a session may take to begin.
    pub(crate) limit: Nanos,
    pub(crate) secrets: Secrets,
    /// The URL without what is secret.
    pub(crate) address: String,
}

const OPTIONS: [&str; 5] = ["jar", "java", "jvm", "transport", "init_timeout"];

/// The table of all YCSB workloads, as their property has it.
const TABLE: &str = "usertable";
/// What begins with it is a property of the binding.
const PROPERTY: &str = "p.";

/// Properties of YCSB's core workload, which `--workload ycsb…` takes by `-p`.
const WORKLOAD: [&str; 28] = [
    "table",
    "fieldcount",
    "fieldlength",
    "minfieldlength",
    "fieldnameprefix",
    "fieldlengthdistribution",
    "fieldlengthhistogram",
    "readallfields",
    "readallfieldsbyname",
    "writeallfields",
    "dataintegrity",
    "readproportion",
    "updateproportion",
    "insertproportion",
    "scanproportion",
    "readmodifywriteproportion",
    "requestdistribution",
    "minscanlength",
    "maxscanlength",
    "scanlengthdistribution",
    "insertorder",
    "zeropadding",
    "hotspotdatafraction",
    "hotspotopnfraction",
    "recordcount",
    "insertstart",
    "insertcount",
    "workload",
];

/// Properties of YCSB's client, and the flag that stands for each.
const CLIENT: [(&str, &str); 8] = [
    ("operationcount", "`--requests`"),
    ("maxexecutiontime", "`--duration`"),
    ("threadcount", "`--sessions`"),
    ("target", "`--rate`"),
    ("dotransactions", "`truetail load` and `truetail run`"),
    ("db", "the class behind `ycsb-db:`"),
    ("measurementtype", "truetail's own recording"),
    ("measurement.interval", "truetail's own recording, which has both"),
];

impl Config {
    /// Reads a URL; `variable` looks into the environment.
    pub(crate) fn new(
        url: &TargetUrl,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Config, UrlError> {
        let mut properties = Vec::new();
        for (name, value) in &url.options {
            match name.strip_prefix(PROPERTY) {
                Some(property) => {
                    belongs_here(url, property)?;
                    properties.push((property.to_owned(), value.clone()));
                }
                None if OPTIONS.contains(&name.as_str()) => {}
                None => {
                    let known = OPTIONS.join(", ");
                    return Err(url.error(format!(
                        "unknown option `{name}`; known are {known}, and p.NAME for the binding's property NAME"
                    )));
                }
            }
        }
        let all = |name: &'static str| url.options.iter().filter(move |(n, _)| n == name).map(|(_, v)| v);
        // Bindings that look for it there find the same.
        properties.push(("table".to_owned(), TABLE.to_owned()));
        let secrets = Secrets::of(&properties);
        Ok(Config {
            class: class(url)?,
            class_path: class_path(url, all("jar"))?,
            java: url.option("java").map_or_else(|| default_java(variable), PathBuf::from),
            jvm: all("jvm").flat_map(|words| words.split_whitespace()).map(str::to_owned).collect(),
            transport: transport(url)?,
            properties,
            limit: limit(url)?,
            secrets,
            address: url.to_string(),
        })
    }
}

/// That a property is the binding's, and not one that something else here decides.
fn belongs_here(url: &TargetUrl, property: &str) -> Result<(), UrlError> {
    if WORKLOAD.contains(&property) {
        return Err(url.error(format!(
            "`p.{property}` is the workload's and not the binding's: leave it out, and see `-p` of the workload ycsb"
        )));
    }
    match CLIENT.iter().find(|(name, _)| *name == property) {
        Some((name, instead)) => {
            Err(url.error(format!("`p.{name}` is for YCSB's client, which does not run here: use {instead}")))
        }
        None => Ok(()),
    }
}

fn class(url: &TargetUrl) -> Result<String, UrlError> {
    let is_name =
        |part: &str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || "_$".contains(c));
    match url.path.as_str() {
        "" => {
            Err(url.error("no class; write `ycsb-db:CLASS?jar=…`, such as `ycsb-db:site.ycsb.BasicDB?jar=…`"))
        }
        path if path.split('.').all(is_name) && !located(url) => Ok(path.to_owned()),
        path => Err(url.error(format!("`{path}` is no name of a Java class, such as `site.ycsb.BasicDB`"))),
    }
}

fn located(url: &TargetUrl) -> bool {
    !url.host.is_empty() || !url.user.is_empty() || url.port.is_some() || url.password.is_some()
}

/// The jars of all options `jar`, each a list as Java has it.
fn class_path<'a>(
    url: &TargetUrl,
    lists: impl Iterator<Item = &'a String>,
) -> Result<Vec<PathBuf>, UrlError> {
    let mut found = Vec::new();
    for entry in lists.flat_map(|list| list.split(':')).filter(|entry| !entry.is_empty()) {
        let named =
            std::path::absolute(entry).map_err(|error| url.error(format!("jar `{entry}`: {error}")))?;
        match entry.strip_suffix("/*") {
            Some(directory) => found.extend(jars(url, directory)?),
            None if named.exists() => found.push(named),
            None => return Err(url.error(format!("jar `{entry}`: there is no such file or directory"))),
        }
    }
    if found.is_empty() {
        return Err(url.error(
            "no jars; name YCSB's core, the binding and what it needs: `?jar=core.jar:binding.jar:lib/*`",
        ));
    }
    Ok(found)
}

/// The jars of a directory, by name.
fn jars(url: &TargetUrl, directory: &str) -> Result<Vec<PathBuf>, UrlError> {
    let said = |error: std::io::Error| url.error(format!("jar `{directory}/*`: {error}"));
    let place = std::path::absolute(directory).map_err(said)?;
    let mut found = Vec::new();
    for entry in std::fs::read_dir(place).map_err(said)? {
        found.push(entry.map_err(said)?.path());
    }
    found.retain(|path| is_jar(path));
    found.sort_unstable();
    if found.is_empty() {
        return Err(url.error(format!("jar `{directory}/*`: there is no jar")));
    }
    Ok(found)
}

fn is_jar(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("jar"))
}

/// `java` of JAVA_HOME, or of the path.
fn default_java(variable: &dyn Fn(&str) -> Option<String>) -> PathBuf {
    let home = variable("JAVA_HOME").map(|home| PathBuf::from(home).join("bin").join("java"));
    home.filter(|java| java.is_file()).unwrap_or_else(|| PathBuf::from("java"))
}

fn transport(url: &TargetUrl) -> Result<Transport, UrlError> {
    match url.option("transport") {
        None | Some("unix") => Ok(Transport::Unix),
        Some("tcp") => Ok(Transport::Tcp),
        Some(other) => Err(url.error(format!("transport `{other}` is none of unix, tcp"))),
    }
}

fn limit(url: &TargetUrl) -> Result<Nanos, UrlError> {
    // The first as long as a target may usually take to give up; the second for bindings that need more.
    const SECONDS: u64 = 10;
    const MOST: u64 = 120;
    let Some(text) = url.option("init_timeout") else { return Ok(Nanos::from_secs(SECONDS)) };
    let seconds = text.parse().ok().filter(|seconds| (1..=MOST).contains(seconds));
    seconds.map(Nanos::from_secs).ok_or_else(|| {
        url.error(format!("init_timeout `{text}` is not a whole number of seconds in 1..{MOST}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A place that is there on every machine: this crate's own directory.
    const HERE: &str = env!("CARGO_MANIFEST_DIR");

    fn config(text: &str) -> Result<Config, String> {
        let url = TargetUrl::parse(&text.replace("HERE", HERE)).unwrap();
        Config::new(&url, &|_| None).map_err(|error| error.to_string())
    }

    #[test]
    fn urls_say_which_class_and_with_what() {
        let all = config(
            "ycsb-db:site.ycsb.db.JdbcDBClient?jar=HERE:HERE/src&jar=HERE/tests&p.db.url=jdbc:x%3Fa=1%26b=2&\
             jvm=-Xmx1g%20-XX:+UseZGC&java=/opt/jdk/bin/java&transport=tcp&init_timeout=30",
        )
        .unwrap();
        assert_eq!(all.class, "site.ycsb.db.JdbcDBClient");
        assert_eq!(all.class_path, ["", "src", "tests"].map(|part| Path::new(HERE).join(part)));
        assert_eq!(all.jvm, ["-Xmx1g", "-XX:+UseZGC"]);
        assert_eq!((all.transport, all.limit), (Transport::Tcp, Nanos::from_secs(30)));
        assert_eq!(all.java, Path::new("/opt/jdk/bin/java"));
        let told: Vec<(&str, &str)> =
            all.properties.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(told, [("db.url", "jdbc:x?a=1&b=2"), ("table", "usertable")]);
        let least = config("ycsb-db:A?jar=HERE").unwrap();
        assert_eq!(least.transport, Transport::Unix);
        assert_eq!(least.java, Path::new("java"));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (text, words) in [
            ("ycsb-db:?jar=HERE", "no class"),
            ("ycsb-db:a/b?jar=HERE", "`a/b` is no name of a Java class"),
            ("ycsb-db:a..b?jar=HERE", "`a..b` is no name of a Java class"),
            ("ycsb-db://h/A?jar=HERE", "is no name of a Java class"),
            ("ycsb-db:A", "no jars; name YCSB's core"),
            ("ycsb-db:A?jar=", "no jars; name YCSB's core"),
            ("ycsb-db:A?jar=HERE/none.jar", "there is no such file or directory"),
            ("ycsb-db:A?jar=HERE/none/*", "No such file"),
            ("ycsb-db:A?jar=HERE/src/*", "there is no jar"),
            ("ycsb-db:A?jar=HERE&jars=b", "unknown option `jars`; known are jar, java"),
            ("ycsb-db:A?jar=HERE&transport=shm", "transport `shm` is none of unix, tcp"),
            ("ycsb-db:A?jar=HERE&init_timeout=0", "init_timeout `0` is not a whole number"),
            ("ycsb-db:A?jar=HERE&p.fieldcount=5", "`p.fieldcount` is the workload's and not the binding's"),
            ("ycsb-db:A?jar=HERE&p.threadcount=5", "use `--sessions`"),
            ("ycsb-db:A?jar=HERE&p.table=t", "`p.table` is the workload's"),
        ] {
            let problem = config(text).err().unwrap_or_else(|| panic!("{text}"));
            assert!(problem.contains(words) && !problem.contains('\n'), "{text}: {problem}");
        }
    }

    #[test]
    fn java_is_that_of_java_home_where_there_is_one() {
        assert_eq!(default_java(&|_| Some(format!("{HERE}/none"))), Path::new("java"));
        assert_eq!(default_java(&|_| None), Path::new("java"));
    }
}
