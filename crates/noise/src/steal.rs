//! Time that the hypervisor gave to others while our CPUs wanted to run.

use crate::{Description, Kind, NoiseSource, Pace, Unavailable};

/// `steal` of `/proc/stat`, all CPUs together. A hypervisor need not report it: zero steal proves nothing.
#[derive(Default)]
pub(crate) struct Steal {
    jiffies: u64,
}

const NANOS_PER_JIFFY: f64 = 1e7; // USER_HZ is 100 on every Linux ABI

fn read_jiffies() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/stat").ok()?;
    parse(&text)
}

/// The eighth number of the line `cpu`.
fn parse(text: &str) -> Option<u64> {
    text.lines().next()?.strip_prefix("cpu ")?.split_whitespace().nth(7)?.parse().ok()
}

impl NoiseSource for Steal {
    fn describe(&self) -> Description {
        Description {
            name: "steal".into(),
            kind: Kind::Time,
            pace: Pace::Fast,
            quantum: "10 ms (1 jiffy)",
            summary: "time that the hypervisor took from our CPUs, by its own account",
        }
    }

    fn open(&mut self) -> Result<(), Unavailable> {
        self.jiffies =
            read_jiffies().ok_or_else(|| Unavailable("/proc/stat has no steal column here".to_owned()))?;
        Ok(())
    }

    fn read(&mut self, _elapsed_ns: u64) -> Option<f64> {
        let now = read_jiffies()?;
        let lost = now.saturating_sub(self.jiffies);
        self.jiffies = now;
        Some(lost as f64 * NANOS_PER_JIFFY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steal_column_is_the_eighth() {
        assert_eq!(parse("cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 0 0 0 0 0 0 0 0"), Some(8));
        assert_eq!(parse("cpu  1 2 3"), None);
        assert_eq!(parse(""), None);
    }
}
