//! What the measuring side itself costs: recordings of loads that asked nothing of a database, and which share of a run's
//! quantiles they explain.
//!
//! | part | what answers | what its times are made of |
//! |---|---|---|
//! | `null` | nobody, in process | the harness alone |
//! | `echo` | a process that sends the same bytes back | harness, kernel, and the network where there is one |
//! | `noop …` | the database, asked for nothing | the same, and the database's protocol front end |
//!
//! `null` is the lower bound of what the measuring side adds to a request, `echo` the upper one: in a process that answers
//! at once, too, something has to be woken. What is measured of a database is not less than `echo`'s times, so these are
//! the floor below which nothing can be seen. Each part has one exchange for each request, but for `noop empty+commit`, which
//! has two: a workload with several exchanges pays the floor as often, and its share is larger than what is stated here.

use crate::{Analysis, MeasureSummary, RecordingInfo, Severity, Verdict, VerdictState};
use record::{Measure, RunHeader};
use units::{Bound, Estimate, PerSecond, Quantile};

/// What answered in a part of a floor; in the order in which each adds to the one before.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum FloorKind {
    /// `null:`, in process.
    Null,
    /// An echo server.
    Echo,
    /// The target, asked for nothing.
    NoOp,
}

impl FloorKind {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            FloorKind::Null => "null",
            FloorKind::Echo => "echo",
            FloorKind::NoOp => "noop",
        }
    }

    /// What its times are made of besides those of the part before.
    pub fn made_of(self) -> &'static str {
        match self {
            FloorKind::Null => "harness",
            FloorKind::Echo => "+ kernel",
            FloorKind::NoOp => "+ protocol",
        }
    }

    /// `None` for a recording that is of a database at work.
    fn of(header: &RunHeader) -> Option<FloorKind> {
        match header.target.split(':').next() {
            Some("null") => Some(FloorKind::Null),
            Some("echo") => Some(FloorKind::Echo),
            _ => (header.workload == "noop").then_some(FloorKind::NoOp),
        }
    }
}

/// One part of a floor.
#[derive(Clone, PartialEq, Debug)]
pub struct FloorPart {
    /// What answered.
    pub kind: FloorKind,
    /// `null`, `echo`, `noop ping`, …
    pub name: String,
    /// Its recording.
    pub info: RecordingInfo,
    /// Its verdict.
    pub verdict: Verdict,
    /// What the schedule asked; `None` in a closed loop.
    pub offered: Option<PerSecond>,
    /// What completed.
    pub achieved: PerSecond,
    /// Response times, or service times in a closed loop; `None` where no request was measured.
    pub summary: Option<MeasureSummary>,
}

impl FloorPart {
    fn of(analysis: Analysis) -> Option<FloorPart> {
        let info = analysis.recordings.into_iter().next()?;
        let kind = FloorKind::of(&info.header)?;
        let mode = info.header.workload_facts.iter().find(|(name, _)| name == "mode").map(|(_, mode)| mode);
        let name = match (kind, mode) {
            (FloorKind::NoOp, Some(mode)) => format!("noop {mode}"),
            _ => kind.name().to_owned(),
        };
        let summary = analysis.total.whole().filter(|summary| summary.n > 0).cloned();
        let Analysis { verdict, offered, achieved, .. } = analysis;
        Some(FloorPart { kind, name, info, verdict, offered, achieved, summary })
    }

    /// Why it is no floor, where it is none: a load that the measuring side did not manage says nothing of one that it did.
    pub fn problem(&self) -> Option<String> {
        if self.summary.is_none() {
            return Some("no request was measured".to_owned());
        }
        let invalid = self.verdict.state == VerdictState::Invalid;
        let worst = self.verdict.reasons.iter().find(|reason| reason.severity == Severity::Invalid);
        invalid
            .then(|| worst.map_or_else(|| "its verdict is invalid".to_owned(), |reason| reason.text.clone()))
    }

