//! When a thread that does nothing but look at the clock does not run: each CPU alone, then all at once.

use super::Effort;
use super::builds::Builds;
use super::figures::Figures;
use anyhow::anyhow;
use noise::gaps::{self, Gaps};
use units::Nanos;

/// Gaps that are looked at: what an interrupt takes, and what no undisturbed request should meet.
const FROM: [Nanos; 2] = [Nanos::from_micros(20), Nanos::from_micros(300)];

pub(crate) fn run(_: &Builds, effort: &Effort, figures: &mut Figures) -> anyhow::Result<()> {
    let clock = clock::calibrate(clock::ClockChoice::Auto)?.start();
    let duration = Nanos::from_secs(u64::from(effort.seconds));
    let cpus = load::available_cpus();
    let watch = |cpus: &[usize]| gaps::watch(cpus, duration, &FROM, clock).map_err(|why| anyhow!("{why}"));
    for _ in 0..effort.rounds {
        for &cpu in &cpus {
            watch(&[cpu])?.iter().for_each(|seen| add("alone", seen, figures));
        }
        watch(&cpus)?.iter().for_each(|seen| add("with all", seen, figures));
    }
    figures.note(
        "gaps between two looks at the clock, by a thread that is pinned to the CPU and never sleeps: what",
    );
    figures.note(
        "interrupts, other threads and the hypervisor took. With all: every CPU is watched at the same time.",
    );
    Ok(())
}

fn add(who: &str, seen: &Gaps, figures: &mut Figures) {
    let case = format!("CPU {} {who}", seen.cpu);
    for counted in &seen.counted {
        let from = counted.from;
        figures.add(&format!("{case}  lost in gaps ≥ {from}"), "%", 100.0 * seen.lost(counted));
        figures.add(&format!("{case}  gaps ≥ {from}"), "/s", seen.per_second(counted));
    }
    let longest = seen.longest.unwrap_or(Nanos::ZERO);
    figures.add(&format!("{case}  longest"), "µs", longest.0 as f64 / 1e3);
}

#[cfg(test)]
mod tests {
    use super::*;
    use noise::gaps::Counted;

    #[test]
    fn planted_gaps_become_figures() {
        let counted = [(20_000, 2, 430_000), (300_000, 1, 400_000)]
            .map(|(from, count, time)| Counted { from: Nanos(from), count, time: Nanos(time) })
            .to_vec();
        let longest = Some(Nanos(400_000));
        let seen = Gaps { cpu: 3, watched: Nanos::from_millis(10), counted, longest };
        let mut figures = Figures::default();
        add("alone", &seen, &mut figures);
        assert_eq!(figures.median("CPU 3 alone  lost in gaps ≥ 20.0 µs"), Some(4.3));
        assert_eq!(figures.median("CPU 3 alone  gaps ≥ 300 µs"), Some(100.0));
        assert_eq!(figures.median("CPU 3 alone  longest"), Some(400.0));
    }
}
