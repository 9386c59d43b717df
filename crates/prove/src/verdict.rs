//! From where does a foreign tool measure? Told by where its figures lie.
//!
//! Two truths are known of each run of a tool against the store: how long the store took for each request that the tool
//! really sent (its truth log: the *service* time of the tool's own run), and how long a user would have waited had the
//! requests come at the offered rate (the *response* time, from the scenario). A tool that measures from the intended
//! start states the second, one that omits states the first, and one that fills in what it did not measure states
//! something else.
//!
//! The rule, for mean, p99, p99.9 and maximum, as far as the tool states them:
//!
//! 1. A figure *can tell* when the response time is at least [`APART`] times the service time and [`APART_TIME`] longer
//!    (and [`STEPS`] times the [`Step`] of what the tool prints). In a steady scenario none can; the maximum of a closed loop often
//!    can't, since the one request that met the stall waited for all of it.
//! 2. Of one that can tell, with the gap between the two: it is *at the response* when it is within [`NEAR`] of the
//!    response time, *at the service* when it is no further above the service time than [`NEAR`] of the gap, and
//!    *elsewhere* in any other case. Both windows are one step wider; a figure in both can't tell.
//! 3. All at the response: [`Verdict::Intended`]. All at the service: [`Verdict::Omits`]. Anything else:
//!    [`Verdict::Approximates`]. None that can tell: [`Verdict::CannotTell`].
//!
//! A tool that did not make the load that it was told to make is not judged; see [`crate::offered`].
//!
//! Arrivals of tools such as `pgbench -R` are drawn at random, and so is what follows from them: the response time is then
//! the range over several draws.

use crate::scenario::Scenario;
use crate::truth::{self, Exact};
use crate::{Figures, Statistic};
use import::Reported;
use load::arrivals::Process;
use units::{Nanos, Seed};

/// How many times longer than the service time the response time must be for a figure to tell them apart.
pub const APART: f64 = 1.5;
/// By how much, at least.
pub const APART_TIME: Nanos = Nanos::from_millis(1);
/// How near is near, as a share of the response time or of the gap between the two.
pub const NEAR: f64 = 0.1;
/// How many steps of what the tool prints the two must lie apart: with fewer the windows around them would meet.
pub const STEPS: f64 = 4.0;
/// The statistics that are looked at.
pub const LOOKED_AT: [Statistic; 4] = [Statistic::Mean, Statistic::P99, Statistic::P999, Statistic::Max];
/// Draws of random arrivals behind a range.
const DRAWS: u64 = 12;

/// From where a tool measures.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Verdict {
    /// From the intended start.
    Intended,
    /// Something between, or beyond: it fills in what it did not measure.
    Approximates,
    /// From the sending: what requests waited for their turn is left out.
    Omits,
    /// Its figures would be the same either way.
    CannotTell,
}

impl Verdict {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Intended => "measures from the intended start",
            Verdict::Approximates => "corrects approximately",
            Verdict::Omits => "omits",
            Verdict::CannotTell => "can't be told",
        }
    }

    /// In JSON.
    pub fn key(self) -> &'static str {
        match self {
            Verdict::Intended => "intended",
            Verdict::Approximates => "approximates",
            Verdict::Omits => "omits",
            Verdict::CannotTell => "cannot_tell",
        }
    }

    /// The verdict over several scenarios: that of all of them that can tell, or [`Verdict::Approximates`] where they
    /// disagree.
    pub fn overall(all: impl IntoIterator<Item = Verdict>) -> Verdict {
        let told = all.into_iter().filter(|verdict| *verdict != Verdict::CannotTell);
        told.reduce(|a, b| if a == b { a } else { Verdict::Approximates }).unwrap_or(Verdict::CannotTell)
    }
}

/// What a tool's figures are held against.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Reference {
    /// True service times of the tool's own run: from the arrival at the store to the answer, in its truth log.
    pub service: Figures,
    /// Least true response times at the offered rate.
    pub response_low: Figures,
    /// Largest; the same where nothing is random.
    pub response_high: Figures,
}

