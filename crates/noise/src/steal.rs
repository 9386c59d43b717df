//! Time that the hypervisor gave to others while our CPUs wanted to run.

use crate::counter::Growth;
use crate::text::{Text, unavailable};
use crate::{Description, Kind, NoiseSource, Pace, Watch};

/// USER_HZ is 100 on every Linux ABI.
const NANOS_PER_JIFFY: f64 = 1e7;

/// `steal` of `/proc/stat`, of the observed CPUs together. A hypervisor need not report it: zero steal proves nothing.
pub(crate) fn sources(watch: &Watch) -> Vec<Box<dyn NoiseSource>> {
    let about = Description {
        name: "steal".into(),
        kind: Kind::Time,
        pace: Pace::Fast,
        quantum: "10 ms (1 jiffy)",
        summary: "time that the hypervisor took from the observed CPUs, by its own account",
    };
    let (path, cpus) = (watch.places.proc.join("stat"), watch.cpus.clone());
    let mut text = None;
    vec![Box::new(Growth::new(about, NANOS_PER_JIFFY, move || {
        let text = match &mut text {
            Some(text) => text,
            none => none.insert(Text::open(&path)?),
        };
        let found = stolen(text.read()?, &cpus);
        found.ok_or_else(|| unavailable(&path, "no steal column for each observed CPU"))
    }))]
}

/// Jiffies of these CPUs: the eighth number of the line `cpuN` of each. `None` where one has none, or there is no CPU.
fn stolen(text: &str, cpus: &[usize]) -> Option<u64> {
    let lines = text.lines().filter_map(|line| {
        let (cpu, counters) = line.strip_prefix("cpu")?.split_once(' ')?;
        let cpu = cpu.parse::<usize>().ok().filter(|cpu| cpus.contains(cpu))?;
        Some((cpu, counters.split_whitespace().nth(7)?.parse::<u64>().ok()?))
    });
    let found: std::collections::BTreeMap<usize, u64> = lines.collect();
    let all = !cpus.is_empty() && cpus.iter().all(|cpu| found.contains_key(cpu));
    all.then(|| found.values().fold(0u64, |sum, jiffies| sum.saturating_add(*jiffies)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Planted;

    const STAT: &str = "cpu  9 9 9 9 9 9 9 90 9 9\ncpu0 1 2 3 4 5 6 7 8 9 10\ncpu1 0 0 0 0 0 0 0 2\ncpu12 0 0 0 0 0 0 0 70\n";

    #[test]
    fn the_steal_column_of_the_observed_cpus_is_summed() {
        assert_eq!(
            (stolen(STAT, &[0]), stolen(STAT, &[0, 1]), stolen(STAT, &[12])),
            (Some(8), Some(10), Some(70))
        );
        assert_eq!(
            (stolen(STAT, &[0, 3]), stolen(STAT, &[]), stolen("cpu0 1 2 3", &[0])),
            (None, None, None)
        );
    }

    #[test]
    fn a_window_is_its_own_and_what_is_not_known_is_not_zero() {
        let planted = Planted::new("steal");
        let stat = |jiffies: u64| planted.write("proc/stat", &format!("cpu0 0 0 0 0 0 0 0 {jiffies}\n"));
        stat(5);
        let mut source = sources(&planted.watch()).swap_remove(0);
        source.open().unwrap();
        stat(7);
        assert_eq!(source.read(1), Some(2e7));
        planted.write("proc/stat", "");
        assert_eq!(source.read(1), None);
        stat(9);
        assert_eq!(source.read(1), None, "of two windows");
        stat(3);
        assert_eq!(source.read(1), None, "it went backwards");
        stat(4);
        assert_eq!(source.read(1), Some(1e7));
    }

    #[test]
    fn fuzz_steal() {
        testkit::fuzz::Fuzz::new("steal").from([STAT]).words(["18446744073709551615", "cpu", " "]).run(
            2_000,
            |input| {
                let _ = stolen(&String::from_utf8_lossy(input), &[0, 1]);
            },
        );
    }
}
