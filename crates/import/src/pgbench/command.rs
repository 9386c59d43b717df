//! What a command line of pgbench says that its summary does not.

use crate::figures::{number, rate};
use units::PerSecond;

/// The rate of `-R` or `--rate`; `None` where there is none, or the line does not say it.
pub(crate) fn asked(command: &str) -> Option<PerSecond> {
    value(command, Some("-R"), "--rate").and_then(rate).filter(|rate| rate.get() > 0.0)
}

/// Whether `--max-tries` lets transactions be tried again, as often as wanted or more than once.
pub(crate) fn retries(command: &str) -> bool {
    value(command, None, "--max-tries").is_some_and(|tries| tries != "1")
}

/// The share of transactions that `--sampling-rate` lets into the log, in (0, 1); `None` where it is all of them, or the line does
/// not say it.
pub(crate) fn sampled(command: &str) -> Option<f64> {
    value(command, None, "--sampling-rate").and_then(number).filter(|share| *share > 0.0 && *share < 1.0)
}

/// Clients of `-c`; `None` where the line does not say it.
pub(crate) fn clients(command: &str) -> Option<usize> {
    value(command, Some("-c"), "--client")?.parse().ok()
}

/// Threads of `-j`, of which each writes a log; pgbench starts no more of them than clients.
pub(crate) fn threads(command: &str) -> Option<usize> {
    let threads: usize = value(command, Some("-j"), "--jobs")?.parse().ok()?;
    Some(clients(command).map_or(threads, |clients| threads.min(clients)))
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

    #[test]
    fn a_sample_is_a_share_below_all() {
        for line in ["pgbench --sampling-rate=0.1", "pgbench -l --sampling-rate 0.1 -R 5"] {
            assert_eq!(sampled(line), Some(0.1), "{line}");
        }
        for line in ["", "--sampling-rate=1", "--sampling-rate=0", "--sampling-rate=2", "--sampling-rate few"]
        {
            assert_eq!(sampled(line), None, "{line}");
        }
    }

    #[test]
    fn there_are_no_more_threads_than_clients() {
        for (line, expected) in [
            ("pgbench -j 4 -c 8", Some(4)),
            ("pgbench -j4 -c2", Some(2)),
            ("pgbench --jobs=4 --client=3", Some(3)),
            ("pgbench -j 4", Some(4)),
            ("pgbench -c 8", None),
            ("pgbench -j many", None),
        ] {
            assert_eq!(threads(line), expected, "{line}");
        }
    }
}
