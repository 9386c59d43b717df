//! One sentence on each cell, which can be quoted alone.

use super::names::{cell_name, harness_name};
use super::words::{few, p_is, ratio_words, time_spread, why_not};
use analysis::tell_tale::{
    AgainstBase, CellFigures, CellResult, Finding, PauseTotals, Pauses, Quantity, Slowest, SlowestRow,
    TellTale, TestedRow, Whose,
};
use units::{format_counted, format_nanos};

/// One sentence on a cell that can be quoted alone.
pub(crate) fn sentence(tell_tale: &TellTale, index: usize) -> String {
    let CellResult { cell, figures } = &tell_tale.cells[index];
    let name = cell_name(cell);
    match figures {
        Err(why) => format!("{name}: not run: {why}."),
        Ok(figures) => {
            let what = format!(
                "its longest {}, {}",
                figures.measure.name().replace(" time", ""),
                time_spread(&figures.max, figures.finest())
            );
            let what = what.replace("longest service", "longest request");
            format!("{name}: {}.", said(tell_tale, index, figures, &what))
        }
    }
}

fn said(tell_tale: &TellTale, index: usize, figures: &CellFigures, what: &str) -> String {
    let row = figures.slowest(Slowest::Hundred);
    match (&figures.whose, &figures.pauses, row) {
        (Whose::NoJvm, ..) => format!("{what}, is no JVM's: it has none{}", below(tell_tale, index)),
        (Whose::NoLog, ..) => format!("can't tell whose {what}, is: its JVM wrote no log"),
        (Whose::Trouble, Pauses::Trouble(why), _) => format!("can't tell whose {what}, is: {why}"),
        (Whose::NoPause, Pauses::NoPause(totals), _) => {
            format!("{what}, is no pause of its JVM, which has none in the measured time{}", stalls(totals))
        }
        (Whose::CannotTell(why), ..) => format!("can't tell whether {what}, is its own JVM's pause: {why}"),
        (whose, Pauses::Seen(totals), Some(row)) => of_pauses(whose, totals, row, figures, what),
        _ => format!("can't tell whose {what}, is"),
    }
}

/// `294 of the 300 slowest requests (100 a round) overlap one, 2.1 would by chance, p = 0.0001`
fn overlap_words(row: &SlowestRow, a_pause: &str) -> String {
    let all = &row.all;
    format!(
        "{} of the {} slowest requests overlap {a_pause}, {} would by chance, {}",
        units::format_count(all.met),
        units::format_count(all.of),
        few(all.by_chance),
        p_is(row.p_corrected)
    )
}

fn of_pauses(
    whose: &Whose,
    totals: &PauseTotals,
    row: &SlowestRow,
    figures: &CellFigures,
    what: &str,
) -> String {
    let longest = totals.longest.map_or("not known".to_owned(), format_nanos);
    match whose {
        Whose::Harness => format!(
            "{what}, is its own JVM's pause (longest {longest}; {}): the tail is the harness's",
            overlap_words(row, "one")
        ),
        Whose::Maximum => format!(
            "{what}, is its own JVM's pause (longest {longest}), and so are few others: {}: the maximum is the harness's, most \
             of the tail is not",
            overlap_words(row, "a pause")
        ),
        Whose::Partly => {
            let (paused, known) = figures.maxima_in_pauses();
            let unknown = figures.rounds.len() - known;
            let untold =
                if unknown > 0 { format!(", and of {unknown} more it is not known") } else { String::new() };
            format!(
                "a part of its tail is its own JVM's: {} (longest {longest}); {what}, was spent in a pause in {paused} of {}{untold}",
                overlap_words(row, "a pause"),
                format_counted(known as u64, "round", "rounds")
            )
        }
        _ => {
            let by_stalls = row.with_stalls.as_ref().filter(|met| met.p_value <= 0.01);
            let by_stalls = by_stalls.map_or(String::new(), |met| {
                let met_words = format!("{} of {} overlap a pause or a stall of one thread", met.met, met.of);
                format!("; but {met_words}, {}", p_is(met.p_value))
            });
            format!(
                "{what}, is not shown to be its own JVM's pause (longest {longest}; {}){by_stalls}",
                overlap_words(row, "one")
            )
        }
    }
}

fn stalls(totals: &PauseTotals) -> String {
    let stalls = totals.longest_stall.map(|longest| {
        let count = format_counted(totals.stalls, "stall of a single thread", "stalls of single threads");
        format!(", but {count}, the longest {}", format_nanos(longest))
    });
    let summaries =
        (totals.summaries > 0).then(|| "; some stops are told in sum and not one by one".to_owned());
    [stalls, summaries].into_iter().flatten().collect()
}

/// Whether a harness without a JVM stays below the tools under Epsilon, at p99.9 and at the maximum.
fn below(tell_tale: &TellTale, index: usize) -> String {
    let against = tell_tale.groups.iter().flat_map(|group| &group.against).filter(|one| one.cell == index);
    let words: Vec<String> = against.map(|one| below_one(tell_tale, one)).collect();
    if words.is_empty() { String::new() } else { format!("; {}", words.join("; ")) }
}

fn below_one(tell_tale: &TellTale, one: &AgainstBase) -> String {
    let base = harness_name(&tell_tale.cells[one.base].cell);
    if let Some(why) = &one.refused {
        return format!("not held against {base}: {why}");
    }
    let wanted = |row: &&TestedRow| match row.quantity {
        Quantity::Max => true,
        Quantity::Quantile(q) => q.get() > 0.99,
        Quantity::Throughput => false,
    };
    let said: Vec<String> = one
        .rows
        .iter()
        .filter(wanted)
        .map(|row| {
            let name = if row.quantity == Quantity::Max { "maximum".to_owned() } else { row.quantity.name() };
            let Some(tested) = &row.tested else { return format!("{name}: {}", why_not(row)) };
            let ratio = format!("{}×", ratio_words(tested).replacen(' ', "× ", 1)).replace("]×", "]");
            match &row.finding {
                Finding::Lower => format!("{name} below, {ratio}"),
                Finding::Higher => format!("{name} above, {ratio}"),
                Finding::Equivalent => format!("{name} no different, {ratio}"),
                Finding::CannotTell(_) => format!("{name} can't be told, {ratio}"),
            }
        })
        .collect();
    format!("against {base}: {}", said.join("; "))
}