    /// Its times; `None` where it is no floor.
    pub fn times(&self) -> Option<&MeasureSummary> {
        if self.problem().is_some() { None } else { self.summary.as_ref() }
    }
}

/// The floor of one host and configuration.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Floor {
    /// Its parts, each adding to the one before.
    pub parts: Vec<FloorPart>,
}

impl Floor {
    /// From the analyses of its parts, in any order; those that are of a database at work are left out. `None` without any.
    pub fn of(analyses: impl IntoIterator<Item = Analysis>) -> Option<Floor> {
        let mut parts: Vec<FloorPart> = analyses.into_iter().filter_map(FloorPart::of).collect();
        parts.sort_by(|a, b| {
            (a.kind, a.info.header.epoch_wall_ns).cmp(&(b.kind, b.info.header.epoch_wall_ns))
        });
        (!parts.is_empty()).then_some(Floor { parts })
    }

    /// The part that decides what can't be seen below: `echo`, or `null` where there is none; `None` where that is no floor.
    pub fn decisive(&self) -> Option<&FloorPart> {
        let wanted = if self.part(FloorKind::Echo).is_some() { FloorKind::Echo } else { FloorKind::Null };
        self.part(wanted).filter(|part| part.times().is_some())
    }

    /// The first part of a kind.
    pub fn part(&self, kind: FloorKind) -> Option<&FloorPart> {
        self.parts.iter().find(|part| part.kind == kind)
    }

    /// All printed quantiles that a part carries, ascending.
    pub fn quantiles(&self) -> Vec<Quantile> {
        let carried = self.parts.iter().filter_map(FloorPart::times).flat_map(|summary| &summary.quantiles);
        let mut all: Vec<Quantile> = carried.map(|(quantile, _)| *quantile).collect();
        all.sort_by(|a, b| a.get().total_cmp(&b.get()));
        all.dedup();
        all
    }

    /// The host of a target whose network is in none of the times, since the echo server was on this host.
    pub fn network_left_out(&self, target: Option<&str>) -> Option<String> {
        let echo = host(&self.part(FloorKind::Echo)?.info.header.target);
        let of_part = || self.part(FloorKind::NoOp).map(|part| part.info.header.target.as_str());
        let target = host(target.or_else(of_part)?);
        (is_here(echo) && !is_here(target)).then(|| target.to_owned())
    }

    /// Laid under a run that had the same configuration.
    pub fn under(self, run: &Analysis) -> RunFloor {
        let rows = run.total.whole().map_or_else(Vec::new, |whole| self.rows(whole));
        let target = run.recordings.first().map(|recording| recording.header.target.as_str());
        RunFloor { network_left_out: self.network_left_out(target), floor: self, rows }
    }

    fn rows(&self, run: &MeasureSummary) -> Vec<FloorRow> {
        let share = |quantile: Quantile, estimate: &Estimate, part: &FloorPart| {
            let times = part.times().filter(|times| times.measure == run.measure)?;
            FloorShare::of(times.quantile(quantile)?, estimate)
        };
        let row = |(quantile, estimate): &(Quantile, Estimate)| FloorRow {
            quantile: *quantile,
            run: estimate.clone(),
            shares: self.parts.iter().map(|part| share(*quantile, estimate, part)).collect(),
        };
        run.quantiles.iter().map(row).collect()
    }

    /// What its times are; response times, or service times of closed loops.
    pub fn measure(&self) -> Option<Measure> {
        self.parts.iter().find_map(|part| part.summary.as_ref()).map(|summary| summary.measure)
    }
}

/// The host of a target's URL, as it is written; empty for one that has none.
pub(crate) fn host(target: &str) -> &str {
    let Some((_, rest)) = target.split_once("://") else { return "" };
    let place = rest.split(['/', '?']).next().unwrap_or("");
    let place = place.rsplit_once('@').map_or(place, |(_, place)| place);
    match place.strip_prefix('[') {
        Some(address) => address.split(']').next().unwrap_or(""),
        None => place.split(':').next().unwrap_or(""),
    }
}