impl Reference {
    /// Of a run whose true service times are known. `arrivals` is the process that the tool draws its intended starts
    /// from, and `requests` how many of them it measured: a tool that stops when its time is up while a backlog is left
    /// is held against the first ones, which waited less than all. Where no backlog is left it is held against all.
    pub fn new(
        scenario: &Scenario,
        service: Figures,
        arrivals: &Process,
        requests: Option<u64>,
    ) -> Reference {
        let draws = if *arrivals == Process::Constant { 1 } else { DRAWS };
        let responses = (0..draws).map(|draw| {
            let seed = Seed(scenario.seed.0 + draw);
            let drawn = Scenario { arrivals: arrivals.clone(), seed, ..scenario.clone() };
            let mut exact = truth::recursion(&drawn);
            if backlog_is_left(&drawn, &exact) {
                exact.truncate(requests.map_or(exact.len(), |n| n as usize));
            }
            truth::figures_of(&exact, Exact::response)
        });
        let range = responses
            .map(|figures| (figures, figures))
            .reduce(|(low, high), (next, _)| (low.merged(&next, f64::min), high.merged(&next, f64::max)));
        let (response_low, response_high) = range.unwrap_or_default();
        Reference { service, response_low, response_high }
    }
}

/// Whether requests wait for a session when the time of the load is up.
fn backlog_is_left(scenario: &Scenario, exact: &[Exact]) -> bool {
    exact.last().is_some_and(|last| last.sent > scenario.duration.0 as f64)
}

/// The finest step that a tool's figures can show: digits that it prints, or the width of its buckets.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Step {
    /// At any value.
    pub least: Nanos,
    /// As a share of the value; 0 where there are no such buckets.
    pub relative: f64,
}

impl Step {
    /// As a tool's report says.
    pub fn of(reported: &Reported) -> Step {
        Step {
            least: reported.resolution.unwrap_or(Nanos::ZERO),
            relative: reported.relative_resolution.unwrap_or(0.0),
        }
    }

    /// At a value, both ns.
    fn at(self, value: f64) -> f64 {
        (self.least.0 as f64).max(self.relative * value)
    }
}

impl From<Nanos> for Step {
    fn from(least: Nanos) -> Step {
        Step { least, relative: 0.0 }
    }
}

/// Where one figure lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// Near the true response time.
    AtResponse,
    /// Near the true service time, or below it.
    AtService,
    /// Near neither.
    Elsewhere,
    /// The two are too near to each other.
    CannotTell,
}

/// One figure of a tool beside the truth, ns.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Placed {
    /// Which figure.
    pub statistic: Statistic,
    /// What the tool states.
    pub measured: f64,
    /// True service time of its own run.
    pub service: f64,
    /// True response time at the offered rate, least and largest.
    pub response: (f64, f64),
    /// Where it lies.
    pub place: Place,
}

impl Placed {
    fn new(statistic: Statistic, measured: f64, reference: &Reference, step: Step) -> Option<Placed> {
        let service = reference.service.get(statistic)?;
        let (low, high) = (reference.response_low.get(statistic)?, reference.response_high.get(statistic)?);
        let gap = low - service;
        let told_apart = low >= APART * service && gap >= (APART_TIME.0 as f64).max(STEPS * step.at(low));
        let at_response =
            measured >= low * (1.0 - NEAR) - step.at(low) && measured <= high * (1.0 + NEAR) + step.at(high);
        let at_service = measured <= service + NEAR * gap + step.at(service);
        let place = match (told_apart, at_response, at_service) {
            (false, ..) | (true, true, true) => Place::CannotTell,
            (true, true, false) => Place::AtResponse,
            (true, false, true) => Place::AtService,
            (true, false, false) => Place::Elsewhere,
        };
        Some(Placed { statistic, measured, service, response: (low, high), place })
    }

    /// measured / true response time: below 1 is too short. 1 within the range of the true one; `None` where either is 0.
    pub fn factor(&self) -> Option<f64> {
        let nearest = self.measured.clamp(self.response.0, self.response.1);
        let factor = self.measured / nearest;
        (factor.is_finite() && factor > 0.0).then_some(factor)
    }
}

/// A verdict with what it is made of.
#[derive(Clone, PartialEq, Debug)]
pub struct Judgement {
    /// From where the tool measures.
    pub verdict: Verdict,
    /// The figures that it states, and where they lie.
    pub placed: Vec<Placed>,
    /// Why, in one line.
    pub why: String,
}

