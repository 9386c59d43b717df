//! For which share of a run a CPU of the client stood still, as the hiccup threads of truetail's own recording saw it.
//!
//! The store's spinning thread sees what the host takes from the store. What it takes from the client lies in the requests' times
//! just as well.

use analysis::attribution::names::HICCUP_CPU;
use record::{NoiseObservation, NoiseSourceFacts, PhaseKind, Recording};
use units::Instant;

/// The share of the measured time for which the CPU that stood still most did so, in [0, 1]; `None` where no CPU was watched.
///
/// # Errors
/// When the recording's noise can't be read.
pub(super) fn of_client(recording: &Recording) -> anyhow::Result<Option<f64>> {
    let phases = recording.header().phases.iter().filter(|phase| phase.kind == PhaseKind::Measured);
    let spans: Vec<(Instant, Instant)> = phases.map(|phase| (phase.begin, phase.end)).collect();
    let begin = spans.iter().map(|span| span.0).min();
    let end = spans.iter().map(|span| span.1).filter(|end| end.is_some()).max();
    let Some(span) = begin.zip(end).filter(|(begin, end)| begin < end) else { return Ok(None) };
    Ok(largest_share(recording.noise_sources(), &recording.noise()?, span))
}

fn largest_share(
    sources: &[NoiseSourceFacts],
    noise: &[NoiseObservation],
    (begin, end): (Instant, Instant),
) -> Option<f64> {
    let is_watched =
        |source: &NoiseSourceFacts| source.name.starts_with(HICCUP_CPU) && source.available.is_ok();
    let cpus = sources.iter().enumerate().filter(|(_, source)| is_watched(source)).map(|(index, _)| index);
    let share = |cpu: usize| {
        // The value ends where the observation ends.
        let stood_still =
            noise.iter().filter(|one| usize::from(one.source) == cpu && one.value > 0.0).map(|one| {
                let from = one.begin.0.max(one.end.0.saturating_sub(one.value as u64));
                one.end.0.min(end.0).saturating_sub(from.max(begin.0))
            });
        stood_still.sum::<u64>() as f64 / (end.0 - begin.0) as f64
    };
    cpus.map(share).reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(name: &str, available: Result<u64, String>) -> NoiseSourceFacts {
        NoiseSourceFacts { name: name.to_owned(), unit: "ns".to_owned(), available }
    }

    fn seen(source: u16, begin: u64, end: u64, value: f64) -> NoiseObservation {
        NoiseObservation { source, value, begin: Instant(begin), end: Instant(end) }
    }

    #[test]
    fn the_cpu_that_stood_still_most_counts_within_the_measured_time() {
        let sources = [
            source("steal", Ok(1)),
            source("hiccup cpu 0", Ok(1)),
            source("hiccup cpu 1", Ok(1)),
            source("hiccup cpu 2", Err("no".to_owned())),
        ];
        let noise = [
            seen(0, 0, 1_000, 1_000.0),
            seen(1, 100, 110, 10.0),
            seen(2, 90, 120, 30.0),  // ten of it before the begin
            seen(2, 500, 600, 40.0), // woken late at its end
            seen(2, 1_090, 1_190, 100.0),
        ];
        let share =
            |sources: &[NoiseSourceFacts]| largest_share(sources, &noise, (Instant(100), Instant(1_100)));
        assert_eq!(share(&sources), Some((20.0 + 40.0 + 10.0) / 1_000.0));
        assert_eq!(share(&sources[..2]), Some(0.01));
        assert_eq!(share(&sources[..1]), None, "nobody looked");
    }
}
