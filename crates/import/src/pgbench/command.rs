//! What a command line of pgbench says that its summary does not.

use crate::figures::rate;
use units::PerSecond;

/// The rate of `-R` or `--rate`; `None` where there is none, or the line does not say it.
pub(crate) fn asked(command: &str) -> Option<PerSecond> {
    value(command, Some("-R"), "--rate").and_then(rate).filter(|rate| rate.get() > 0.0)
}

/// Whether `--max-tries` lets transactions be tried again, as often as wanted or more than once.
pub(crate) fn retries(command: &str) -> bool {
    value(command, None, "--max-tries").is_some_and(|tries| tries != "1")
}

/// What stands behind a flag: `-R 500`, `-R500`, `--rate 500`, `--rate=500`. The last one counts.
fn value<'a>(command: &'a str, short: Option<&str>, long: &str) -> Option<&'a str> {
    let words: Vec<&str> = command.split_whitespace().collect();
    let of_word = |at: usize| {
        let next = || words.get(at + 1).copied();
        let word = words[at];
        if let Some(rest) = word.strip_prefix(long) {
            return if rest.is_empty() { next() } else { rest.strip_prefix('=') };
        }
        let rest = word.strip_prefix(short?)?;
        if rest.is_empty() { next() } else { Some(rest) }
    };
    (0..words.len()).rev().find_map(of_word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_read_in_each_of_their_forms() {
        let asked = |command: &str| asked(command).map(PerSecond::get);
        for line in
            ["pgbench -R 500 x", "pgbench -R500", "pgbench --rate=500", "pgbench -n --rate 500 -R 500"]
        {
            assert_eq!(asked(line), Some(500.0), "{line}");
        }
        for line in
            ["pgbench x", "pgbench -R", "pgbench -R 0", "pgbench -R fast", "pgbench --rates=5", "a note"]
        {
            assert_eq!(asked(line), None, "{line}");
        }
        assert!(retries("pgbench --max-tries=10") && retries("pgbench --max-tries 0"));
        assert!(!retries("pgbench --max-tries=1") && !retries("pgbench -R 5"));
    }
}