impl Judgement {
    /// Judges what a tool states; `step` is the finest step that its figures can show.
    pub fn new(stated: &Figures, step: impl Into<Step>, reference: &Reference) -> Judgement {
        let step = step.into();
        let place = |statistic| Placed::new(statistic, stated.get(statistic)?, reference, step);
        let placed: Vec<Placed> = LOOKED_AT.into_iter().filter_map(place).collect();
        let told = || placed.iter().filter(|p| p.place != Place::CannotTell);
        let all = |place| told().all(|p| p.place == place);
        let verdict = match told().next() {
            None => Verdict::CannotTell,
            Some(_) if all(Place::AtResponse) => Verdict::Intended,
            Some(_) if all(Place::AtService) => Verdict::Omits,
            Some(_) => Verdict::Approximates,
        };
        let why = why(verdict, &placed);
        Judgement { verdict, placed, why }
    }

    /// The same, unless something speaks against judging this run at all: then the verdict is
    /// [`Verdict::CannotTell`], and that is why.
    #[must_use]
    pub fn unless(self, objection: Option<String>) -> Judgement {
        match objection {
            None => self,
            Some(why) => Judgement { verdict: Verdict::CannotTell, why, ..self },
        }
    }

    /// How many times its response time is what it should be, for one statistic; see [`Placed::factor`].
    pub fn factor(&self, statistic: Statistic) -> Option<f64> {
        self.placed.iter().find(|p| p.statistic == statistic)?.factor()
    }
}

fn why(verdict: Verdict, placed: &[Placed]) -> String {
    let names = |place| {
        let of_place = placed.iter().filter(|p| p.place == place);
        of_place.map(|p| p.statistic.name()).collect::<Vec<_>>().join(", ")
    };
    let (at_response, at_service) = (names(Place::AtResponse), names(Place::AtService));
    match verdict {
        Verdict::CannotTell if placed.is_empty() => {
            "it states neither mean, p99, p99.9 nor maximum".to_owned()
        }
        Verdict::CannotTell => "response and service times are alike in what it states".to_owned(),
        Verdict::Intended => format!("{at_response}: the response time at the offered rate"),
        Verdict::Omits => format!("{at_service}: the service time of what it sent"),
        Verdict::Approximates => {
            let parts = [
                (at_response, "the response time"),
                (at_service, "the service time"),
                (names(Place::Elsewhere), "neither"),
            ];
            let parts = parts.iter().filter(|(names, _)| !names.is_empty());
            parts.map(|(names, what)| format!("{names}: {what}")).collect::<Vec<_>>().join("; ")
        }
    }
}

