//! Block devices: how long an I/O takes, and how many wait.

use crate::text::{SharedTable, Table, value_of};
use crate::{Description, Kind, NoiseSource, Pace, Unavailable, Watch};
use std::collections::BTreeMap;

/// Devices that are watched, at most: those that have done most.
const DEVICES_MAX: usize = 8;

/// What `/proc/diskstats` counts of one device (Documentation/admin-guide/iostats.rst).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Counts {
    /// Reads and writes that were done.
    done: u64,
    /// Time from queueing to the end of all of them, ms.
    waited_ms: u64,
    /// Sum over time of how many were in flight, ms.
    weighted_ms: u64,
}

type Devices = BTreeMap<String, Counts>;

/// Two for each whole device that has done anything yet. Where nothing can be read there is one source, that says so.
pub(crate) fn sources(watch: &Watch) -> Vec<Box<dyn NoiseSource>> {
    let path = watch.places.proc.join("diskstats");
    let table = Table::shared(path, parse, watch.clock);
    let whole = |name: &str| watch.places.sys.join("block").join(name).exists();
    let found = value_of(&table, |devices| Some(busiest(devices, whole)), "device");
    let names = match found {
        Ok(names) if !names.is_empty() => names,
        Ok(_) => {
            return vec![Box::new(Missing(Unavailable("no block device has done any I/O yet".to_owned())))];
        }
        Err(why) => return vec![Box::new(Missing(why))],
    };
    let make = |name: &String| -> [Box<dyn NoiseSource>; 2] {
        let of = |what| Device { name: name.clone(), what, table: SharedTable::clone(&table), before: None };
        [Box::new(of(What::Time)), Box::new(of(What::Depth))]
    };
    names.iter().flat_map(make).collect()
}

fn busiest(devices: &Devices, whole: impl Fn(&str) -> bool) -> Vec<String> {
    let mut used: Vec<(&String, u64)> = devices
        .iter()
        .filter(|(name, c)| c.done > 0 && whole(name))
        .map(|(name, c)| (name, c.done))
        .collect();
    used.sort_by_key(|(_, done)| std::cmp::Reverse(*done));
    used.truncate(DEVICES_MAX);
    used.into_iter().map(|(name, _)| name.clone()).collect()
}

fn parse(text: &str) -> Option<Devices> {
    Some(text.lines().filter_map(device).collect())
}

/// `major minor name`, then reads: done, merged, sectors, ms; writes likewise; in flight, busy ms, weighted ms; more.
fn device(line: &str) -> Option<(String, Counts)> {
    let mut words = line.split_whitespace().skip(2);
    let name = words.next()?;
    let mut n = [0u64; 11];
    for slot in &mut n {
        *slot = words.next()?.parse().ok()?;
    }
    let counts =
        Counts { done: n[0].checked_add(n[4])?, waited_ms: n[3].checked_add(n[7])?, weighted_ms: n[10] };
    Some((name.to_owned(), counts))
}

#[derive(Clone, Copy)]
enum What {
    Time,
    Depth,
}

struct Device {
    name: String,
    what: What,
    table: SharedTable<Devices>,
    /// None after a failure: the next reading would tell of more than its own window.
    before: Option<Counts>,
}

impl Device {
    fn counts(&self) -> Result<Counts, Unavailable> {
        value_of(&self.table, |devices: &Devices| devices.get(&self.name).copied(), &self.name)
    }
}

impl NoiseSource for Device {
    fn describe(&self) -> Description {
        let (name, kind, quantum, summary) = match self.what {
            What::Time => {
                ("time", Kind::Time, "1 ms / I/Os", "mean time of a read or write, from queueing to its end")
            }
            What::Depth => {
                ("queue", Kind::Depth, "1 ms / window", "how many requests were in flight, in the mean")
            }
        };
        Description {
            name: format!("disk {name} {}", self.name).into(),
            kind,
            pace: Pace::Slow,
            quantum,
            summary,
        }
    }

    fn open(&mut self) -> Result<(), Unavailable> {
        self.before = Some(self.counts()?);
        Ok(())
    }

