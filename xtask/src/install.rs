//! Installs the programs that tests start: PostgreSQL, MariaDB and Redis servers, load tools, a JDK with Maven, a browser, a maker
//! of certificates.

use anyhow::{Context, bail};
use std::path::Path;
use std::process::{Command, Stdio};

/// A program that tests need, and the Debian package that brings it.
struct Need {
    /// Any of these will do: names on the path, or whole paths.
    programs: &'static [&'static str],
    package: &'static str,
}

const NEEDS: [Need; 14] = [
    Need { programs: &["initdb"], package: "postgresql" },
    Need { programs: &["pgbench"], package: "postgresql" },
    Need { programs: &["mariadbd", "/usr/sbin/mariadbd"], package: "mariadb-server" },
    Need { programs: &["mariadb-install-db"], package: "mariadb-server" },
    Need { programs: &["chromium", "chromium-browser", "google-chrome"], package: "chromium" },
    Need { programs: &["chromedriver"], package: "chromium-driver" },
    Need { programs: &["openssl"], package: "openssl" },
    Need { programs: &["redis-server"], package: "redis-server" },
    Need { programs: &["redis-cli"], package: "redis-tools" },
    Need { programs: &["redis-benchmark"], package: "redis-tools" },
    Need { programs: &["sysbench"], package: "sysbench" },
    Need { programs: &["javac"], package: "default-jdk-headless" },
    Need { programs: &["mvn"], package: "maven" },
    // A library of Debian's Python, which is not always the first on the path.
    Need { programs: &["/usr/lib/python3/dist-packages/redis/client.py"], package: "python3-redis" },
];

const SCRIPT: &str = include_str!("../assets/install.sh");
const POLICY: &str = "/usr/sbin/policy-rc.d";

/// Makes sure that everything is there; installs what is missing.
///
/// # Errors
/// What is missing and could not be installed, with the command to do it by hand.
pub(crate) fn what_tests_need() -> anyhow::Result<()> {
    let missing = missing();
    if missing.is_empty() {
        eprintln!("=== install: all programs that tests need are there");
        return Ok(());
    }
    eprintln!("=== install: {}", missing.join(", "));
    let by_hand = format!("install by hand: `apt-get install {}`", missing.join(" "));
    let mut command = privileged().with_context(|| by_hand.clone())?;
    command.args(["-c", SCRIPT, "install.sh", POLICY]).args(&missing).stdin(Stdio::null());
    let status = command.status().with_context(|| by_hand.clone())?;
    if !status.success() {
        bail!("apt-get could not install {} ({status}); {by_hand}", missing.join(", "));
    }
    let still = self::missing();
    if !still.is_empty() {
        bail!("apt-get reported success, but the programs of {} are not found; {by_hand}", still.join(", "));
    }
    Ok(())
}

/// Packages of which no program is found.
fn missing() -> Vec<&'static str> {
    let absent = |need: &&Need| !need.programs.iter().any(|program| is_there(program));
    let mut packages: Vec<&str> = NEEDS.iter().filter(absent).map(|need| need.package).collect();
    packages.sort_unstable();
    packages.dedup();
    packages
}

/// Whether a program is on the path, or among PostgreSQL's, which Debian keeps off the path.
fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    std::env::split_paths(&path)
        .chain(versions.map(|version| version.path().join("bin")))
        .any(|directory| directory.join(program).is_file())
}

/// A shell that may install: ours if we are root, else one through `sudo` if it asks no password.
fn privileged() -> anyhow::Result<Command> {
    if !is_there("apt-get") {
        bail!(
            "there is no `apt-get` here (Debian and Ubuntu have it); use this system's packages of the same names"
        );
    }
    if effective_user()? == 0 {
        return Ok(Command::new("sh"));
    }
    let sudo = Command::new("sudo").args(["-n", "true"]).stdin(Stdio::null()).stderr(Stdio::null()).status();
    if !sudo.is_ok_and(|status| status.success()) {
        bail!("installing needs root, and `sudo -n` does not give it");
    }
    let mut command = Command::new("sudo");
    command.args(["-n", "sh"]);
    Ok(command)
}

/// The user id that this process acts as.
fn effective_user() -> anyhow::Result<u32> {
    use std::os::unix::fs::MetadataExt;
    // The kernel gives a process's directory to its effective user.
    let own = Path::new("/proc/self");
    Ok(std::fs::metadata(own).context("/proc/self")?.uid())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;

    /// A directory with a fake `apt-get` in it; removed at the end.
    struct Stage(PathBuf);

    impl Stage {
        fn new(name: &str, apt_get: &str) -> Stage {
            let directory =
                std::env::temp_dir().join(format!("truetail-install-{}-{name}", std::process::id()));
            std::fs::create_dir_all(&directory).unwrap();
            let program = directory.join("apt-get");
            std::fs::write(&program, format!("#!/bin/sh\n{apt_get}\n")).unwrap();
            std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
            Stage(directory)
        }

        fn policy(&self) -> PathBuf {
            self.0.join("policy")
        }

        fn install(&self) -> bool {
            let path = format!("{}:{}", self.0.display(), std::env::var("PATH").unwrap());
            let mut command = Command::new("sh");
            command.args(["-c", SCRIPT, "install.sh"]).arg(self.policy()).args(["one", "two"]);
            command.env("PATH", path).env("STAGE", &self.0).stderr(Stdio::null()).status().unwrap().success()
        }

        fn said(&self) -> String {
            std::fs::read_to_string(self.0.join("said")).unwrap()
        }
    }

    impl Drop for Stage {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    /// Notes what it is asked and what the policy answers.
    const NOTES: &str = r#"
        sh "$STAGE/policy" && answer=$? || answer=$?
        echo "$answer: $*" >>"$STAGE/said""#;

    #[test]
    fn services_are_kept_from_starting_while_packages_are_installed() {
        let stage = Stage::new("policy", NOTES);
        assert!(stage.install());
        let said = stage.said();
        assert!(said.lines().all(|line| line.starts_with("101: ")), "{said}");
        assert!(said.contains("install") && said.trim_end().ends_with("one two"), "{said}");
        assert!(!stage.policy().exists(), "the policy must be gone");
    }

    #[test]
    fn the_policy_goes_also_when_installing_fails() {
        let stage = Stage::new("failure", "exit 100");
        assert!(!stage.install());
        assert!(!stage.policy().exists());
    }

    #[test]
    fn a_policy_that_was_there_stays_as_it_was() {
        let stage = Stage::new("kept", NOTES);
        std::fs::write(stage.policy(), "exit 7\n").unwrap();
        assert!(stage.install());
        assert!(stage.said().lines().all(|line| line.starts_with("7: ")));
        assert_eq!(std::fs::read_to_string(stage.policy()).unwrap(), "exit 7\n");
    }

    #[test]
    fn programs_are_found_or_not() {
        assert!(is_there("sh"));
        assert!(!is_there("no-such-program-here"));
        assert!(is_there("/bin/sh") && !is_there("/bin/no-such-program-here"));
    }
}