/// The figures of one row of a tool's report, as [`Reported::quantile`] finds them: of logged requests, else printed, else
/// the upper end of a bucket. What it does not say is absent.
pub fn stated(reported: &Reported) -> Figures {
    let counted = reported.count.or(reported.cumulative.last().map(|(_, count)| *count));
    let mut figures = Figures::counted(counted.unwrap_or(0));
    for statistic in Statistic::ALL {
        let value = match statistic.quantile() {
            None => reported.mean,
            Some(q) => reported.quantile(q).map(|reading| reading.at_most),
        };
        if let Some(value) = value {
            figures = figures.with(statistic, value.0 as f64);
        }
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Size, by_name};
    use import::ForeignSample;
    use units::Quantile;

    fn scenario(name: &str) -> Scenario {
        by_name(name, Size::Simulated).unwrap()
    }

    /// True service times of 32 sessions that send when an answer is there: few of them met the stall.
    fn closed() -> Figures {
        let mut times: Vec<f64> = vec![0.2e6; 85_000];
        times.extend(vec![6e6; 4_968]);
        times.extend(vec![1000e6; 32]);
        Figures::of(&mut times)
    }

    fn reference(name: &str) -> Reference {
        Reference::new(&scenario(name), closed(), &Process::Constant, None)
    }

    fn judged(stated: &Figures) -> Judgement {
        Judgement::new(stated, Nanos::from_micros(1), &reference("hiccup-80"))
    }

    #[test]
    fn planted_tools_are_told_apart() {
        let reference = reference("hiccup-80");
        let truthful = judged(&reference.response_low);
        assert_eq!(truthful.verdict, Verdict::Intended);
        assert_eq!(truthful.why, "mean, p99, p99.9: the response time at the offered rate");
        assert_eq!(truthful.factor(Statistic::P99), Some(1.0));

        let omits = judged(&closed());
        assert_eq!(omits.verdict, Verdict::Omits);
        // The one request that met the stall met all of it: the maximum tells nothing.
        assert_eq!(omits.placed.last().map(|p| p.place), Some(Place::CannotTell));
        let factor = omits.factor(Statistic::P99).unwrap();
        assert!((factor - 6.0 / 820.0).abs() < 0.001, "{factor}");

        // Back-filled: the stall is restored, the queue after it is not.
        let mean = omits.placed[0].service + 5.6e6;
        let corrected = closed().with(Statistic::Mean, mean).with(Statistic::P99, 300e6);
        let corrected = judged(&corrected);
        assert_eq!(corrected.verdict, Verdict::Approximates);
        assert!(corrected.why.contains("neither"), "{}", corrected.why);
        // Too long is no truth either.
        let beyond = reference.response_low.merged(&reference.response_low, |value, _| 2.0 * value);
        assert_eq!(judged(&beyond).verdict, Verdict::Approximates);
        assert_eq!(judged(&beyond).factor(Statistic::P999), Some(2.0));
        // One figure that is right among others that are not.
        let mixed = closed().with(Statistic::P999, reference.response_low.get(Statistic::P999).unwrap());
        assert_eq!(judged(&mixed).why, "p99.9: the response time; mean, p99: the service time");
    }

    #[test]
    fn a_little_overhead_changes_no_verdict() {
        let late = |figures: Figures| figures.merged(&figures, |value, _| value + 0.3e6);
        assert_eq!(judged(&late(reference("hiccup-80").response_low)).verdict, Verdict::Intended);
        assert_eq!(judged(&late(closed())).verdict, Verdict::Omits);
    }

    #[test]
    fn what_cannot_tell_says_so() {
        let steady = Figures::of(&mut vec![0.2e6; 90_000]);
        let reference = Reference::new(&scenario("steady"), steady, &Process::Constant, None);
        let judgement = Judgement::new(&steady, Nanos::ZERO, &reference);
        assert_eq!(judgement.verdict, Verdict::CannotTell);
        assert!(judgement.why.contains("alike"));
        let silent = judged(&Figures::default().with(Statistic::P50, 1e6));
        assert_eq!((silent.verdict, silent.placed.len()), (Verdict::CannotTell, 0));
        // Printed in steps of 10 s, nothing is told apart.
        let coarse = Judgement::new(&closed(), Nanos::from_secs(10), &self::reference("hiccup-80"));
        assert_eq!(coarse.verdict, Verdict::CannotTell);
    }

    /// Every statistic at `service` and `response`; what is stated lies between.
    fn placed(ms: (f64, f64, f64), step: Step) -> Verdict {
        let all = |ms: f64| Figures::of(&mut [ms * 1e6]);
        let (service, response, stated) = ms;
        let reference =
            Reference { service: all(service), response_low: all(response), response_high: all(response) };
        Judgement::new(&all(stated), step, &reference).verdict
    }

    #[test]
    fn what_is_printed_in_coarse_steps_is_not_told_apart_by_less_than_four() {
        let ms = |least| Step::from(Nanos(least));
        let step = ms(1_000_000);
        // Between service and response, and a step from both.
        assert_eq!(placed((1.0, 3.0, 1.8), step), Verdict::CannotTell);
        assert_eq!(placed((1.0, 4.9, 4.9), step), Verdict::CannotTell);
        assert_eq!(placed((1.0, 5.0, 5.0), step), Verdict::Intended);
        assert_eq!(placed((1.0, 5.0, 1.8), step), Verdict::Omits);
        assert_eq!(placed((1.0, 3.0, 1.8), ms(1_000)), Verdict::Approximates);
    }

    #[test]
    fn wide_buckets_are_steps_too() {
        let buckets = |relative| Step { least: Nanos(1_000), relative };
        assert_eq!(placed((100.0, 200.0, 150.0), buckets(0.2)), Verdict::CannotTell);
        assert_eq!(placed((100.0, 200.0, 150.0), buckets(0.02)), Verdict::Approximates);
        // The upper end of the bucket that holds the service time, or the response time.
        assert_eq!(placed((100.0, 300.0, 126.0), buckets(0.1)), Verdict::Omits);
        assert_eq!(placed((100.0, 300.0, 355.0), buckets(0.1)), Verdict::Intended);
        let reported = Reported { relative_resolution: Some(0.25), ..Reported::default() };
        assert_eq!(Step::of(&reported), Step { least: Nanos::ZERO, relative: 0.25 });
    }

    #[test]
    fn an_objection_takes_the_verdict_and_leaves_the_figures() {
        let judgement = judged(&closed());
        assert_eq!(judgement.clone().unless(None), judgement);
        let refused = judgement.clone().unless(Some("7 requests failed".to_owned()));
        assert_eq!((refused.verdict, &*refused.why), (Verdict::CannotTell, "7 requests failed"));
        assert_eq!(refused.placed, judgement.placed);
    }

    /// Who is slow throughout has not stopped while a backlog grew.
    #[test]
    fn without_a_backlog_all_requests_count() {
        let all = reference("hiccup-80");
        let first = Reference::new(&scenario("hiccup-80"), closed(), &Process::Constant, Some(45_000));
        assert_eq!(first, all);
    }

    #[test]
    fn random_arrivals_have_a_range() {
        let run = scenario("hiccup-90");
        let reference = Reference::new(&run, closed(), &Process::Poisson, None);
        let another = Scenario { arrivals: Process::Poisson, seed: Seed(99), ..run };
        let exact = truth::figures_of(&truth::recursion(&another), Exact::response);
        assert_eq!(Judgement::new(&exact, Nanos::ZERO, &reference).verdict, Verdict::Intended);
        let p99 = Statistic::P99;
        assert!(reference.response_low.get(p99) < reference.response_high.get(p99));
    }

    /// What was cut off when the time was up is no fault of what was measured.
    #[test]
    fn only_the_requests_that_were_measured_count() {
        let all = reference("overload").response_high.get(Statistic::Max).unwrap();
        let half = Reference::new(&scenario("overload"), closed(), &Process::Constant, Some(45_000));
        let half = half.response_high.get(Statistic::Max).unwrap();
        assert!((half / all - 0.5).abs() < 0.001, "{half} of {all}");
    }

    #[test]
    fn several_scenarios_agree_or_not() {
        use Verdict::{Approximates, CannotTell, Intended, Omits};
        for (all, expected) in [
            (vec![], CannotTell),
            (vec![CannotTell, Omits, Omits], Omits),
            (vec![Intended, CannotTell, Intended], Intended),
            (vec![Intended, Omits], Approximates),
            (vec![Approximates, Approximates], Approximates),
        ] {
            assert_eq!(Verdict::overall(all.clone()), expected, "{all:?}");
        }
    }

    #[test]
    fn what_a_tool_says_is_taken_as_it_is() {
        let sample = |ms: u64, failed| ForeignSample {
            completed_wall_ns: None,
            elapsed: Some(Nanos::from_millis(ms)),
            schedule_lag: None,
            session: None,
            failed,
        };
        let logged = Reported {
            count: Some(9),
            mean: Some(Nanos::from_millis(5)),
            samples: (1..=9).map(|ms| sample(ms, false)).chain([sample(1000, true)]).collect(),
            ..Reported::default()
        };
        let figures = stated(&logged);
        let of = |s| figures.get(s).map(|ns| ns / 1e6);
        assert_eq!(
            (of(Statistic::Mean), of(Statistic::P50), of(Statistic::Max)),
            (Some(5.0), Some(5.0), Some(9.0))
        );
        assert_eq!(figures.count, 9);
        let quantiles = vec![(Quantile::new(0.99).unwrap(), Nanos::from_millis(8))];
        let printed = stated(&Reported { max: Some(Nanos(3)), quantiles, ..Reported::default() });
        assert_eq!((printed.get(Statistic::P99), printed.get(Statistic::Max)), (Some(8e6), Some(3.0)));
        assert_eq!(
            (printed.get(Statistic::Mean), printed.get(Statistic::P999), printed.count),
            (None, None, 0)
        );
        let cumulative = vec![(Nanos(10), 98), (Nanos(20), 100)];
        let counted = stated(&Reported { cumulative, ..Reported::default() });
        assert_eq!((counted.get(Statistic::P99), counted.count), (Some(20.0), 100));
    }
}