    /// A window without an I/O has no mean time.
    fn read(&mut self, elapsed_ns: u64) -> Option<f64> {
        let before = self.before.take();
        let now = self.counts().ok()?;
        self.before = Some(now);
        let before = before?;
        let done = now.done.checked_sub(before.done)?;
        match self.what {
            What::Time => {
                let waited = now.waited_ms.checked_sub(before.waited_ms)?;
                (done > 0).then(|| waited as f64 * 1e6 / done as f64)
            }
            What::Depth => {
                let weighted = now.weighted_ms.checked_sub(before.weighted_ms)?;
                (elapsed_ns > 0).then(|| weighted as f64 * 1e6 / elapsed_ns as f64)
            }
        }
    }
}

/// In the place of devices that can't be told.
struct Missing(Unavailable);

impl NoiseSource for Missing {
    fn describe(&self) -> Description {
        Description {
            name: "disk".into(),
            kind: Kind::Time,
            pace: Pace::Slow,
            quantum: "1 ms / I/Os",
            summary: "mean time of a read or write",
        }
    }

    fn open(&mut self) -> Result<(), Unavailable> {
        Err(self.0.clone())
    }

    fn read(&mut self, _elapsed_ns: u64) -> Option<f64> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Planted;

    const TEXT: &str = "   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n\
        \x20254       0 vda 100 5 999 400 50 7 888 200 0 300 700 9 9 9 9 9 9\n\
        \x20254       1 vda1 99 5 999 400 50 7 888 200 0 300 700\n";

    #[test]
    fn whole_devices_that_do_something_are_watched() {
        let devices = parse(TEXT).unwrap();
        assert_eq!(devices["vda"], Counts { done: 150, waited_ms: 600, weighted_ms: 700 });
        assert_eq!(busiest(&devices, |name| name != "vda1"), ["vda"]);
        assert_eq!(device("254 0 vda 1 2 3"), None);
    }

    #[test]
    fn planted_requests_have_a_mean_time_and_a_depth() {
        let planted = Planted::new("disk");
        planted.write("proc/diskstats", TEXT);
        planted.write("sys/block/vda/size", "1");
        let mut sources = sources(&planted.watch());
        let names: Vec<String> = sources.iter().map(|s| s.describe().name.into_owned()).collect();
        assert_eq!(names, ["disk time vda", "disk queue vda"]);
        sources.iter_mut().for_each(|source| source.open().unwrap());
        // Ten writes of 3 ms each, within 60 ms: half a request in flight.
        planted.write(
            "proc/diskstats",
            &TEXT.replace(
                "vda 100 5 999 400 50 7 888 200 0 300 700",
                "vda 100 5 999 400 60 7 888 230 0 330 730",
            ),
        );
        assert_eq!(sources[0].read(60_000_000), Some(3e6));
        assert_eq!(sources[1].read(60_000_000), Some(0.5));
        assert_eq!((sources[0].read(1_000), sources[1].read(1_000)), (None, Some(0.0)));
        // After a reading that failed, the next one would be of two windows.
        planted.write("proc/diskstats", "");
        assert_eq!(sources[1].read(1_000), None);
        planted.write("proc/diskstats", &TEXT.replace("300 700", "300 790"));
        assert_eq!((sources[1].read(1_000), sources[1].read(1_000)), (None, Some(0.0)));
    }

    #[test]
    fn a_host_without_devices_says_so() {
        let planted = Planted::new("no-disk");
        let why = |planted: &Planted| sources(&planted.watch())[0].open().unwrap_err().0;
        assert!(why(&planted).contains("diskstats: No such file"));
        planted.write("proc/diskstats", "");
        assert_eq!(why(&planted), "no block device has done any I/O yet");
    }

    #[test]
    fn fuzz_diskstats() {
        let words = ["18446744073709551615", " 1", "\n"];
        testkit::fuzz::Fuzz::new("diskstats").from([TEXT]).words(words).run(2_000, |input| {
            let _ = parse(&String::from_utf8_lossy(input));
        });
    }
}
