//! `<works>`: what is asked, phase after phase.

use crate::ConfigurationError;
use crate::element::Element;
use std::num::NonZeroU32;

/// How many requests a phase asks for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Rate {
    /// So many a second.
    PerSecond(f64),
    /// Each terminal's next follows its last.
    Unlimited,
    /// None: the phase passes.
    Disabled,
}

/// One phase.
#[derive(Clone, PartialEq, Debug)]
pub struct Work {
    /// The line that it begins in.
    pub line: u32,
    /// Seconds that are measured; 0 only where it is serial.
    pub seconds: u64,
    /// Seconds before that.
    pub warmup_seconds: u64,
    /// Requests a second.
    pub rate: Rate,
    /// Whether gaps between requests are drawn (a Poisson process), or all the same.
    pub poisson: bool,
    /// Weights in the order of the configuration's transaction types.
    pub weights: Vec<f64>,
    /// Terminals that take part.
    pub terminals: u32,
    /// Whether transactions are made in order, each once or until the time is over.
    pub serial: bool,
}

const ELEMENTS: [&str; 6] = ["time", "warmup", "rate", "weights", "active_terminals", "serial"];

/// A year.
const SECONDS_MOST: u64 = 31_536_000;

fn attributes(name: &str) -> &'static [&'static str] {
    match name {
        "work" => &["arrival"],
        "rate" | "weights" | "active_terminals" => &["bench"],
        _ => &[],
    }
}

/// Reads all phases.
pub(crate) fn read(
    parameters: Element<'_>,
    benchmark: &str,
    terminals: NonZeroU32,
    transactions: usize,
) -> Result<Vec<Work>, ConfigurationError> {
    let Some(works) = parameters.only("works")? else {
        return Err(ConfigurationError::whole(
            "there is no <works>: it needs at least one <work> with <time>, <rate> and <weights>",
        ));
    };
    works.require_known(&["work"], attributes)?;
    let all: Vec<Work> = works
        .children()
        .map(|work| read_work(work, benchmark, terminals, transactions))
        .collect::<Result<_, _>>()?;
    // Each may have a warm-up, and a recording has at most 200 phases.
    const MOST: usize = 100;
    if all.is_empty() || all.len() > MOST {
        return Err(works.error(format!("<works> has {} phases: must be in 1..{MOST}", all.len())));
    }
    Ok(all)
}

fn read_work(
    work: Element<'_>,
    benchmark: &str,
    terminals: NonZeroU32,
    transactions: usize,
) -> Result<Work, ConfigurationError> {
    work.require_known(&ELEMENTS, attributes)?;
    let truth = |name: &str| work.only(name)?.map_or(Ok(false), Element::truth);
    let seconds = |name: &str| work.only(name)?.map_or(Ok(0), |element| element.whole(0, SECONDS_MOST));
    let serial = truth("serial")?;
    let time = seconds("time")?;
    if time == 0 && !serial {
        return Err(work.error("<work> has no <time> above 0: how many seconds it is to be measured"));
    }
    let active = match work.of_bench("active_terminals", benchmark)? {
        Some(element) => element.whole(1, u64::from(terminals.get()))?,
        None => terminals.get().into(),
    };
    Ok(Work {
        line: work.line(),
        seconds: time,
        warmup_seconds: seconds("warmup")?,
        rate: rate(work, benchmark)?,
        poisson: arrival(work)?,
        weights: weights(work, benchmark, transactions)?,
        terminals: u32::try_from(active).unwrap_or(u32::MAX),
        serial,
    })
}

fn arrival(work: Element<'_>) -> Result<bool, ConfigurationError> {
    match work.attribute("arrival").map(str::to_ascii_lowercase).as_deref() {
        None | Some("regular") => Ok(false),
        Some("poisson") => Ok(true),
        Some(other) => Err(work.error(format!("arrival=\"{other}\": there are `regular` and `poisson`"))),
    }
}

fn rate(work: Element<'_>, benchmark: &str) -> Result<Rate, ConfigurationError> {
    let Some(element) = work.of_bench("rate", benchmark)? else {
        return Err(
            work.error("<work> has no <rate>: a number of requests a second, `unlimited` or `disabled`")
        );
    };
    element.value("a number of requests a second from 1 on, `unlimited` or `disabled`", |text| {
        match text.to_ascii_lowercase().as_str() {
            "unlimited" => Some(Rate::Unlimited),
            "disabled" => Some(Rate::Disabled),
            text => {
                let number: f64 = text.parse().ok()?;
                (1.0..=1e9).contains(&number).then_some(Rate::PerSecond(number))
            }
        }
    })
}

fn weights(work: Element<'_>, benchmark: &str, count: usize) -> Result<Vec<f64>, ConfigurationError> {
    let Some(element) = work.of_bench("weights", benchmark)? else {
        return Err(work.error("<work> has no <weights>: one for each transaction type, such as 45,43,4,4,4"));
    };
    let weights = element.value("weights of at least 0 with commas between them", |text| {
        text.split(',')
            .map(|weight| weight.trim().parse::<f64>().ok().filter(|w| w.is_finite() && *w >= 0.0))
            .collect::<Option<Vec<f64>>>()
    })?;
    if weights.len() != count {
        return Err(element.error(format!(
            "<weights> has {} of them, and there are {count} transaction types; it needs one for each",
            weights.len()
        )));
    }
    if weights.iter().sum::<f64>() <= 0.0 {
        return Err(element.error("<weights> are all 0; at least one must be above"));
    }
    Ok(weights)
}
