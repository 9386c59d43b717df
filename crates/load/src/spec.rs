//! What load to make.

use crate::arrivals::{Process, hyper_exponential, pareto};
use crate::phases::{Phase, RateProfile};
use crate::retry::Retry;
use std::fmt;
use units::{Nanos, PerSecond, Rng, Seed};
use workload::names::nearest;

/// Think time between a completion and the session's next request.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Think {
    /// None at all.
    None,
    /// Always the same.
    Constant(Nanos),
    /// Exponential with this mean.
    Exponential(Nanos),
    /// Pareto with this mean and tail index.
    Pareto(Nanos, f64),
    /// Hyperexponential with this mean and squared coefficient of variation.
    HyperExp(Nanos, f64),
}

impl Think {
    /// Reads `none`, `constant:100ms`, `exp:1s`, `pareto:1s`, `pareto:1s:1.5`, `hyperexp:1s:4`.
    ///
    /// # Errors
    /// One line that names the text and what is accepted.
    pub fn parse(text: &str) -> Result<Think, String> {
        let expected = || {
            format!(
                "think time `{text}`: expected none, constant:T, exp:T, pareto:T[:ALPHA] or hyperexp:T[:CV2]"
            )
        };
        let mut parts = text.split(':');
        let name = parts.next().unwrap_or("");
        if name == "none" && text == "none" {
            return Ok(Think::None);
        }
        let mean = parts.next().ok_or_else(expected)?;
        let mean = units::parse_duration(mean).map_err(|e| format!("think time `{text}`: {e}"))?;
        let shape = parts.next().map(|s| s.parse::<f64>().map_err(|_| expected())).transpose()?;
        if parts.next().is_some() {
            return Err(expected());
        }
        match (name, shape) {
            ("constant", None) => Ok(Think::Constant(mean)),
            ("exp", None) => Ok(Think::Exponential(mean)),
            ("pareto", alpha) => {
                let alpha = alpha.unwrap_or(1.5);
                if alpha > 1.0 && alpha.is_finite() {
                    Ok(Think::Pareto(mean, alpha))
                } else {
                    Err(expected())
                }
            }
            ("hyperexp", cv2) => {
                let cv2 = cv2.unwrap_or(4.0);
                if cv2 >= 1.0 && cv2.is_finite() { Ok(Think::HyperExp(mean, cv2)) } else { Err(expected()) }
            }
            _ => Err(expected()),
        }
    }

    /// Draws one think time.
    pub(crate) fn draw(self, rng: &mut Rng) -> Nanos {
        let scaled = |mean: Nanos, factor: f64| Nanos::from_secs_f64(mean.as_secs_f64() * factor);
        match self {
            Think::None => Nanos::ZERO,
            Think::Constant(time) => time,
            Think::Exponential(mean) => scaled(mean, rng.exponential()),
            Think::Pareto(mean, alpha) => scaled(mean, pareto(rng, alpha)),
            Think::HyperExp(mean, cv2) => scaled(mean, hyper_exponential(rng, cv2)),
        }
    }
}

impl fmt::Display for Think {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = |t: &Nanos| format!("{t}").replace(' ', "");
        match self {
            Think::None => f.write_str("none"),
            Think::Constant(t) => write!(f, "constant:{}", time(t)),
            Think::Exponential(t) => write!(f, "exp:{}", time(t)),
            Think::Pareto(t, alpha) => write!(f, "pareto:{}:{alpha}", time(t)),
            Think::HyperExp(t, cv2) => write!(f, "hyperexp:{}:{cv2}", time(t)),
        }
    }
}

/// What a user of a partly open load does.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct UserVisit {
    /// Mean number of requests of a visit, ≥ 1; geometric.
    pub mean_requests: f64,
    /// Think time between them.
    pub think: Think,
}

/// The longest visit of a partly open load: a geometric draw past it is cut.
pub(crate) const LONGEST_VISIT: u64 = 256;

/// The load model with its parameters.
#[derive(Clone, PartialEq, Debug)]
pub enum Model {
    /// Arrivals free of completions.
    Open {
        /// The arrival process.
        process: Process,
    },
    /// Users arrive freely and stay for several requests (Schroeder, Wierman & Harchol-Balter, NSDI 2006).
    /// A user keeps its session for the whole visit.
    PartlyOpen {
        /// The arrival process of users.
        process: Process,
        /// What each does.
        visit: UserVisit,
    },
    /// Each session's next request follows its last completion and a think time.
    Closed {
        /// The think time.
        think: Think,
    },
    /// Closed, each session keeping a schedule of its own as well as it can; sessions start staggered.
    ThrottledClosed,
    /// The workload's own users, with keying and think times, on as many sessions as there are.
    Terminals,
}

