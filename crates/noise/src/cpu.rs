//! What slows the CPUs themselves: their frequency, and heat.

use crate::counter::Growth;
use crate::text::{number_in, unavailable};
use crate::{Description, Kind, NoiseSource, Pace, Unavailable, Watch};
use std::path::PathBuf;

pub(crate) fn sources(watch: &Watch) -> Vec<Box<dyn NoiseSource>> {
    let of = |file: &str| -> Vec<PathBuf> {
        let cpus = watch.places.sys.join("devices/system/cpu");
        watch.cpus.iter().map(|cpu| cpus.join(format!("cpu{cpu}")).join(file)).collect()
    };
    vec![
        Box::new(Frequency { files: of("cpufreq/scaling_cur_freq") }),
        Box::new(throttles(of("thermal_throttle/core_throttle_count"))),
    ]
}

/// Hosts that hide it have no such file; a virtual one seldom has.
fn hidden(Unavailable(why): Unavailable, what: &str) -> Unavailable {
    Unavailable(format!("{why}: this host does not tell {what}"))
}

/// The lowest frequency of the observed CPUs, at the moment of reading.
struct Frequency {
    files: Vec<PathBuf>,
}

impl Frequency {
    fn lowest(&self) -> Result<u64, Unavailable> {
        let mut lowest = u64::MAX;
        for file in &self.files {
            lowest = lowest.min(number_in(file)?);
        }
        if self.files.is_empty() { Err(no_cpu()) } else { Ok(lowest) }
    }
}

fn no_cpu() -> Unavailable {
    Unavailable("no CPU is observed".to_owned())
}

impl NoiseSource for Frequency {
    fn describe(&self) -> Description {
        Description {
            name: "cpu-frequency".into(),
            kind: Kind::Frequency,
            pace: Pace::Slow,
            quantum: "the governor's step",
            summary: "the lowest frequency of the observed CPUs when it was read",
        }
    }

    fn open(&mut self) -> Result<(), Unavailable> {
        self.lowest().map(drop).map_err(|why| hidden(why, "its CPUs' frequency"))
    }

    fn read(&mut self, _elapsed_ns: u64) -> Option<f64> {
        self.lowest().ok().map(|khz| khz as f64)
    }
}

fn throttles(files: Vec<PathBuf>) -> Growth {
    let about = Description {
        name: "thermal-throttles".into(),
        kind: Kind::Count,
        pace: Pace::Slow,
        quantum: "1",
        summary: "how often heat slowed an observed CPU",
    };
    Growth::new(about, 1.0, move || {
        let mut sum = 0u64;
        for file in &files {
            let count = number_in(file).map_err(|why| hidden(why, "when heat slows its CPUs"))?;
            sum = sum.checked_add(count).ok_or_else(|| unavailable(file, "more than can be counted"))?;
        }
        if files.is_empty() { Err(no_cpu()) } else { Ok(sum) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Planted;

    #[test]
    fn the_lowest_frequency_and_all_throttles_are_told() {
        let planted = Planted::new("cpu");
        let plant = |cpu: usize, khz: &str, count: &str| {
            let cpu = format!("sys/devices/system/cpu/cpu{cpu}");
            planted.write(&format!("{cpu}/cpufreq/scaling_cur_freq"), khz);
            planted.write(&format!("{cpu}/thermal_throttle/core_throttle_count"), count);
        };
        plant(0, "2600000\n", "5\n");
        plant(1, "800000\n", "1000\n");
        plant(3, "1400000\n", "7\n");
        let mut watch = planted.watch();
        watch.cpus = vec![0, 3];
        let mut sources = sources(&watch);
        sources.iter_mut().for_each(|source| source.open().unwrap());
        assert_eq!((sources[0].read(1), sources[1].read(1)), (Some(1.4e6), Some(0.0)));
        plant(0, "nonsense", "9");
        assert_eq!((sources[0].read(1), sources[1].read(1)), (None, Some(4.0)));
        watch.cpus.clear();
        assert_eq!(
            super::sources(&watch)[0].open().unwrap_err().0,
            "no CPU is observed: this host does not tell its CPUs' frequency"
        );
    }
}
