//! What observing the host costs, and whether it changes what is measured: response times with observers and without,
//! in turn, against the simulated store.

use super::Effort;
use super::builds::Builds;
use super::child;
use super::figures::Figures;
use super::peers::number_at;
use super::store::Store;
use serde_json::Value;

const RATE: &str = "5000/s";
/// Per cent of one core that all observers may cost together.
const COST: f64 = 1.0;
const QUANTILES: [&str; 4] = ["p50", "p90", "p99", "p99.9"];

pub(crate) fn run(builds: &Builds, effort: &Effort, figures: &mut Figures) -> anyhow::Result<()> {
    let store = Store::start(builds, "postgres", &["--service", "200us"])?;
    for round in 0..effort.rounds {
        // Each goes first in every other round.
        let (first, second) = if round % 2 == 0 { ("default", "off") } else { ("off", "default") };
        let pair =
            [(first, load(builds, &store, effort, first)?), (second, load(builds, &store, effort, second)?)];
        let of =
            |observers: &str| pair.iter().find(|(name, _)| *name == observers).map(|(_, document)| document);
        if let (Some(with), Some(without)) = (of("default"), of("off")) {
            compared(with, without, figures)?;
        }
    }
    store.end()?;
    figures.at_most("observers, CPU time", COST);
    figures.note(
        "response times at 5,000/s with observers and without, in turn; a ratio whose range holds 1 shows no",
    );
    figures.note(
        "difference. CPU time: of all their threads, by the threads' own clocks, as a share of one core.",
    );
    Ok(())
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

fn compared(with: &Value, without: &Value, figures: &mut Figures) -> anyhow::Result<()> {
    for quantile in QUANTILES {
        let path = format!("/measures/response_time/quantiles/{quantile}/point");
        let (on, off) = (number_at(with, &path)?, number_at(without, &path)?);
        figures.add(&format!("response time {quantile}, with"), "µs", on / 1e3);
        figures.add(&format!("response time {quantile}, without"), "µs", off / 1e3);
        figures.add(&format!("response time {quantile}, with / without"), "", on / off);
    }
    figures.add("observers, CPU time", "%", 100.0 * number_at(with, "/observers/core_share")?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn quantiles_are_compared_and_the_cost_is_told() {
        let document = |factor: f64, share: Option<f64>| {
            let quantiles: serde_json::Map<String, Value> =
                QUANTILES.iter().map(|q| ((*q).to_owned(), json!({"point": 2e5 * factor}))).collect();
            json!({"measures": {"response_time": {"quantiles": quantiles}}, "observers": {"core_share": share}})
        };
        let mut figures = Figures::default();
        compared(&document(1.5, Some(0.008)), &document(1.0, None), &mut figures).unwrap();
        assert_eq!(figures.median("response time p99, with / without"), Some(1.5));
        assert_eq!(figures.median("response time p99, without"), Some(200.0));
        assert_eq!(figures.median("observers, CPU time"), Some(0.8));
        assert!(compared(&document(1.0, None), &document(1.0, None), &mut figures).is_err(), "no cost");
    }
}
