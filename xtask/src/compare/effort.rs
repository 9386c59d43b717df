//! How much is done, and how long that takes.

use super::contender::Tool;
use super::server::System;

/// A kind of load.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Kind {
    /// As fast as the sessions get their answers.
    Closed,
    /// At a fixed rate.
    Paced,
    /// At a fixed rate, where the tool has one, with a server that stands still for a second in the middle.
    Stalled,
}

impl Kind {
    pub(crate) const ALL: [Kind; 3] = [Kind::Closed, Kind::Paced, Kind::Stalled];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Closed => "closed loop",
            Kind::Paced => "fixed rate",
            Kind::Stalled => "server stalls",
        }
    }
}

/// How long the server stands still.
pub(crate) const STALL_S: u32 = 1;

/// How much to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Effort {
    pub(crate) rounds: u32,
    /// Seconds of each measured load; those of a JVM are longer.
    pub(crate) seconds: u32,
    /// Requests per second of loads with a fixed rate.
    pub(crate) rate: u32,
}

pub(crate) const FULL: Effort = Effort { rounds: 5, seconds: 4, rate: 1_000 };
pub(crate) const QUICK: Effort = Effort { rounds: 1, seconds: 3, rate: 1_000 };

/// Rounds in which servers stall, at most: what comes of it differs little.
const STALLED_ROUNDS: u32 = 3;

/// What a tool takes besides its load: connecting, a JVM's start; calibration, analysis and pages.
fn besides_s(tool: Tool) -> f64 {
    match tool {
        Tool::Truetail => 3.0,
        Tool::Ycsb => 1.5,
        _ => 0.3,
    }
}

/// One load of one round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Step {
    pub(crate) round: u32,
    pub(crate) system: System,
    pub(crate) tool: Tool,
    pub(crate) kind: Kind,
}

impl Effort {
    /// Seconds of one load.
    pub(crate) fn seconds(&self, tool: Tool, kind: Kind) -> u32 {
        match (kind, tool) {
            (Kind::Stalled, _) => self.stalled_seconds(),
            (_, Tool::Ycsb) => self.seconds + 4,
            _ => self.seconds,
        }
    }

    /// Seconds of a load that meets a stall: long enough for a whole second on either side of it, late starters included.
    pub(crate) fn stalled_seconds(&self) -> u32 {
        6
    }

    /// How long after its start a tool's server is stopped.
    pub(crate) fn stall_after_s(&self) -> u32 {
        3
    }

    /// All loads in their order: contenders take turns.
    pub(crate) fn steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        for round in 0..self.rounds {
            for kind in Kind::ALL {
                if kind == Kind::Stalled && round >= STALLED_ROUNDS {
                    continue;
                }
                for system in System::ALL {
                    let tools = Tool::of(system);
                    // Whoever was first last time is last now.
                    for turn in 0..tools.len() {
                        let tool = tools[(turn + round as usize) % tools.len()];
                        if tool.has_rate() || kind != Kind::Paced {
                            steps.push(Step { round, system, tool, kind });
                        }
                    }
                }
            }
        }
        steps
    }

    /// How long one of them takes, about.
    pub(crate) fn expected_s(&self, step: &Step) -> f64 {
        let warm_up = if step.tool == Tool::Truetail && step.kind != Kind::Stalled { 1.0 } else { 0.0 };
        f64::from(self.seconds(step.tool, step.kind)) + warm_up + besides_s(step.tool)
    }
}

/// How long is left: what the steps ahead should take, by how it went so far.
pub(crate) fn left_s(effort: &Effort, steps: &[Step], done: usize, elapsed_s: f64) -> f64 {
    let expected = |steps: &[Step]| steps.iter().map(|step| effort.expected_s(step)).sum::<f64>();
    let (behind, ahead) = steps.split_at(done);
    // The first steps say little.
    let pace = if done < 5 { 1.0 } else { elapsed_s / expected(behind) };
    expected(ahead) * pace
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_takes_turns_and_the_whole_stays_below_twelve_minutes() {
        let steps = FULL.steps();
        let count = |kind: Kind, tool: Tool| {
            steps.iter().filter(|step| step.kind == kind && step.tool == tool).count()
        };
        assert_eq!(count(Kind::Closed, Tool::Sysbench), 10);
        assert_eq!(count(Kind::Paced, Tool::RedisBenchmark), 0, "it has no rate");
        assert_eq!(count(Kind::Stalled, Tool::RedisBenchmark), 3);
        assert!(steps.windows(2).all(|pair| pair[0].round <= pair[1].round));
        let first_of = |round: u32| steps.iter().find(|step| step.round == round).map(|step| step.tool);
        assert_eq!([first_of(0), first_of(1)], [Some(Tool::Truetail), Some(Tool::Pgbench)]);
        let whole = left_s(&FULL, &steps, 0, 0.0);
        assert!((300.0..720.0).contains(&whole), "{whole} s");
    }

    #[test]
    fn what_is_left_goes_by_how_it_went() {
        let steps = FULL.steps();
        let done = steps.len() / 2;
        let expected = |steps: &[Step]| steps.iter().map(|step| FULL.expected_s(step)).sum::<f64>();
        let twice_as_long = left_s(&FULL, &steps, done, 2.0 * expected(&steps[..done]));
        assert!((twice_as_long - 2.0 * expected(&steps[done..])).abs() < 1e-6, "{twice_as_long}");
        assert_eq!(left_s(&FULL, &steps, steps.len(), 1.0), 0.0);
    }
}