impl Model {
    /// The model's name for the recording.
    pub fn load_model(&self) -> record::LoadModel {
        match self {
            Model::Open { .. } => record::LoadModel::Open,
            Model::PartlyOpen { .. } => record::LoadModel::PartlyOpen,
            Model::Closed { .. } => record::LoadModel::Closed,
            Model::ThrottledClosed => record::LoadModel::ThrottledClosed,
            Model::Terminals => record::LoadModel::Terminals,
        }
    }

    /// The arrival process or think time in words.
    pub fn describe(&self) -> String {
        match self {
            Model::Open { process } => process.to_string(),
            Model::PartlyOpen { process, visit } => format!(
                "users {process}, {} requests each on average, think {}",
                visit.mean_requests, visit.think
            ),
            Model::Closed { think } => format!("think {think}"),
            Model::ThrottledClosed => "constant per session, staggered".to_owned(),
            Model::Terminals => "keying and think times of the workload’s own".to_owned(),
        }
    }
}

/// How due times are met.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pacing {
    /// Sleep until 80 µs before, then spin: ≈ 0.1 µs late, at the price of a core while spinning.
    SleepThenSpin,
    /// Sleep only: ≈ 20 µs late, for hosts where no core can be spared.
    Sleep,
}

impl Pacing {
    /// The words in a recording.
    pub fn name(self) -> &'static str {
        match self {
            Pacing::SleepThenSpin => "sleep, then spin for the last 80 µs",
            Pacing::Sleep => "sleep",
        }
    }

    /// How long before a due time the sleep ends.
    pub(crate) fn spin_window(self) -> Nanos {
        match self {
            Pacing::SleepThenSpin => Nanos::from_micros(80),
            Pacing::Sleep => Nanos::ZERO,
        }
    }
}

/// Everything that decides a load besides target and workload.
#[derive(Clone, PartialEq, Debug)]
pub struct LoadSpec {
    /// The model.
    pub model: Model,
    /// At least one phase.
    pub phases: Vec<Phase>,
    /// Names of the workload's operations, in order.
    pub operations: Vec<String>,
    /// Weights of the operations where a phase has no mix of its own.
    pub mix: Vec<f64>,
    /// Sessions, in 1..=65,000.
    pub sessions: u32,
    /// Worker threads for polled sessions, in 1..=256.
    pub workers: u32,
    /// Stop after this many requests.
    pub requests: Option<u64>,
    /// Time limit of a request, from `sent`.
    pub timeout: Option<Nanos>,
    /// How long to wait for the backlog and the requests in flight when the schedule has ended.
    pub drain: Nanos,
    /// What is tried again inside of the response time.
    pub retry: Retry,
    /// How due times are met.
    pub pacing: Pacing,
    /// CPUs that workers may use; empty is all.
    pub cpus: Vec<usize>,
    /// The seed of everything drawn.
    pub seed: Seed,
}

/// A load that can't be made. One line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SpecError(pub String);

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SpecError {}

impl LoadSpec {
    /// Checks what must hold before anything is started.
    ///
    /// # Errors
    /// One line that names the value and the limit.
    pub fn check(&self) -> Result<(), SpecError> {
        let fail = |text: String| Err(SpecError(text));
        if !(1..=65_000).contains(&self.sessions) {
            return fail(format!("--sessions {}: must be in 1..65000", self.sessions));
        }
        if !(1..=256).contains(&self.workers) {
            return fail(format!("--threads {}: must be in 1..256", self.workers));
        }
        if self.phases.is_empty() || self.phases.len() > 200 {
            return fail(format!("{} phases: must be in 1..200", self.phases.len()));
        }
        self.check_terminals()?;
        let needs_rate = !matches!(self.model, Model::Closed { .. } | Model::Terminals);
        // Warm-ups last: a rate that is missing there is missing in the phase that they copy, too.
        let measured = self.phases.iter().filter(|p| !p.warm_up);
        for phase in measured.chain(self.phases.iter().filter(|p| p.warm_up)) {
            if needs_rate && phase.rate.is_none() {
                return fail(format!(
                    "phase `{}`: this load needs a rate; write `{}@1000/s`, or use --closed",
                    phase.name, phase.name
                ));
            }
            if !needs_rate && phase.rate.is_some() {
                return fail(format!(
                    "phase `{}`: a closed loop has no rate; drop it, or --closed",
                    phase.name
                ));
            }
            if let Some(sessions) = phase.sessions.filter(|&sessions| sessions > self.sessions) {
                return fail(format!(
                    "phase `{}`: {sessions} sessions, of {} that are connected",
                    phase.name, self.sessions
                ));
            }
            self.phase_mix(phase)?;
        }
        if let Model::PartlyOpen { visit, .. } = &self.model
            && !(1.0..=100.0).contains(&visit.mean_requests)
        {
            return fail(format!("--visit {}: must be in 1..100 requests", visit.mean_requests));
        }
        Ok(())
    }

