//! Drivers that are built in when a feature of truetail asks for them. To add one: a line in [`OPTIONAL`], and its feature.
//!
//! `cargo xtask ci` builds and lints them like all else, and runs those of their tests that need nothing but themselves.
//! `cargo xtask ci --all-drivers` installs what they drive and runs all of their tests, and truetail's with their features.

use anyhow::{Context, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A driver that is not built in unless asked for.
pub(crate) struct Optional {
    /// truetail's feature.
    pub(crate) feature: &'static str,
    /// The driver's crate.
    pub(crate) package: &'static str,
    /// Features of the package with which those of its tests are built that need what it drives.
    pub(crate) tests: &'static [&'static str],
    /// Makes sure that what it drives is there; tells what was done, in a line.
    install: fn() -> anyhow::Result<String>,
}

/// The greppable table.
pub(crate) const OPTIONAL: &[Optional] = &[
    Optional { feature: "duckdb", package: "driver-duckdb", tests: &[], install: duckdb },
    Optional {
        feature: "cql",
        package: "driver-cql",
        tests: &["driver-cql/fetched-servers"],
        install: cassandra,
    },
    Optional { feature: "mongodb", package: "driver-mongodb", tests: &[], install: ferretdb },
];

/// Their features, as cargo takes them.
pub(crate) fn features() -> String {
    OPTIONAL.iter().map(|driver| driver.feature).collect::<Vec<_>>().join(",")
}

/// Installs what all of them drive.
///
/// # Errors
/// What could not be installed, and how to do it by hand.
pub(crate) fn install() -> anyhow::Result<()> {
    for driver in OPTIONAL {
        let done = (driver.install)().with_context(|| format!("what {} drives", driver.package))?;
        eprintln!("=== install: {}: {done}", driver.feature);
    }
    Ok(())
}

/// DuckDB's library as its makers put it into a package for Node, where it lies unchanged.
const DUCKDB_PACKAGE: &str = "@duckdb/node-bindings-linux-x64@1.5.6-r.1";
/// SHA-256 of the library in it.
const DUCKDB_SUM: &str = "3f4962cdd266eab2b479a5b5a4a6d063d279b2954ae814ed00385d553b747633";

fn duckdb() -> anyhow::Result<String> {
    let place = driver_duckdb::library::own_place().context("no HOME, under which to put the library")?;
    if std::env::var_os(driver_duckdb::library::VARIABLE).is_some() {
        return Ok(format!("{} says which library", driver_duckdb::library::VARIABLE));
    }
    let by_hand = format!("get libduckdb.so from duckdb.org and put it at {}", place.display());
    if place.exists() {
        return Ok(format!("{} is there", place.display()));
    }
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        bail!("only known how on Linux on x86-64; {by_hand}");
    }
    let scratch = Scratch::new()?;
    run(Command::new("npm").args(["pack", "--silent", DUCKDB_PACKAGE]).current_dir(&scratch.0))
        .with_context(|| format!("`npm pack` (Debian's package `npm`) did not fetch it; {by_hand}"))?;
    let archive = scratch.only("tgz")?;
    run(Command::new("tar").arg("-xzf").arg(&archive).current_dir(&scratch.0))?;
    let library = scratch.0.join("package").join(driver_duckdb::library::FILE);
    let sum = sum(&library)?;
    if sum != DUCKDB_SUM {
        bail!("{DUCKDB_PACKAGE} holds another library than expected: its SHA-256 is {sum}; {by_hand}");
    }
    put(&library, &place)?;
    Ok(format!("{DUCKDB_PACKAGE} is at {}", place.display()))
}

/// Cassandra's jars, of a fixed version: Maven checks what it fetches from Maven Central by checksums that lie there.
fn cassandra() -> anyhow::Result<String> {
    let place = servers::cassandra::fetch().map_err(anyhow::Error::msg)?;
    Ok(format!("Cassandra {} is at {}", servers::cassandra::VERSION, place.display()))
}

/// FerretDB's module and its checksum, as the public log of Go's checksums has it; `go` compares both.
const FERRETDB: &str = "github.com/FerretDB/FerretDB";
const FERRETDB_VERSION: &str = "v1.24.0";
const FERRETDB_SUM: &str = "h1:7WJmezL48Bj9bYWnhT/bEJgX5gjT5s7LFdHTqkN25rA=";

