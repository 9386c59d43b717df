//! Throttling by the CPU controller of our cgroup: what a container's CPU limit looks like from inside.

use crate::{Description, Kind, NoiseSource, Pace, Unavailable};
use std::path::PathBuf;

/// `throttled_usec` (v2) or `throttled_time` (v1) of the cgroup that we are in.
#[derive(Default)]
pub(crate) struct Throttled {
    file: PathBuf,
    nanos: u64,
}

/// Both versions' spelling, in ns.
fn parse(text: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(' ')?;
        let value: u64 = value.trim().parse().ok()?;
        match name {
            "throttled_usec" => Some(value * 1000),
            "throttled_time" => Some(value),
            _ => None,
        }
    })
}

/// Where our `cpu.stat` may be: v2 by the unified line, v1 by the line that names the cpu controller.
fn candidates() -> Vec<PathBuf> {
    let membership = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let mut files = Vec::new();
    for line in membership.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let path = path.trim_start_matches('/');
        if controllers.is_empty() {
            files.push(PathBuf::from("/sys/fs/cgroup").join(path).join("cpu.stat"));
            files.push(PathBuf::from("/sys/fs/cgroup/unified").join(path).join("cpu.stat"));
        } else if controllers.split(',').any(|c| c == "cpu") {
            for mount in ["cpu", "cpu,cpuacct"] {
                files.push(PathBuf::from("/sys/fs/cgroup").join(mount).join(path).join("cpu.stat"));
            }
        }
    }
    files
}

impl NoiseSource for Throttled {
    fn describe(&self) -> Description {
        Description {
            name: "throttled".into(),
            kind: Kind::Time,
            pace: Pace::Fast,
            quantum: "1 µs",
            summary: "time that our cgroup's CPU limit stopped us",
        }
    }

    fn open(&mut self) -> Result<(), Unavailable> {
        for file in candidates() {
            if let Some(nanos) = std::fs::read_to_string(&file).ok().as_deref().and_then(parse) {
                (self.file, self.nanos) = (file, nanos);
                return Ok(());
            }
        }
        Err(Unavailable("no cgroup of ours has a cpu.stat with throttling".to_owned()))
    }

    fn read(&mut self, _elapsed_ns: u64) -> Option<f64> {
        let now = parse(&std::fs::read_to_string(&self.file).ok()?)?;
        let lost = now.saturating_sub(self.nanos);
        self.nanos = now;
        Some(lost as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_are_read_in_nanoseconds() {
        assert_eq!(parse("usage_usec 5\nnr_throttled 1\nthrottled_usec 7\n"), Some(7000));
        assert_eq!(parse("nr_periods 0\nnr_throttled 0\nthrottled_time 7\n"), Some(7));
        assert_eq!(parse("usage_usec 5\n"), None);
        assert_eq!(parse("throttled_usec x\n"), None);
    }
}