    /// What a load of terminals can't have.
    fn check_terminals(&self) -> Result<(), SpecError> {
        if self.model != Model::Terminals {
            return Ok(());
        }
        for phase in &self.phases {
            let surplus = [
                (phase.rate.is_some(), "a rate: terminals ask when they have thought"),
                (phase.mix.is_some(), "a mix: terminals draw from a deck"),
                (phase.sessions.is_some(), "sessions of its own: terminals share all of them"),
            ];
            if let Some((_, what)) = surplus.iter().find(|(has, _)| *has) {
                return Err(SpecError(format!(
                    "phase `{}`: it has {what}; drop it, or the terminals",
                    phase.name
                )));
            }
        }
        Ok(())
    }

    /// The weights of a phase, by operation.
    ///
    /// # Errors
    /// Names an operation that the workload doesn't have, or says that all weights are 0.
    pub fn phase_mix(&self, phase: &Phase) -> Result<Vec<f64>, SpecError> {
        let weights = match &phase.mix {
            None => self.mix.clone(),
            Some(pairs) => mix_weights(pairs, &self.operations)?,
        };
        if weights.iter().sum::<f64>() > 0.0 {
            Ok(weights)
        } else {
            Err(SpecError(format!("phase `{}`: all weights of its mix are 0", phase.name)))
        }
    }

    /// Duration of all phases.
    pub fn duration(&self) -> Nanos {
        self.phases.iter().fold(Nanos::ZERO, |sum, p| sum + p.duration)
    }

    /// The rate over time; `None` in a closed loop.
    pub(crate) fn profile(&self) -> Option<RateProfile> {
        let parts: Option<Vec<(Nanos, PerSecond, PerSecond)>> =
            self.phases.iter().map(|p| p.rate.map(|(from, to)| (p.duration, from, to))).collect();
        parts.map(|parts| RateProfile::new(&parts))
    }
}

/// Turns named weights into one weight for each operation; those not named get 0.
///
/// # Errors
/// Names an operation that doesn't exist, and those that do.
pub fn mix_weights(pairs: &[(String, f64)], operations: &[String]) -> Result<Vec<f64>, SpecError> {
    let mut weights = vec![0.0; operations.len()];
    for (name, weight) in pairs {
        let index = operations.iter().position(|o| o.eq_ignore_ascii_case(name)).ok_or_else(|| {
            let valid: Vec<&str> = operations.iter().map(String::as_str).collect();
            let near = nearest(name, &valid);
            let near = near.map_or("; this".to_owned(), |near| format!("; did you mean `{near}`? This"));
            let all = operations.join(", ");
            SpecError(format!("mix: no operation `{name}`{near} workload has {all}"))
        })?;
        weights[index] = *weight;
    }
    Ok(weights)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn think_times_are_read_and_shown() {
        for text in ["none", "constant:10.0ms", "exp:1.00s", "pareto:1.00s:1.5", "hyperexp:2.00s:4"] {
            assert_eq!(Think::parse(text).unwrap().to_string(), text);
        }
        for text in ["", "exp", "exp:x", "constant:1s:2", "pareto:1s:0.5", "none:1s", "exp:-1s"] {
            assert!(Think::parse(text).unwrap_err().contains(text), "{text}");
        }
    }

    #[test]
    fn think_times_have_their_mean() {
        let mut rng = Seed(5).rng();
        for think in [Think::Exponential(Nanos(1000)), Think::HyperExp(Nanos(1000), 4.0)] {
            let n = 100_000;
            let mean = (0..n).map(|_| think.draw(&mut rng).0).sum::<u64>() as f64 / n as f64;
            assert!((mean - 1000.0).abs() < 5.0 * 2000.0 / (n as f64).sqrt(), "{think}: {mean}");
        }
    }
}
