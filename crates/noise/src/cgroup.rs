//! Throttling by the CPU controller: what a container's CPU limit looks like from inside.
//!
//! A limit may be set at any level above us, and each level counts its own stops alone: so all levels up to the mount are
//! read, as far as a container sees them. The value is the sum of the levels. Two of them can stop the same CPU at the same
//! time, which then counts twice; the largest of them would leave out what stopped us apart from it, and what is left out
//! would be believed. The kernel adds up the run queues of all CPUs: one stop of a group that runs on four CPUs counts four
//! times its length, and so may be longer than its window.

use crate::counter::Growth;
use crate::text::unavailable;
use crate::{Description, Kind, NoiseSource, Pace, Unavailable, Watch};
use std::path::{Component, Path, PathBuf};

/// `throttled_usec` (v2) or `throttled_time` (v1) of the cgroup that we are in and of those above it.
pub(crate) fn sources(watch: &Watch) -> Vec<Box<dyn NoiseSource>> {
    let about = Description {
        name: "throttled".into(),
        kind: Kind::Time,
        pace: Pace::Fast,
        quantum: "1 µs",
        summary: "time that CPU limits of our cgroup, or of one above it, stopped it, on all CPUs together",
    };
    let (proc, mounts) = (watch.places.proc.clone(), watch.places.sys.join("fs/cgroup"));
    let mut files: Vec<PathBuf> = Vec::new();
    vec![Box::new(Growth::new(about, 1.0, move || {
        if files.is_empty() {
            files = levels(&proc, &mounts)?;
        }
        files.iter().try_fold(0u64, |sum, file| Ok(sum.saturating_add(throttled(file)?)))
    }))]
}

fn throttled(file: &Path) -> Result<u64, Unavailable> {
    let text = std::fs::read_to_string(file).map_err(|error| unavailable(file, error))?;
    parse(&text).ok_or_else(|| unavailable(file, "no throttled time in it"))
}

/// Both versions' spelling, in ns.
fn parse(text: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(' ')?;
        let value: u64 = value.trim().parse().ok()?;
        match name {
            "throttled_usec" => value.checked_mul(1000),
            "throttled_time" => Some(value),
            _ => None,
        }
    })
}

/// The files of all levels that count: v2 by the unified line, v1 by the line that names the cpu controller. A level
/// without the controller has none, nor has the root of v2.
fn levels(proc: &Path, mounts: &Path) -> Result<Vec<PathBuf>, Unavailable> {
    let membership = std::fs::read_to_string(proc.join("self/cgroup")).unwrap_or_default();
    for line in membership.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let names: &[&str] = match controllers {
            "" => &["", "unified"],
            _ if controllers.split(',').any(|controller| controller == "cpu") => &["cpu", "cpu,cpuacct"],
            _ => continue,
        };
        for mount in names.iter().map(|name| mounts.join(name)) {
            let found: Vec<PathBuf> = upwards(path)
                .map(|path| mount.join(path).join("cpu.stat"))
                .filter(|file| throttled(file).is_ok())
                .collect();
            if !found.is_empty() {
                return Ok(found);
            }
        }
    }
    Err(Unavailable("no cgroup of ours has a cpu.stat with throttling".to_owned()))
}

/// `/a/b` → `a/b`, `a`, and the mount itself. What leads out of the mount is left out: a container does not see it.
fn upwards(path: &str) -> impl Iterator<Item = PathBuf> {
    let within = Path::new(path).components().filter(|part| matches!(part, Component::Normal(_)));
    let within: PathBuf = within.collect();
    within.ancestors().map(Path::to_owned).collect::<Vec<_>>().into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Planted;

    #[test]
    fn both_versions_are_read_in_nanoseconds() {
        assert_eq!(parse("usage_usec 5\nnr_throttled 1\nthrottled_usec 7\n"), Some(7000));
        assert_eq!(parse("nr_periods 0\nnr_throttled 0\nthrottled_time 7\n"), Some(7));
        assert_eq!(parse("usage_usec 5\n"), None);
        assert_eq!(parse("throttled_usec x\n"), None);
        assert_eq!(parse("throttled_usec 18446744073709551615\n"), None);
    }

    #[test]
    fn a_limit_above_ours_is_seen() {
        for (line, root) in
            [("0::/pod/box", "sys/fs/cgroup"), ("4:cpu,cpuacct:/pod/box", "sys/fs/cgroup/cpu")]
        {
            let planted = Planted::new("cgroup");
            planted.write("proc/self/cgroup", &format!("9:memory:/elsewhere\n{line}\n"));
            let level = |path: &str, usec: u64| {
                planted.write(
                    &format!("{root}{path}/cpu.stat"),
                    &format!("usage_usec 1\nthrottled_usec {usec}\n"),
                );
            };
            // The root of v2 does not count.
            planted.write(&format!("{root}/cpu.stat"), "usage_usec 1\n");
            level("/pod", 100);
            level("/pod/box", 10);
            level("/pod/other", 1);
            let mut source = sources(&planted.watch()).swap_remove(0);
            source.open().unwrap();
            assert_eq!(source.read(1), Some(0.0));
            level("/pod", 130);
            assert_eq!(source.read(1), Some(30e3), "{line}: the limit above");
            level("/pod", 131);
            level("/pod/box", 15);
            level("/pod/other", 999);
            assert_eq!(source.read(1), Some(6e3), "{line}: both, and no other's");
            // A level that can't be read makes the window unknown, and the next one, too.
            planted.write(&format!("{root}/pod/cpu.stat"), "");
            assert_eq!(source.read(1), None);
            level("/pod", 200);
            assert_eq!((source.read(1), source.read(1)), (None, Some(0.0)));
        }
    }

    #[test]
    fn no_controller_is_said() {
        let planted = Planted::new("no-cgroup");
        let why = sources(&planted.watch())[0].open().unwrap_err().0;
        assert_eq!(why, "no cgroup of ours has a cpu.stat with throttling");
        let up: Vec<PathBuf> = upwards("/../a").collect();
        assert_eq!(up, [PathBuf::from("a"), PathBuf::new()]);
    }
}
