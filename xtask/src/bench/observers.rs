//! What observing the host costs, and whether it changes what is measured: response times with observers and without,
//! in turn, against the simulated store.

use super::Effort;
use super::builds::Builds;
use super::child;
use super::figures::{Figures, plain};
use super::peers::number_at;
use super::store::Store;
use serde_json::Value;

const RATE: &str = "5000/s";
/// Per cent of one core that all observers may cost together.
const COST: f64 = 1.0;
const QUANTILES: [&str; 4] = ["p50", "p90", "p99", "p99.9"];
/// What is watched: how it is called here, and for `--observers`.
const ARMS: [(&str, &str); 3] = [("without", "off"), ("default", "default"), ("who", "default,who")];
/// Response times whose ratio is shown to lie within this of 1 are equal for all that matters.
const MARGIN: f64 = 0.05;

pub(crate) fn run(builds: &Builds, effort: &Effort, figures: &mut Figures) -> anyhow::Result<()> {
    let store = Store::start(builds, "postgres", &["--service", "200us"])?;
    for round in 0..effort.rounds as usize {
        let mut documents = [const { Value::Null }; ARMS.len()];
        // Each goes first as often, and each follows each other.
        for turn in 0..ARMS.len() {
            let arm = if round % 2 == 0 { round + turn } else { round + ARMS.len() - turn } % ARMS.len();
            documents[arm] = load(builds, &store, effort, ARMS[arm].1)?;
        }
        let [without, arms @ ..] = &documents;
        times("without", without, figures)?;
        for ((name, _), with) in ARMS[1..].iter().zip(arms) {
            compared(name, with, without, figures)?;
        }
    }
    store.end()?;
    figures.at_most(&cpu_time("default"), COST);
    said(figures);
    figures.note("Six rounds or more (`--rounds`) are needed for a level of 0.95.");
    figures.note("CPU time: of all their threads, by the threads' own clocks, as a share of one core. What programs in the");
    figures.note("kernel cost is in no thread's account: of `who` the ratios alone show it.");
    Ok(())
}

fn cpu_time(arm: &str) -> String {
    format!("observers {arm}, CPU time")
}

fn ratio(quantile: &str, arm: &str) -> String {
    format!("response time {quantile}, {arm} / without")
}

/// A line for each ratio: whether it differs from 1, and whether it is shown not to differ by what matters.
fn said(figures: &mut Figures) {
    for (arm, observers) in &ARMS[1..] {
        for quantile in QUANTILES {
            let Some((low, high, level)) = figures.interval(&ratio(quantile, arm)) else { continue };
            let words = verdict(low, high);
            figures.note(format!(
                "response time {quantile} with `--observers {observers}` is {} to {} of that without (level {level:.2}): {words}",
                plain(low),
                plain(high),
            ));
        }
    }
}

/// That no difference is shown is no proof that there is none: that needs an interval that is narrow enough.
fn verdict(low: f64, high: f64) -> String {
    let difference = match (low > 1.0, high < 1.0) {
        (true, _) => "slower",
        (_, true) => "faster",
        _ => "no difference shown",
    };
    let is_within = low >= 1.0 / (1.0 + MARGIN) && high <= 1.0 + MARGIN;
    let equal = if is_within { "equal" } else { "not shown to be equal" };
    format!("{difference}, {equal} within {} %", plain(100.0 * MARGIN))
}

fn load(builds: &Builds, store: &Store, effort: &Effort, observers: &str) -> anyhow::Result<Value> {
    let scratch = builds.scratch()?;
    let seconds = format!("{}s", effort.seconds);
    let mut command =
        builds.truetail(&["run", &store.url, "-w", "noop", "-p", "mode=select1", "-r", RATE, "--json"]);
    command.args(["--warmup", "1s", "-d", &seconds, "--observers", observers]);
    let cost = child::run(command.arg("--out").arg(scratch.free("run")), &[0, 3])?;
    Ok(serde_json::from_str(&cost.stdout)?)
}

fn response_time(document: &Value, quantile: &str) -> anyhow::Result<f64> {
    number_at(document, &format!("/measures/response_time/quantiles/{quantile}/point"))
}

fn times(arm: &str, document: &Value, figures: &mut Figures) -> anyhow::Result<()> {
    for quantile in QUANTILES {
        let time = response_time(document, quantile)?;
        figures.add(&format!("response time {quantile}, {arm}"), "µs", time / 1e3);
    }
    Ok(())
}

fn compared(arm: &str, with: &Value, without: &Value, figures: &mut Figures) -> anyhow::Result<()> {
    times(arm, with, figures)?;
    for quantile in QUANTILES {
        let (on, off) = (response_time(with, quantile)?, response_time(without, quantile)?);
        figures.add(&ratio(quantile, arm), "", on / off);
    }
    figures.add(&cpu_time(arm), "%", 100.0 * number_at(with, "/observers/core_share")?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn document(factor: f64, share: Option<f64>) -> Value {
        let quantiles: serde_json::Map<String, Value> =
            QUANTILES.iter().map(|q| ((*q).to_owned(), json!({"point": 2e5 * factor}))).collect();
        json!({"measures": {"response_time": {"quantiles": quantiles}}, "observers": {"core_share": share}})
    }

    #[test]
    fn quantiles_are_compared_and_the_cost_is_told() {
        let mut figures = Figures::default();
        compared("who", &document(1.5, Some(0.008)), &document(1.0, None), &mut figures).unwrap();
        assert_eq!(figures.median("response time p99, who / without"), Some(1.5));
        assert_eq!(figures.median("response time p99, who"), Some(300.0));
        assert_eq!(figures.median("observers who, CPU time"), Some(0.8));
        let none = compared("who", &document(1.0, None), &document(1.0, None), &mut figures);
        assert!(none.is_err(), "no cost");
    }

    #[test]
    fn what_the_rounds_show_is_said_in_words() {
        assert_eq!(verdict(0.97, 1.04), "no difference shown, equal within 5 %");
        assert_eq!(verdict(0.8, 1.3), "no difference shown, not shown to be equal within 5 %");
        assert_eq!(verdict(1.01, 1.03), "slower, equal within 5 %");
        assert_eq!(verdict(1.1, 1.2), "slower, not shown to be equal within 5 %");
        assert_eq!(verdict(0.7, 0.9), "faster, not shown to be equal within 5 %");
        let mut figures = Figures::default();
        for factor in [1.00, 1.02, 0.99, 1.01, 1.00, 0.98] {
            compared("default", &document(factor, Some(0.008)), &document(1.0, None), &mut figures).unwrap();
        }
        said(&mut figures);
        let text = figures.to_string();
        let expected = "response time p99.9 with `--observers default` is 0.98 to 1.02 of that without (level 0.97): no \
                        difference shown, equal within 5 %";
        assert!(text.contains(expected), "{text}");
    }
}
