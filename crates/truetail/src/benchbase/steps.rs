//! From BenchBase's works to truetail's runs.
//!
//! A run has one load model. Works that follow each other and ask alike are phases of one run; where one has a rate and the next is
//! unlimited, another run begins. A work that is disabled is a pause.

use crate::settings::RunOptions;
use ::benchbase::{Benchmark, Configuration, Rate, Support, TransactionType, Work};
use anyhow::bail;
use units::Nanos;

/// Whether a workload has BenchBase's faults.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Behaviour {
    BenchBase,
    Correct,
    /// There is one form of it.
    Only,
}

impl Behaviour {
    pub(super) fn parse(compat: Option<&str>, benchmark: &Benchmark) -> anyhow::Result<Behaviour> {
        let has_two = matches!(benchmark.support, Support::Workload { has_compat: true, .. });
        match compat {
            None | Some("benchbase") if has_two => Ok(Behaviour::BenchBase),
            Some("none") if has_two => Ok(Behaviour::Correct),
            None | Some("benchbase" | "none") => Ok(Behaviour::Only),
            Some(other) => bail!("--compat {other}: there are `benchbase` and `none`"),
        }
    }

    /// For pages and `summary.json`.
    pub(super) fn describe(self) -> &'static str {
        match self {
            Behaviour::BenchBase => "BenchBase's own, faults included (--compat none is the correct form)",
            Behaviour::Correct => "correct (--compat benchbase has BenchBase's faults)",
            Behaviour::Only => "the only one",
        }
    }
}

/// What is done at a time.
#[derive(Debug)]
pub(super) enum Step {
    Run(Run),
    Pause(Nanos),
}

/// Works that are phases of one run.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Run {
    model: Model,
    phases: Vec<String>,
    /// For each phase the index of the work that it measures; `None` of a warm-up.
    pub(super) works: Vec<Option<u8>>,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Model {
    Open { poisson: bool },
    Closed { think_ms: u64 },
}

impl Run {
    /// The options of the run.
    pub(super) fn options(&self, base: &RunOptions) -> RunOptions {
        let mut options = base.clone();
        options.phases = Some(self.phases.join(", "));
        options.warmup = Some("0s".to_owned());
        match self.model {
            Model::Open { poisson } => {
                options.arrivals = Some(if poisson { "poisson" } else { "constant" }.to_owned());
            }
            Model::Closed { think_ms } => {
                options.closed = Some(true);
                options.think = (think_ms > 0).then(|| format!("constant:{think_ms}ms"));
            }
        }
        options
    }
}

/// What all runs have in common.
pub(super) fn options(configuration: &Configuration, behaviour: Behaviour) -> RunOptions {
    let name = configuration.benchmark.name;
    let mut param: Vec<String> =
        configuration.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
    if name == "noop" {
        // BenchBase sends an empty statement and a COMMIT.
        param.push("mode=empty+commit".to_owned());
    }
    RunOptions {
        target: Some(configuration.target.url.clone()),
        workload: Some(name.to_owned()),
        scale: Some(scale(configuration)),
        param,
        compat: (behaviour == Behaviour::BenchBase).then(|| "benchbase".to_owned()),
        mix: common_mix(configuration),
        loaders: configuration.loaders,
        isolation: Some(configuration.isolation.to_owned()),
        sessions: Some(configuration.terminals),
        retry: Some(configuration.retries.to_string()),
        seed: configuration.seed,
        ..RunOptions::default()
    }
}

/// BenchBase cuts TPC-C's warehouses to a whole number, and makes one at least.
fn scale(configuration: &Configuration) -> f64 {
    match configuration.benchmark.name {
        "tpcc" => configuration.scale.floor().max(1.0),
        _ => configuration.scale,
    }
}

/// What is told besides what has no effect.
pub(super) fn notes(configuration: &Configuration) -> Vec<String> {
    let mut notes = Vec::new();
    let warehouses = scale(configuration);
    if warehouses != configuration.scale {
        notes.push(format!("<scalefactor> {} is {warehouses} of whole warehouses", configuration.scale));
    }
    notes
}

