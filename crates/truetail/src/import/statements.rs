//! Summaries: what a tool states, without the requests behind it.

use super::{Further, Imported, Request, gap_facts, grave, header};
use anyhow::bail;
use import::{Gap, Reported, ToolReport};
use record::{
    EndOfRun, Ending, PhaseFacts, PhaseKind, RecordingWriter, RunHeader, STATED_MAX, Stated, StatedFrom,
};
use units::{Instant, format_count, format_counted};

/// A recording of a tool's statements alone.
pub(super) fn of_summaries(request: &Request, further: &Further) -> anyhow::Result<Imported> {
    let printed = request.printed.as_deref().unwrap_or("");
    let mut report = import::statements(request.format, printed, &request.files)?;
    report.asked = report.asked.or_else(|| import::asked_rate(request.format, &request.command));
    if let Some((_, log)) = request.jvm_logs.first() {
        bail!(
            "--jvm-log {}: {} states figures and no requests, so there is nothing that pauses could be laid over",
            log.display(),
            report.tool
        );
    }
    if let Some(log) = further.server_logs.first() {
        bail!(
            "--server-log {}: {} states figures and no requests, so there is nothing that checkpoints could be laid over",
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
    let mut gaps = import::summary_gaps(request.format, &report);
    let epoch = report.rows.iter().filter_map(|row| row.interval).map(|(begin, _)| begin).min().unwrap_or(0);
    let (stated, left_out) = fitted(of_report(&report, epoch), &report.tool)?;
    gaps.extend(left_out);
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
    let has_schedule = report.rows.iter().any(|row| row.counted_from == StatedFrom::Schedule);
    let model = header::model(has_schedule, report.asked);
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
        offered: report.asked.map(|rate| (rate, rate)),
        sessions,
        mix: Vec::new(),
    }];
    header
}

/// What the tool says of its run as a whole.
fn told(report: &ToolReport) -> Vec<(String, String)> {
    let facts = [
        ("asked, as stated", report.asked.map(|rate| rate.to_string())),
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

/// As much of the statements as a recording has room for, and what had to be left out. Intervals go before the whole: first the
/// counts that their quantiles are read from, then all of them.
///
/// # Errors
/// What is stated of the whole run alone is too much.
pub(super) fn fitted(mut stated: Vec<Stated>, tool: &str) -> anyhow::Result<(Vec<Stated>, Option<Gap>)> {
    let figures = |all: &[Stated]| -> usize { all.iter().map(Stated::figures).sum() };
    if figures(&stated) <= STATED_MAX {
        return Ok((stated, None));
    }
    let intervals = stated.iter().filter(|one| one.interval.is_some()).count();
    let of_intervals = format_counted(intervals as u64, "interval", "intervals");
    let is_of_interval = |one: &&mut Stated| one.interval.is_some();
    stated.iter_mut().filter(is_of_interval).for_each(|one| one.cumulative.clear());
    if figures(&stated) <= STATED_MAX {
        let text = format!(
            "{tool} states {of_intervals}, for whose quantiles a recording has no room: of each, the count, the mean and the \
             extremes are kept"
        );
        return Ok((stated, Some(Gap::note(text))));
    }
    stated.retain(|one| one.interval.is_none());
    let left = figures(&stated);
    if left > STATED_MAX {
        bail!(
            "{tool} states {} figures of its whole run, and a recording has room for {}: hand over fewer files at once, or \
             histograms of fewer digits",
            format_count(left as u64),
            format_count(STATED_MAX as u64)
        );
    }
    let text = format!(
        "{tool} states {of_intervals}, for which a recording has no room: they are left out, the whole is kept"
    );
    Ok((stated, Some(Gap::note(text))))
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
        rounding: row.rounding,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Nanos;

    /// A statement of an interval, or of the whole, with so many counts.
    fn counted(counts: u64, second: Option<u64>) -> Stated {
        let instant = |second: u64| Instant(second * 1_000_000_000);
        Stated {
            interval: second.map(|second| (instant(second), instant(second + 1))),
            count: Some(counts),
            max: Some(Nanos(counts)),
            cumulative: (1..=counts).map(|n| (Nanos(n), n)).collect(),
            ..Stated::default()
        }
    }

    fn with_intervals(count: u64, counts: u64) -> Vec<Stated> {
        std::iter::once(counted(300, None))
            .chain((0..count).map(|second| counted(counts, Some(second))))
            .collect()
    }

    #[test]
    fn what_has_no_room_goes_before_the_whole_and_is_said() {
        let few = with_intervals(100, 15);
        assert_eq!(fitted(few.clone(), "a tool").expect("room"), (few, None));
        // A day of seconds: their counts go.
        let (stated, gap) = fitted(with_intervals(86_400, 15), "a tool").expect("room without counts");
        assert_eq!((stated.len(), stated[0].cumulative.len(), stated[1].cumulative.len()), (86_401, 300, 0));
        assert_eq!((stated[1].count, stated[1].max), (Some(15), Some(Nanos(15))));
        assert!(gap.expect("said").text.contains("86,400 intervals"));
        // A week of them: they go themselves.
        let (stated, gap) = fitted(with_intervals(604_800, 1), "a tool").expect("room for the whole");
        assert_eq!(stated, [counted(300, None)]);
        assert!(gap.expect("said").text.contains("604,800 intervals, for which a recording has no room"));
        let error = fitted(vec![counted(1 << 20, None)], "a tool").expect_err("no room").to_string();
        assert!(
            error.contains("1,048,579 figures") && error.contains("room for 1,048,576: hand over"),
            "{error}"
        );
    }
}
