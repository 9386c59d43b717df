//! Running other programs, with errors that say what they said.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// The user that a server runs as: PostgreSQL refuses to run as root.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Account {
    /// Its number.
    pub uid: u32,
    /// That of its group.
    pub gid: u32,
}

/// Users to become when this process is root, best first.
const UNPRIVILEGED: [&str; 3] = ["truetail", "bench", "nobody"];

/// The account to run servers as: `None` is the present one.
///
/// # Errors
/// One line: when this process is root and has nobody else to become.
pub fn unprivileged() -> Result<Option<Account>, String> {
    // SAFETY: `geteuid` takes nothing and cannot fail.
    if unsafe { libc::geteuid() } != 0 {
        return Ok(None);
    }
    let table = std::fs::read_to_string("/etc/passwd").map_err(|e| format!("/etc/passwd: {e}"))?;
    UNPRIVILEGED
        .iter()
        .find_map(|name| account(&table, name))
        .map(Some)
        .ok_or_else(|| format!("running as root, and none of the users {UNPRIVILEGED:?} exists to run it as"))
}

fn account(table: &str, name: &str) -> Option<Account> {
    table.lines().find_map(|line| {
        let mut fields = line.split(':');
        if fields.next() != Some(name) {
            return None;
        }
        Some(Account { uid: fields.nth(1)?.parse().ok()?, gid: fields.next()?.parse().ok()? })
    })
}

/// Runs a program to its end as `account`; its standard output.
///
/// # Errors
/// One line: why it could not be run, or what it said when it failed.
pub fn run(program: &mut Command, account: Option<Account>) -> Result<String, String> {
    if let Some(account) = account {
        // The standard library also drops the supplementary groups when root becomes somebody else.
        program.uid(account.uid).gid(account.gid);
    }
    let name = program.get_program().to_string_lossy().into_owned();
    let output =
        program.stdin(Stdio::null()).output().map_err(|e| format!("`{name}` could not be run: {e}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let words =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    Err(format!("`{name}` failed ({}): {}", output.status, words.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_are_found_by_their_whole_name() {
        let table = "root:x:0:0::/:/bin/sh\nbenchmark:x:7:8::/:/x\nbench:x:1001:1002:B:/home/b:/bin/sh\n";
        assert_eq!(account(table, "bench"), Some(Account { uid: 1001, gid: 1002 }));
        assert_eq!(account(table, "nobody"), None);
    }

    #[test]
    fn a_failing_program_is_quoted() {
        let error = run(Command::new("sh").args(["-c", "echo broken >&2; exit 3"]), None).unwrap_err();
        assert!(error.contains("`sh` failed") && error.contains("broken"), "{error}");
        assert!(run(&mut Command::new("no-such-program-here"), None).is_err());
    }
}
