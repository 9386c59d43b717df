//! How much of a run its log holds. pgbench writes a file for each thread, and with `--sampling-rate` a random share of the
//! transactions: a rate that was asked of the whole run can't be held against less than that.

use super::Summary;
use units::PerSecond;

/// Standard deviations of a sample's size that count as chance.
const CHANCE: f64 = 5.0;

/// What of a run's transactions its log holds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Held {
    /// All, as far as anybody says.
    Whole,
    /// A random sample of this share, in (0, 1).
    Sample(f64),
    /// Another number of them than the summary has, or the given share of that.
    Other(u64, Option<f64>),
    /// The files of some of so many threads.
    Threads(usize),
}

/// What was found in the files of a log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    /// Transactions that succeeded.
    pub(crate) succeeded: u64,
    pub(crate) files: usize,
    /// Clients that have a line.
    pub(crate) clients: usize,
}

impl Summary {
    /// What a log holds. Where the summary counts transactions, its count decides: threads' files may have been put together.
    pub(crate) fn held(&self, found: Found) -> Held {
        match (self.processed, self.lacks_threads(found)) {
            // How many a sample holds is chance, and can't tell whether a file is missing.
            (Some(processed), lacks) if lacks.is_none() || self.sampled.is_none() => {
                self.held_of(processed, found.succeeded)
            }
            (_, Some(threads)) => Held::Threads(threads),
            (_, None) => self.sampled.map_or(Held::Whole, Held::Sample),
        }
    }

    /// The same where so many were processed. More than that are of another run, too, and no sample.
    fn held_of(&self, processed: u64, succeeded: u64) -> Held {
        match self.sampled {
            _ if succeeded > processed => Held::Whole,
            Some(share) if is_sample(succeeded, processed, share) => Held::Sample(share),
            None if succeeded == processed => Held::Whole,
            sampled => Held::Other(processed, sampled),
        }
    }

    /// How many threads there were, where the files are not those of all.
    fn lacks_threads(&self, found: Found) -> Option<usize> {
        let has_all_clients = self.clients.is_some_and(|clients| found.clients >= clients);
        self.threads.filter(|threads| found.files < *threads && !has_all_clients)
    }

    /// The rate that was asked of what the log holds; `None` where none is known.
    pub(crate) fn asked_of(&self, held: Held) -> Option<PerSecond> {
        match held {
            Held::Whole => self.asked,
            Held::Sample(share) => PerSecond::new(self.asked?.get() * share),
            Held::Other(..) | Held::Threads(_) => None,
        }
    }
}

/// Whether so many of all are what chance makes of a share.
fn is_sample(found: u64, of: u64, share: f64) -> bool {
    let expected = of as f64 * share;
    let chance = CHANCE * (expected * (1.0 - share)).sqrt();
    (found as f64 - expected).abs() <= chance
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(command: &str, processed: Option<u64>) -> Summary {
        let mut summary = Summary { processed, ..Summary::default() };
        summary.take_command(command);
        summary
    }

    fn found(succeeded: u64, files: usize, clients: usize) -> Found {
        Found { succeeded, files, clients }
    }

    #[test]
    fn a_rate_is_asked_of_what_the_log_holds() {
        let cases = [
            ("-R 1000", None, found(500, 1, 4), Held::Whole, Some(1_000.0)),
            ("-R 1000", Some(500), found(500, 1, 4), Held::Whole, Some(1_000.0)),
            ("-R 1000", Some(600), found(500, 1, 4), Held::Other(600, None), None),
            ("-R 1000 --sampling-rate=0.1", None, found(50, 1, 4), Held::Sample(0.1), Some(100.0)),
            ("-R 1000 --sampling-rate 0.1", Some(500), found(56, 1, 4), Held::Sample(0.1), Some(100.0)),
            (
                "-R 1000 --sampling-rate=0.1",
                Some(5_000),
                found(250, 1, 4),
                Held::Other(5_000, Some(0.1)),
                None,
            ),
            ("-R 1000 --sampling-rate=0.1", Some(500), found(500, 1, 4), Held::Other(500, Some(0.1)), None),
            ("-R 1000 -j 4 -c 8", None, found(50, 1, 2), Held::Threads(4), None),
            ("-R 1000 -j 4 -c 8", None, found(50, 4, 8), Held::Whole, Some(1_000.0)),
            // All clients in one file: threads' files that were put together.
            ("-R 1000 -j 4 -c 8", None, found(50, 1, 8), Held::Whole, Some(1_000.0)),
            ("-R 1000 -j 4 -c 8", Some(50), found(50, 1, 2), Held::Whole, Some(1_000.0)),
            ("-R 1000 -j 4 --sampling-rate=0.5", Some(100), found(38, 3, 6), Held::Threads(4), None),
            // More than a run made are of another, which is said apart.
            ("-R 1000 --sampling-rate=0.5", Some(100), found(101, 1, 1), Held::Whole, Some(1_000.0)),
        ];
        for (command, processed, found, expected, rate) in cases {
            let summary = summary(command, processed);
            let held = summary.held(found);
            assert_eq!(held, expected, "{command} {processed:?} {found:?}");
            let asked = summary.asked_of(held).map(PerSecond::get);
            assert_eq!(asked, rate, "{command} {processed:?} {found:?}");
        }
    }
}
