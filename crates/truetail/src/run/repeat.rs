//! `--repeat N`: several runs of the same, and how they differ.

use super::{Done, execute};
use crate::settings::RunOptions;
use crate::{Ended, commands, interrupt, output};
use analysis::{Analysis, MeasureSummary};
use record::Measure;
use serde_json::json;
use std::path::{Path, PathBuf};
use units::{Nanos, Quantile, format_nanos};

/// Makes `repeats` runs into directories of their own below one, and shows each and the spread.
pub(crate) fn repeat(options: &RunOptions, repeats: u32, quiet: bool) -> anyhow::Result<Ended> {
    let parent = options.out.clone().unwrap_or_else(|| {
        PathBuf::from("recordings").join(format!("{}-repeat", super::timestamp(clock::wall_time_ns())))
    });
    let mut done = Vec::new();
    for number in 1..=repeats {
        if interrupt::requested() {
            break;
        }
        output::note(&format!("run {number} of {repeats}"));
        let mut one = options.clone();
        one.out = Some(parent.join(format!("run-{number:03}")));
        done.push(execute(&one, quiet)?.whole()?);
    }
    show(&done, &parent, quiet)
}

fn show(done: &[Done], parent: &Path, as_json: bool) -> anyhow::Result<Ended> {
    if as_json {
        let runs: Vec<_> = done.iter().map(|d| report::json::document(&d.analysis)).collect();
        output::json(&json!({"schema": "truetail.repeat/1", "runs": runs}))?;
    } else {
        output::result(&table(done))?;
        output::result(&format!("recordings: {}", parent.display()))?;
    }
    let invalid = done.iter().any(|d| commands::ended(&d.analysis) == Ended::Invalid);
    Ok(if invalid { Ended::Invalid } else { Ended::Well })
}

/// The measure that the load model has: response time, or service time in a closed loop.
fn main_measure(analysis: &Analysis) -> Option<&MeasureSummary> {
    let find = |m: Measure| analysis.total.measures.iter().find(|s| s.measure == m);
    find(Measure::Response).or_else(|| find(Measure::Service))
}

fn quantile(summary: &MeasureSummary, wanted: Quantile) -> Option<f64> {
    summary.quantiles.iter().find(|(q, _)| *q == wanted).map(|(_, e)| e.point)
}

fn table(done: &[Done]) -> String {
    let shown = [Quantile::PRINTED[0], Quantile::PRINTED[4], Quantile::PRINTED[5]];
    let mut text = format!("{:<8} {:<8} {:>10}", "run", "verdict", "mean");
    for q in shown {
        text += &format!(" {:>10}", q.name());
    }
    text += &format!(" {:>10}\n", "max");
    let mut columns: Vec<Vec<f64>> = vec![Vec::new(); shown.len() + 2];
    for (index, one) in done.iter().enumerate() {
        let Some(summary) = main_measure(&one.analysis) else { continue };
        let mut cells = vec![Some(summary.mean.point)];
        cells.extend(shown.iter().map(|q| quantile(summary, *q)));
        cells.push(Some(summary.max.0 as f64));
        text += &format!("{:<8} {:<8}", index + 1, one.analysis.verdict.state.name());
        for (column, cell) in columns.iter_mut().zip(&cells) {
            column.extend(cell);
            text +=
                &format!(" {:>10}", cell.map_or_else(|| "–".to_owned(), |v| format_nanos(Nanos(v as u64))));
        }
        text += "\n";
    }
    text += &format!("{:<8} {:<8}", "spread", "max/min");
    for column in &columns {
        let low = column.iter().copied().fold(f64::INFINITY, f64::min);
        let high = column.iter().copied().fold(0.0, f64::max);
        let shown =
            if column.len() > 1 && low > 0.0 { format!("{:.2}", high / low) } else { "–".to_owned() };
        text += &format!(" {shown:>10}");
    }
    text + "\n"
}