/// Whether a host's name says that it is this one. Escapes begin the directory of a unix socket.
pub(crate) fn is_here(host: &str) -> bool {
    matches!(host, "" | "localhost" | "::1") || host.starts_with("127.") || host.starts_with(['/', '%'])
}

/// A floor under a run.
#[derive(Clone, PartialEq, Debug)]
pub struct RunFloor {
    /// The floor.
    pub floor: Floor,
    /// The host of the run's target where its network is in no part of the floor.
    pub network_left_out: Option<String>,
    /// For each printed quantile that the run carries, which share the floor explains.
    pub rows: Vec<FloorRow>,
}

/// One quantile of a run over its floor.
#[derive(Clone, PartialEq, Debug)]
pub struct FloorRow {
    /// Which.
    pub quantile: Quantile,
    /// Of the run.
    pub run: Estimate,
    /// In the order of the floor's parts: the part's quantile as a share of the run's; `None` where the part does not
    /// carry it, is no floor, or has times of another kind.
    pub shares: Vec<Option<FloorShare>>,
}

/// The floor's quantile as a share of the run's.
#[derive(Clone, PartialEq, Debug)]
pub struct FloorShare {
    /// floor / run, with the interval of the ratio.
    pub ratio: Estimate,
    /// The two can't be told apart, or the floor is the larger one: it explains all of the quantile.
    pub all: bool,
    /// Requests of the run were given up, so that its quantile is larger than what is known of it: the share is at most
    /// this.
    pub at_most: bool,
}

impl FloorShare {
    /// `None` where the run's quantile is a lower bound that the floor exceeds, and where one of the two is zero.
    fn of(floor: &Estimate, run: &Estimate) -> Option<FloorShare> {
        let at_most = run.bound == Bound::AtLeast;
        let overlap = floor.high() >= run.low();
        if at_most && overlap {
            return None;
        }
        Some(FloorShare { ratio: stats::ratio(run, floor)?, all: overlap, at_most })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_all_of_it_where_intervals_overlap_and_nowhere_else() {
        let estimate = |point: f64, low: f64, high: f64| Estimate {
            interval: Some((low, high)),
            ..Estimate::exact(point, 100)
        };
        let run = estimate(11.0, 9.5, 13.0);
        let share = |floor: &Estimate, run: &Estimate| FloorShare::of(floor, run).map(|share| share.all);
        assert_eq!(share(&estimate(9.0, 8.0, 9.4), &run), Some(false));
        assert_eq!(share(&estimate(9.0, 8.0, 9.6), &run), Some(true), "the lower one reaches into the other");
        assert_eq!(share(&estimate(20.0, 19.0, 21.0), &run), Some(true), "the floor is the larger one");
        // Without intervals the points decide.
        let alone = |point: f64| Estimate { interval: None, ..estimate(point, 0.0, 0.0) };
        assert_eq!(share(&alone(9.0), &alone(11.0)), Some(false));
        assert_eq!(share(&alone(11.5), &alone(11.0)), Some(true));
        assert_eq!(share(&estimate(0.0, 0.0, 0.0), &run), None, "nothing is no share");
    }

    #[test]
    fn hosts_are_told_from_this_one() {
        for (target, expected) in [
            ("postgres://ann@db1:5432/shop", "db1"),
            ("postgres://ann@[fe80::1]:5432/shop", "fe80::1"),
            ("redis://10.0.0.3", "10.0.0.3"),
            ("postgres://%2Ftmp%2Fpg/db", "%2Ftmp%2Fpg"),
            ("postgres:///db?host=/run", ""),
            ("sqlite:/a", ""),
            ("null:", ""),
        ] {
            assert_eq!(host(target), expected, "{target}");
        }
        for here in ["", "localhost", "127.0.0.1", "127.1.2.3", "::1", "%2Ftmp"] {
            assert!(is_here(here), "{here}");
        }
        assert!(!is_here("db1") && !is_here("10.0.0.3"));
    }
}
