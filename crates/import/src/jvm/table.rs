//! The table that JDK 11 and earlier print on standard output with `-XX:+PrintSafepointStatistics
//! -XX:PrintSafepointStatisticsCount=1`, without decorators.
//!
//! ```text
//!          vmop                    [ threads:    total initially_running wait_to_block ][ time:    spin   block    sync cleanup    vmop ] page_trap_count
//!   0.277: G1CollectForAllocation  [                12                 0             3 ][             0       4       4       1      10 ]               0
//! ```
//!
//! A row begins with when the safepoint began, not ended, in seconds of uptime. Its times are cut to whole milliseconds, so that a
//! pause may be up to 3 ms longer than sync, cleanup and vmop together; spin and block are parts of sync, the time that threads
//! took to stop.

use super::pause::{JvmPause, ToldBy};
use super::stamp::{Reading, Stamp};
use crate::moment::decimal;
use units::Nanos;

/// What a line without decorators is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Line {
    /// A row, with the uptime of its end.
    Row(Box<JvmPause>),
    /// A header, or a line of the summary at the end.
    Known,
    /// It looks like a row, and is none.
    Broken,
}

/// Reads lines; the summary's are known only after a header.
#[derive(Debug, Default)]
pub(super) struct Table {
    is_there: bool,
}

impl Table {
    /// `None` for what is not of the table.
    pub(super) fn read(&mut self, text: &str) -> Option<Line> {
        let text = text.trim();
        if text.starts_with("vmop ") && text.ends_with("page_trap_count") {
            self.is_there = true;
            return Some(Line::Known);
        }
        if let Some((stamp, rest)) = text.split_once(": ").filter(|(stamp, _)| is_stamp(stamp)) {
            if !rest.contains('[') {
                return None;
            }
            return Some(row(stamp, rest).map_or(Line::Broken, |pause| Line::Row(Box::new(pause))));
        }
        (self.is_there && is_of_summary(text)).then_some(Line::Known)
    }
}

fn is_stamp(text: &str) -> bool {
    text.split_once('.').is_some_and(|(_, digits)| digits.len() == 3) && decimal(text, 3).is_some()
}

/// `G1CollectForAllocation  [ 12 0 3 ][ 0 4 4 1 10 ] 0`; earlier versions have a space between the brackets.
fn row(stamp: &str, rest: &str) -> Option<JvmPause> {
    let (name, rest) = rest.split_once('[')?;
    let (threads, rest) = rest.split_once(']')?;
    let (times, traps) = rest.trim_start().strip_prefix('[')?.split_once(']')?;
    let numbers =
        |text: &str| -> Option<Vec<u64>> { text.split_whitespace().map(|n| n.parse().ok()).collect() };
    let (3, 1) = (numbers(threads)?.len(), numbers(traps)?.len()) else { return None };
    let [_spin, _block, sync, cleanup, operation] = numbers(times)?[..] else { return None };
    let whole = |millis: u64| millis.checked_mul(MILLISECOND).map(Nanos);
    let total = whole(sync.checked_add(cleanup)?.checked_add(operation)?)?;
    let mut pause = JvmPause::of_all(ToldBy::Table, name.trim(), total);
    (pause.time_to_safepoint, pause.cleanup) = (Some(whole(sync)?), Some(whole(cleanup)?));
    pause.operation = Some(whole(operation)?);
    let end = i128::from(decimal(stamp, 9)?) + i128::from(total.0);
    pause.stamp = Stamp { uptime: Some(Reading::rounded(end, i128::from(MILLISECOND))), ..Stamp::default() };
    Some(pause)
}

const MILLISECOND: u64 = 1_000_000;

/// Counts by operation, and maxima.
fn is_of_summary(text: &str) -> bool {
    let is_count = |text: &str| {
        let mut words = text.split_whitespace();
        words.next_back().is_some_and(|count| count.parse::<u64>().is_ok()) && words.next().is_some()
    };
    text == "Polling page always armed"
        || text.ends_with(" VM operations coalesced during safepoint")
        || (text.starts_with("Maximum ") && text.strip_suffix(" ms").is_some_and(is_count))
        || (!text.contains(['[', ':', '.']) && is_count(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "vmop  [ threads: total initially_running wait_to_block ][ time: spin block sync cleanup vmop ] page_trap_count";

    #[test]
    fn a_row_is_an_interval_that_begins_with_its_stamp() {
        let mut table = Table::default();
        assert_eq!(table.read(HEADER), Some(Line::Known));
        for row in [
            "   0.277: G1CollectForAllocation          [                12                 0             3 ][             0       4       4       1      10 ]               0 ",
            "0.277: G1CollectForAllocation [ 12 0 3 ] [ 0 4 4 1 10 ] 0",
        ] {
            let Some(Line::Row(pause)) = table.read(row) else { panic!("{row}") };
            assert_eq!((pause.what.as_str(), pause.total), ("G1CollectForAllocation", Nanos(15_000_000)));
            assert_eq!(pause.time_to_safepoint, Some(Nanos(4_000_000)));
            assert_eq!(pause.stamp.uptime.map(Reading::middle_ns), Some(292_000_000));
        }
    }

    #[test]
    fn damaged_rows_are_told_and_other_lines_left_alone() {
        let mut table = Table::default();
        for broken in [
            "0.277: G1 [ 12 0 3 ][ 0 4 4 1",
            "0.277: G1 [ 12 0 ][ 0 4 4 1 10 ] 0",
            "0.277: G1 [ 12 0 3 ][ 0 4 4 1 99999999999999999999 ] 0",
        ] {
            assert_eq!(table.read(broken), Some(Line::Broken), "{broken}");
        }
        for other in ["0.277: started", "12:30: x [", "Polling", "G1CollectFull   1", ""] {
            assert_eq!(table.read(other), None, "{other}");
        }
        table.read(HEADER);
        let summary = [
            "Polling page always armed",
            "no vm operation                    3",
            "    2 VM operations coalesced during safepoint",
            "Maximum sync time     14 ms",
            "Maximum vm operation time (except for Exit VM operation)    111 ms",
        ];
        summary.iter().for_each(|line| assert_eq!(table.read(line), Some(Line::Known), "{line}"));
        assert_eq!(table.read("the program says 3.5"), None);
    }
}
