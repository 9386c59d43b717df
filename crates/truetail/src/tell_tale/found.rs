//! What this host has: JVMs, load tools, servers, memory.

use super::arguments::TellTaleArguments;
use super::database::Server;
use super::jvm::{self, Jvm};
use anyhow::{Context, bail};
use driver::TargetUrl;
use std::path::{Path, PathBuf};

/// What was found.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Found {
    pub(super) jvms: Vec<Jvm>,
    /// YCSB's class path.
    pub(super) ycsb: Result<String, String>,
    /// BenchBase's jar, where one was named.
    pub(super) benchbase: Option<Result<PathBuf, String>>,
    pub(super) postgres: Result<Place, String>,
    pub(super) mariadb: Result<Place, String>,
    /// Memory that is free for heaps, MiB.
    pub(super) available_mib: u64,
}

impl Found {
    /// Where the server of this target is, or why there is none.
    pub(super) fn place(&self, server: Server) -> &Result<Place, String> {
        match server {
            Server::PostgreSql => &self.postgres,
            Server::MariaDb => &self.mariadb,
        }
    }
}

/// Where a server is.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Place {
    /// Where the user says.
    Given(TargetUrl),
    /// Started from installed programs, which are here.
    Installed(PathBuf),
}

impl Place {
    /// Java's driver knows no unix sockets.
    pub(super) fn through_jdbc(&self) -> Result<(), String> {
        match self {
            Place::Given(url) if url.host.is_empty() || url.host.starts_with('/') => {
                Err(format!("Java's driver reaches no server on a unix socket, as {url} is; give it a host"))
            }
            _ => Ok(()),
        }
    }

    /// The URL that was given.
    pub(super) fn given(&self) -> Option<&TargetUrl> {
        match self {
            Place::Given(url) => Some(url),
            Place::Installed(_) => None,
        }
    }
}

/// Where `mvn package` puts the binding, from truetail's sources.
const BINDING: &str = "bindings/ycsb/target";
const JAR: &str = "truetail-ycsb.jar";

/// Looks at the host; starts each JVM once, and nothing else.
///
/// # Errors
/// A flag that says what can't be; what is missing is no error.
pub(super) fn look(arguments: &TellTaleArguments) -> anyhow::Result<Found> {
    let (mut ycsb, mut benchbase) = (arguments.class_path.clone(), None);
    for flag in &arguments.harness {
        match flag.split_once('=') {
            Some(("ycsb", path)) if !path.is_empty() => ycsb = Some(path.to_owned()),
            Some(("benchbase", path)) if !path.is_empty() => benchbase = Some(jar(path)),
            _ => bail!("--harness {flag}: write ycsb=PATH or benchbase=PATH"),
        }
    }
    let postgres = match Server::PostgreSql.given(arguments.postgres.as_deref())? {
        Some(url) => Ok(Place::Given(url)),
        None => servers::postgres::find_programs().map(Place::Installed),
    };
    let mariadb = match Server::MariaDb.given(arguments.mariadb.as_deref())? {
        Some(url) => Ok(Place::Given(url)),
        None => servers::mariadb::find("mariadbd").map(Place::Installed),
    };
    Ok(Found {
        jvms: jvm::all(&arguments.jvm)?,
        ycsb: class_path(ycsb.as_deref()),
        benchbase,
        postgres,
        mariadb,
        available_mib: crate::host::available_mib()
            .context("/proc/meminfo does not say how much memory is free")?,
    })
}

/// A class path as it was given, or that of a directory.
fn class_path(given: Option<&str>) -> Result<String, String> {
    let place = given.unwrap_or(BINDING);
    let directory = Path::new(place);
    if directory.join(JAR).is_file() {
        let directory = directory.canonicalize().map_err(|error| format!("{place}: {error}"))?;
        return Ok(format!("{0}/{JAR}:{0}/lib/*", directory.display()));
    }
    let first = place.split(':').next().unwrap_or_default();
    if given.is_some() && Path::new(first).is_file() {
        return Ok(place.to_owned());
    }
    Err(format!(
        "no YCSB in {place}: `mvn -q package` in bindings/ycsb of truetail's sources builds it; then `--harness ycsb={BINDING}`"
    ))
}

fn jar(path: &str) -> Result<PathBuf, String> {
    let path = Path::new(path);
    let path = if path.is_dir() { path.join("benchbase.jar") } else { path.to_owned() };
    path.canonicalize().map_err(|error| format!("no BenchBase: {}: {error}", path.display()))
}

#[cfg(test)]
pub(super) fn made() -> Found {
    Found {
        jvms: vec![jvm::made("G1", "-XX:+UseG1GC"), jvm::made("Epsilon", "-XX:+UseEpsilonGC")],
        ycsb: Ok("/y/truetail-ycsb.jar:/y/lib/*".to_owned()),
        benchbase: None,
        postgres: Ok(Place::Installed("/usr/lib/postgresql/15/bin".into())),
        mariadb: Ok(Place::Installed("/usr/sbin/mariadbd".into())),
        available_mib: 16_000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_binding_that_is_not_built_comes_with_the_command_that_builds_it() {
        let why = class_path(Some("/no/such/place")).expect_err("nothing there");
        assert!(why.starts_with("no YCSB in /no/such/place: `mvn -q package` in bindings/ycsb"), "{why}");
    }

    #[test]
    fn a_harness_is_a_tool_and_its_place() {
        let wrong = |flag: &str| {
            let arguments =
                TellTaleArguments { harness: vec![flag.to_owned()], ..TellTaleArguments::default() };
            look(&arguments).expect_err("refused").to_string()
        };
        assert_eq!(wrong("pgbench=/x"), "--harness pgbench=/x: write ycsb=PATH or benchbase=PATH");
        assert_eq!(wrong("ycsb="), "--harness ycsb=: write ycsb=PATH or benchbase=PATH");
    }
}