/// There is no package of it, and a module can't be installed by its name since its version is in a file that its makers write
/// before they build.
fn ferretdb() -> anyhow::Result<String> {
    let place = testkit::ferretdb::own_place().context("no HOME, under which to put the program")?;
    if std::env::var_os(testkit::ferretdb::VARIABLE).is_some() {
        return Ok(format!("{} says which program", testkit::ferretdb::VARIABLE));
    }
    if place.exists() {
        return Ok(format!("{} is there", place.display()));
    }
    let by_hand = format!("get FerretDB 1.24 from ferretdb.com and put it at {}", place.display());
    let scratch = Scratch::new()?;
    let module = format!("{FERRETDB}@{FERRETDB_VERSION}");
    let output = Command::new("go")
        .args(["mod", "download", "-json", &module])
        .current_dir(&scratch.0)
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("`go` (go.dev, 1.22 or later) could not be run; {by_hand}"))?;
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout)
        .with_context(|| format!("`go mod download {module}` did not fetch it; {by_hand}"))?;
    let text = |name: &str| answer[name].as_str().unwrap_or_default().to_owned();
    if text("Sum") != FERRETDB_SUM {
        bail!("{module} has the checksum `{}`, not the expected one; {by_hand}", text("Sum"));
    }
    let sources = scratch.0.join("sources");
    // What lies in Go's cache can't be written to.
    run(Command::new("cp").args(["-r", &text("Dir")]).arg(&sources))?;
    run(Command::new("chmod").args(["-R", "u+w"]).arg(&sources))?;
    std::fs::write(sources.join("build/version/version.txt"), FERRETDB_VERSION)?;
    let program = scratch.0.join("ferretdb");
    run(Command::new("go")
        .args(["build", "-trimpath", "-o"])
        .arg(&program)
        .arg("./cmd/ferretdb")
        .current_dir(&sources)
        .env("CGO_ENABLED", "0")
        .env("GOFLAGS", "-buildvcs=false"))?;
    put(&program, &place)?;
    Ok(format!("{module} is at {}", place.display()))
}

/// Copies a file so that it is never there by half.
fn put(from: &Path, to: &Path) -> anyhow::Result<()> {
    let directory = to.parent().context("no directory")?;
    std::fs::create_dir_all(directory).with_context(|| directory.display().to_string())?;
    let half = to.with_extension(format!("{}.part", std::process::id()));
    std::fs::copy(from, &half).with_context(|| half.display().to_string())?;
    std::fs::rename(&half, to).with_context(|| to.display().to_string())
}

fn sum(file: &Path) -> anyhow::Result<String> {
    let output = Command::new("sha256sum").arg(file).stdin(Stdio::null()).output().context("sha256sum")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let sum = text.split_whitespace().next().filter(|_| output.status.success());
    Ok(sum.with_context(|| format!("no checksum of {}", file.display()))?.to_owned())
}

fn run(command: &mut Command) -> anyhow::Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status().context(name.clone())?;
    if !status.success() {
        bail!("`{name}` ended with {status}");
    }
    Ok(())
}

/// A directory that is gone at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> anyhow::Result<Scratch> {
        let directory = std::env::temp_dir().join(format!("truetail-optional-{}", std::process::id()));
        std::fs::create_dir_all(&directory).with_context(|| directory.display().to_string())?;
        Ok(Scratch(directory))
    }

    /// The one file with this extension.
    fn only(&self, extension: &str) -> anyhow::Result<PathBuf> {
        let files = std::fs::read_dir(&self.0)?.flatten().map(|entry| entry.path());
        let mut found = files.filter(|path| path.extension().is_some_and(|found| found == extension));
        match (found.next(), found.next()) {
            (Some(file), None) => Ok(file),
            _ => bail!("not one file `.{extension}` was fetched"),
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repository(path: &str) -> String {
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)).unwrap()
    }

    /// truetail's manifest, its registry and this table speak of the same drivers.
    #[test]
    fn every_optional_driver_is_a_feature_and_has_its_line_in_the_registry() {
        let manifest = repository("crates/truetail/Cargo.toml");
        let registry = repository("crates/truetail/src/registry.rs");
        let optional = manifest.lines().filter(|line| line.contains("optional = true"));
        let packages: Vec<&str> = optional.filter_map(|line| line.split_whitespace().next()).collect();
        let known: Vec<&str> = OPTIONAL.iter().map(|driver| driver.package).collect();
        assert_eq!(packages, known);
        for Optional { feature, package, .. } in OPTIONAL {
            assert!(manifest.contains(&format!("{feature} = [\"dep:{package}\"]")), "{feature}");
            assert!(
                registry.contains(&format!(", \"{feature}\")")),
                "{feature} is not in the registry's OPTIONAL"
            );
        }
    }

    #[test]
    fn a_file_is_put_whole_and_its_checksum_is_that_of_its_bytes() {
        let scratch = Scratch(std::env::temp_dir().join(format!("truetail-put-{}", std::process::id())));
        std::fs::create_dir_all(&scratch.0).unwrap();
        let from = scratch.0.join("from");
        std::fs::write(&from, "abc").unwrap();
        let to = scratch.0.join("deep/down/to");
        put(&from, &to).unwrap();
        // FIPS 180-2, appendix B.1.
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sum(&to).unwrap(), expected);
        assert_eq!(std::fs::read_dir(to.parent().unwrap()).unwrap().count(), 1);
        assert!(sum(&scratch.0.join("nothing")).is_err());
    }
}
