//! Summaries: what a tool states, without the requests behind it.

use super::{Imported, Request, gap_facts, grave, header};
use anyhow::bail;
use import::{Reported, ToolReport};
use record::{
    EndOfRun, Ending, LoadModel, PhaseFacts, PhaseKind, RecordingWriter, RunHeader, Stated, StatedFrom,
};
use units::Instant;

/// A recording of a tool's statements alone.
pub(super) fn of_summaries(request: &Request) -> anyhow::Result<Imported> {
    let printed = request.printed.as_deref().unwrap_or("");
    let report = import::statements(request.format, printed, &request.files)?;
    if let Some((_, log)) = request.jvm_logs.first() {
        bail!(
            "--jvm-log {}: {} states figures and no requests, so there is nothing that pauses could be laid over",
            log.display(),
            report.tool
        );
    }
    if request.warm_up.is_some() {
        bail!(
            "--warmup: {} states figures of its whole run, from which no part can be taken away",
            report.tool
        );
    }
    let gaps = import::summary_gaps(request.format, &report);
    let epoch = report.rows.iter().filter_map(|row| row.interval).map(|(begin, _)| begin).min().unwrap_or(0);
    let stated = of_report(&report, epoch);
    let header = header_of(request, &report, epoch);
    let mut writer = RecordingWriter::create(&request.directory, &header)?;
    writer.set_stated(&stated)?;
    let mut of_end = EndOfRun::new(Ending::Completed);
    of_end.at = header.phases[0].end;
    of_end.facts = gap_facts(&gaps);
    writer.finish(of_end)?;
    Ok(Imported {
        directory: request.directory.clone(),
        tool: report.tool.clone(),
        samples: 0,
        failed: report.errors.unwrap_or(0),
        skipped: report.skipped.unwrap_or(0),
        statements: stated.len(),
        grave_gaps: grave(&gaps),
    })
}

fn header_of(request: &Request, report: &ToolReport, epoch: u64) -> RunHeader {
    let model = match report.rows.iter().any(|row| row.counted_from == StatedFrom::Schedule) {
        true => LoadModel::Open,
        false => LoadModel::Closed,
    };
    let end = report.rows.iter().filter_map(|row| row.interval).map(|(_, end)| end).max();
    let sessions = request.sessions.unwrap_or(0);
    let mut header = header::of_tool(request, &report.tool, model, sessions);
    header.epoch_wall_ns = epoch;
    header.workload_facts.extend(told(report));
    header.phases = vec![PhaseFacts {
        name: "measured".to_owned(),
        kind: PhaseKind::Measured,
        begin: Instant::EPOCH,
        end: Instant(end.map_or(0, |end| end.saturating_sub(epoch))),
        offered: None,
        sessions,
        mix: Vec::new(),
    }];
    header
}

/// What the tool says of its run as a whole.
fn told(report: &ToolReport) -> Vec<(String, String)> {
    let facts = [
        ("achieved, as stated", report.achieved.map(|rate| rate.to_string())),
        ("errors, as stated", report.errors.map(|count| count.to_string())),
        ("not sent, as stated", report.skipped.map(|count| count.to_string())),
    ];
    facts.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// The rows of a report that say anything.
pub(super) fn of_report(report: &ToolReport, epoch: u64) -> Vec<Stated> {
    let says = |row: &&Reported| {
        let single = [row.mean, row.min, row.max].iter().any(Option::is_some);
        single || row.count.is_some() || !row.quantiles.is_empty() || !row.cumulative.is_empty()
    };
    report.rows.iter().filter(says).map(|row| of_row(row, epoch)).collect()
}

fn of_row(row: &Reported, epoch: u64) -> Stated {
    let at = |moment: u64| Instant(moment.saturating_sub(epoch));
    Stated {
        operation: row.operation.clone(),
        measure: row.measure.clone(),
        counted_from: row.counted_from,
        interval: row.interval.map(|(begin, end)| (at(begin), at(end))),
        count: row.count,
        mean: row.mean,
        min: row.min,
        max: row.max,
        quantiles: row.quantiles.clone(),
        cumulative: row.cumulative.clone(),
        resolution: row.resolution,
        relative_resolution: row.relative_resolution,
    }
}