/// The steps of all works.
///
/// # Errors
/// Names the work that can't be made.
pub(super) fn of(configuration: &Configuration) -> Result<Vec<Step>, String> {
    let mix = common_mix(configuration).is_none();
    let mut steps: Vec<Step> = Vec::new();
    for (index, work) in configuration.works.iter().enumerate() {
        let model = match work.rate {
            Rate::Disabled => {
                steps.push(Step::Pause(Nanos::from_secs(work.warmup_seconds + work.seconds)));
                continue;
            }
            Rate::PerSecond(_) => Model::Open { poisson: work.poisson },
            Rate::Unlimited => Model::Closed { think_ms: 0 },
        };
        let model = with_waits(model, work, &configuration.transactions)
            .map_err(|problem| format!("line {}: work {}: {problem}", work.line, index + 1))?;
        let mix = mix.then(|| mix_of(work, &configuration.transactions));
        let number = u8::try_from(index).map_err(|_| "too many works".to_owned())?;
        let goes_on = matches!(steps.last(), Some(Step::Run(run)) if run.model == model);
        if !goes_on {
            steps.push(Step::Run(Run { model, phases: Vec::new(), works: Vec::new() }));
        }
        if let Some(Step::Run(run)) = steps.last_mut() {
            run.add(work, number, configuration.terminals, mix.as_deref());
        }
    }
    if steps.iter().any(|step| matches!(step, Step::Run(_))) {
        Ok(steps)
    } else {
        Err("all works are disabled: there is nothing to measure".to_owned())
    }
}

impl Run {
    fn add(&mut self, work: &Work, number: u8, terminals: u32, mix: Option<&str>) {
        let rate = match work.rate {
            Rate::PerSecond(rate) => format!("@{rate}/s"),
            Rate::Unlimited | Rate::Disabled => String::new(),
        };
        let mix = mix.map_or_else(String::new, |mix| format!(" mix={}", mix.replace(',', "+")));
        let all = work.terminals == terminals;
        let sessions = if all { String::new() } else { format!(" sessions={}", work.terminals) };
        let rest = format!("{rate}{sessions}{mix}");
        if work.warmup_seconds > 0 {
            self.phases.push(format!("{}s{rest} warm-up", work.warmup_seconds));
            self.works.push(None);
        }
        self.phases.push(format!("{}s{rest}", work.seconds));
        self.works.push(Some(number));
    }
}

/// A terminal that waits around each transaction thinks between two of them.
fn with_waits(model: Model, work: &Work, transactions: &[TransactionType]) -> Result<Model, String> {
    let used = transactions.iter().zip(&work.weights).filter(|(_, weight)| **weight > 0.0);
    let waits: Vec<u64> = used.map(|(transaction, _)| transaction.before_ms + transaction.after_ms).collect();
    let first = waits.first().copied().unwrap_or(0);
    match model {
        _ if waits.iter().any(|wait| *wait != first) => Err(
            "its transactions have different waits, which truetail makes for TPC-C's terminals alone: `truetail run -w \
             tpcc --tpcc-terminals spec`; else give all of them the same <preExecutionWait> and <postExecutionWait>"
                .to_owned(),
        ),
        Model::Open { .. } if first > 0 => Err(
            "it has a <rate> and waits: a terminal that waits takes no request, and the schedule does not wait; make it \
             unlimited, or take the waits out"
                .to_owned(),
        ),
        Model::Closed { .. } => Ok(Model::Closed { think_ms: first }),
        Model::Open { .. } => Ok(model),
    }
}

fn mix_of(work: &Work, transactions: &[TransactionType]) -> String {
    let pairs = transactions.iter().zip(&work.weights).map(|(t, weight)| format!("{}={weight}", t.name));
    pairs.collect::<Vec<_>>().join(",")
}

/// The mix where all works have the same.
fn common_mix(configuration: &Configuration) -> Option<String> {
    let (first, others) = configuration.works.split_first()?;
    let same = others.iter().all(|work| work.weights == first.weights);
    same.then(|| mix_of(first, &configuration.transactions))
}
