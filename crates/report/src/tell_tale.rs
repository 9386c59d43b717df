//! What text, page and document say of the tell-tale experiment, in the same words: what was tested, and nothing else.

pub use crate::html::tell_tale_page as html;
pub use crate::json::tell_tale as json;
pub use crate::svg::tell_tale_figures as figures;
pub use crate::text::tell_tale_page as text;

use crate::text::time;
use analysis::tell_tale::{
    AgainstBase, Cell, CellFigures, CellResult, Finding, Group, Half, PauseTotals, Pauses, Quantity, Slowest,
    SlowestRow, Spread, TellTale, TestedRow, Whose,
};
use stats::RankCorrelation;
use units::{Estimate, Nanos, format_counted, format_nanos};

/// Whom a cell measured with what, so that the words can be quoted alone.
pub(crate) fn cell_name(cell: &Cell) -> String {
    let workload = if cell.workload == cell.tool() { String::new() } else { format!(", {}", cell.workload) };
    format!("{}{workload} on {}, {}", harness_name(cell), cell.target, cell.load.name())
}

fn harness_name(cell: &Cell) -> String {
    let collector = cell.collector().map_or(String::new(), |collector| format!(" under {collector}"));
    let log = if cell.jvm_log == Some(false) { " without its log" } else { "" };
    format!("{}{collector}{log}", cell.tool())
}

/// A cell among those of its group: the collector alone where no other tool with a JVM was run.
pub(crate) fn label(tell_tale: &TellTale, group: &Group, index: usize) -> String {
    let cell = &tell_tale.cells[index].cell;
    let mut ran =
        ran(tell_tale, group).map(|other| &tell_tale.cells[other].cell).filter(|c| c.collector().is_some());
    let name = cell.collector().filter(|_| ran.all(|other| other.tool() == cell.tool()));
    let name = name.unwrap_or(&cell.harness);
    if cell.jvm_log == Some(false) { format!("{name}, no log") } else { name.to_owned() }
}

/// The cells of a group that were run.
pub(crate) fn ran<'a>(tell_tale: &'a TellTale, group: &'a Group) -> impl Iterator<Item = usize> + 'a {
    group.cells.iter().copied().filter(|cell| tell_tale.cells[*cell].figures.is_ok())
}

/// What of a group was not run, and why: one sentence for each reason.
pub(crate) fn not_run(tell_tale: &TellTale, group: &Group) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for index in &group.cells {
        let Err(why) = &tell_tale.cells[*index].figures else { continue };
        let name = harness_name(&tell_tale.cells[*index].cell);
        match reasons.iter_mut().find(|(other, _)| other == why) {
            Some((_, names)) => names.push(name),
            None => reasons.push((why, vec![name])),
        }
    }
    let said = |(why, names): (&str, Vec<String>)| match names.len() == group.cells.len() {
        true => format!("{}: not run: {why}.", group_name(group)),
        false => format!("{}: {}: not run: {why}.", group_name(group), listed(&names)),
    };
    reasons.into_iter().map(said).collect()
}

/// What a group has in common.
pub(crate) fn group_name(group: &Group) -> String {
    format!("{} on {}, {}", group.workload, group.target, group.load.name())
}

/// Which time a group's figures are of.
pub(crate) fn measure_name(tell_tale: &TellTale, group: &Group) -> &'static str {
    let figures = group.cells.iter().find_map(|cell| tell_tale.cells[*cell].figures.as_ref().ok());
    figures.map_or("time", |figures| figures.measure.name())
}

/// The median round's, and in brackets the least and the most of all rounds.
pub(crate) fn spread_words(spread: &Spread, words: impl Fn(f64) -> String) -> String {
    if spread.points.len() < 2 {
        return format!("{} [one round]", words(spread.median));
    }
    let (point, least, most) = (words(spread.median), words(spread.least), words(spread.most));
    // The unit once where it is the same.
    let unit = |text: &str| text.split_once(' ').map(|(_, unit)| unit.to_owned());
    let bare = |text: &str| match unit(text) == unit(&point) {
        true => text.split(' ').next().unwrap_or(text).to_owned(),
        false => text.to_owned(),
    };
    format!("{point} [{}, {}]", bare(&least), bare(&most))
}

/// What is below the finest step that a tool tells is not known to be zero.
pub(crate) fn time_spread(spread: &Spread, finest: Nanos) -> String {
    let finest = finest.0 as f64;
    let below = || format!("<{}", time(finest));
    match spread.most < finest {
        true => below(),
        false => spread_words(spread, |value| if value < finest { below() } else { time(value) }),
    }
}

/// `0.0001`, `0.034`, `0.41`.
pub(crate) fn p_words(p: f64) -> String {
    match p {
        p if p < 0.000_05 => "< 0.0001".to_owned(),
        p if p < 0.001 => format!("{p:.4}"),
        p if p < 0.1 => format!("{p:.3}"),
        p => format!("{p:.2}"),
    }
}

/// `p = 0.034`, `p < 0.0001`.
fn p_is(p: f64) -> String {
    let words = p_words(p);
    if words.starts_with('<') { format!("p {words}") } else { format!("p = {words}") }
}

/// A few digits: `0.03`, `2.1`, `26`.
pub(crate) fn few(value: f64) -> String {
    match value {
        v if v < 0.995 => format!("{v:.2}"),
        v if v < 9.95 => format!("{v:.1}"),
        v => units::format_count(v.round() as u64),
    }
}

/// A ratio and its interval: `1.02 [0.98, 1.06]`.
pub(crate) fn ratio_words(ratio: &Estimate) -> String {
    let digits = |value: f64| match value {
        v if v < 9.995 => format!("{v:.2}"),
        v if v < 99.95 => format!("{v:.1}"),
        v => units::format_count(v.round() as u64),
    };
    let interval =
        ratio.interval.map_or(String::new(), |(low, high)| format!(" [{}, {}]", digits(low), digits(high)));
    format!("{}{interval}", digits(ratio.point))
}

/// What a finding is in a table.
pub(crate) fn finding_mark(finding: &Finding) -> &'static str {
    match finding {
        Finding::Equivalent => "=",
        Finding::Higher | Finding::Lower => "≠",
        Finding::CannotTell(_) => "?",
    }
}

/// What a finding is in words.
pub(crate) fn finding_words(finding: &Finding) -> &'static str {
    match finding {
        Finding::Equivalent => "equivalent",
        Finding::Higher => "different: higher",
        Finding::Lower => "different: lower",
        Finding::CannotTell(_) => "can't tell",
    }
}

/// Why a cell has no figures on pauses: never a zero.
pub(crate) fn no_pauses(pauses: &Pauses) -> Option<&'static str> {
    match pauses {
        Pauses::NoJvm => Some("no JVM"),
        Pauses::NoLog => Some("no log"),
        Pauses::Trouble(_) => Some("log tells nothing"),
        Pauses::NoPause(_) => Some("no pause"),
        Pauses::Seen(_) => None,
    }
}

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
            let paused = figures
                .rounds
                .iter()
                .filter(|round| round.max_paused.is_some_and(|share| share >= 0.5))
                .count();
            format!(
                "a part of its tail is its own JVM's: {} (longest {longest}); {what}, was spent in a pause in {paused} of {}",
                overlap_words(row, "a pause"),
                format_counted(figures.rounds.len() as u64, "round", "rounds")
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
            let ratio = format!("{}×", ratio_words(&tested.ratio).replacen(' ', "× ", 1)).replace("]×", "]");
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

fn why_not(row: &TestedRow) -> String {
    match &row.finding {
        Finding::CannotTell(why) => why.clone(),
        other => finding_words(other).to_owned(),
    }
}

/// What a group says of the paper's claim, in one sentence for each half.
pub(crate) fn claim_sentences(tell_tale: &TellTale, group: &Group) -> Vec<String> {
    let name = group_name(group);
    let claim = &group.claim;
    if let Half::NotTested(why) = &claim.quantiles {
        return vec![format!("{name}: collectors are not compared: {why}.")];
    }
    let margin = format!("±{:.0} %", 100.0 * tell_tale.margin);
    let equal: Vec<String> = claim.equivalent.iter().map(|q| q.name()).collect();
    let bound = claim.bound.map_or(String::new(), |bound| match bound {
        b if b < 0.995 => format!("; p99.9 moves by no more than ±{:.0} %", (100.0 * b).ceil()),
        b => format!("; p99.9 moves by no more than a factor of {}", few(b + 1.0)),
    });
    let is_quantile = |quantity: Quantity| matches!(quantity, Quantity::Quantile(_));
    let count = collectors(tell_tale, group).count();
    let under = if count == 1 {
        "under the other collector".to_owned()
    } else {
        format!(
            "under {} other collectors",
            if count == 2 { "both".to_owned() } else { format!("all {count}") }
        )
    };
    let equal_words = format!(
        "{} {} within {margin} of Epsilon's {under}",
        listed(&equal),
        if equal.len() == 1 { "is" } else { "are" }
    );
    let also = if equal.is_empty() { String::new() } else { format!("; {equal_words}") };
    let first = match &claim.quantiles {
        Half::Holds => format!("quantiles do not move: {equal_words}{bound}"),
        Half::Fails => {
            format!("quantiles do move: {}{also}", listed(&differences(tell_tale, group, is_quantile)))
        }
        _ => format!(
            "can't tell whether quantiles move: {}{also}{bound}",
            listed(&unsure(tell_tale, group, is_quantile))
        ),
    };
    let is_max = |quantity: Quantity| quantity == Quantity::Max;
    let second = match &claim.maxima {
        Half::Holds if claim.quantiles == Half::Holds => {
            format!("only maxima move: {}", listed(&differences(tell_tale, group, is_max)))
        }
        Half::Holds => format!("maxima do move: {}", listed(&differences(tell_tale, group, is_max))),
        Half::Fails => format!("maxima do not move: they are within {margin} of Epsilon's {under}"),
        _ => format!("can't tell whether maxima move: {}", listed(&unsure(tell_tale, group, is_max))),
    };
    vec![format!("{name}: {first}."), format!("{name}: {second}.")]
}

/// Each collector that is compared, with the group's own log setting first.
fn collectors<'a>(tell_tale: &'a TellTale, group: &'a Group) -> impl Iterator<Item = &'a AgainstBase> {
    group.against.iter().filter(|one| {
        let (cell, base) = (&tell_tale.cells[one.cell].cell, &tell_tale.cells[one.base].cell);
        cell.collector().is_some()
            && !one.rows.is_empty()
            && (cell.jvm_log != Some(false) || base.jvm_log == Some(false))
    })
}

/// `p99.9 under G1 15.3 [12.1, 19.4] times Epsilon's`
fn differences(tell_tale: &TellTale, group: &Group, wanted: impl Fn(Quantity) -> bool) -> Vec<String> {
    let found = collectors(tell_tale, group).flat_map(|one| one.rows.iter().map(move |row| (one, row)));
    let different = found
        .filter(|(_, row)| wanted(row.quantity) && matches!(row.finding, Finding::Higher | Finding::Lower));
    let words = |(one, row): (&AgainstBase, &TestedRow)| {
        let ratio = row.tested.as_ref().map_or(String::new(), |tested| ratio_words(&tested.ratio));
        let of =
            if row.quantity == Quantity::Max { String::new() } else { format!("{} ", row.quantity.name()) };
        format!("{of}under {} {ratio} times Epsilon's", label(tell_tale, group, one.cell))
    };
    shortened(different.map(words).collect())
}

/// What can't be told of which collector.
fn unsure(tell_tale: &TellTale, group: &Group, wanted: impl Fn(Quantity) -> bool) -> Vec<String> {
    let found = collectors(tell_tale, group).flat_map(|one| one.rows.iter().map(move |row| (one, row)));
    let unsure =
        found.filter(|(_, row)| wanted(row.quantity) && matches!(row.finding, Finding::CannotTell(_)));
    let words = |(one, row): (&AgainstBase, &TestedRow)| {
        let of =
            if row.quantity == Quantity::Max { String::new() } else { format!("{} ", row.quantity.name()) };
        let ratio = row.tested.as_ref().map_or_else(|| why_not(row), |tested| ratio_words(&tested.ratio));
        format!("{of}under {} {ratio}", label(tell_tale, group, one.cell))
    };
    shortened(unsure.map(words).collect())
}

fn shortened(mut words: Vec<String>) -> Vec<String> {
    const MOST: usize = 4;
    if words.len() > MOST {
        let more = words.len() - MOST;
        words.truncate(MOST);
        words.push(format!("{more} more"));
    }
    words
}

/// `a`, `a and b`, `a, b and c`.
fn listed(words: &[String]) -> String {
    match words {
        [] => "nothing".to_owned(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// What the rounds' maxima and longest pauses show together.
pub(crate) fn correlation_words(correlation: Option<&RankCorrelation>) -> String {
    match correlation {
        Some(found) => format!(
            "the longest {} the longest pause over {} rounds: rank correlation {:.2}, {}",
            if found.p_value <= 0.05 { "rises with" } else { "is not shown to rise with" },
            found.pairs,
            found.rho,
            p_is(found.p_value)
        ),
        None => format!("too few rounds with pauses for a correlation: it takes {}", stats::FEWEST_PAIRS),
    }
}

/// What one effect of the log comes to.
pub(crate) fn log_sentence(tell_tale: &TellTale, effect: &analysis::tell_tale::LogEffect) -> String {
    let cell = &tell_tale.cells[effect.with].cell;
    let name = cell_name(cell);
    if let Some(why) = &effect.refused {
        return format!("{name}: can't tell whether its log disturbs: {why}.");
    }
    let which = |wanted: fn(&Finding) -> bool| -> Vec<String> {
        effect.rows.iter().filter(|row| wanted(&row.finding)).map(|row| row.quantity.name()).collect()
    };
    let different = which(|finding| matches!(finding, Finding::Higher | Finding::Lower));
    let unsure = which(|finding| matches!(finding, Finding::CannotTell(_)));
    let equal = which(|finding| *finding == Finding::Equivalent);
    let within = format!("within ±{:.0} %", 100.0 * tell_tale.margin);
    match (different.is_empty(), unsure.is_empty()) {
        (false, _) => format!("{name}: its log disturbs: {} differ with it.", listed(&different)),
        (true, true) => {
            format!("{name}: its log does not disturb: {} are the same {within} without it.", listed(&equal))
        }
        (true, false) if equal.is_empty() => format!("{name}: can't tell whether its log disturbs."),
        (true, false) => format!(
            "{name}: its log does not disturb {} ({within}); of {} these rounds can't tell.",
            listed(&equal),
            listed(&unsure)
        ),
    }
}

/// What so many rounds can carry.
pub(crate) fn rounds_words(tell_tale: &TellTale) -> String {
    let margin = 100.0 * tell_tale.margin;
    match (tell_tale.rounds, tell_tale.carried_scatter) {
        (0, _) => "no cell was run".to_owned(),
        (rounds, None) => format!("{rounds} round a cell: nothing can be said of differences between cells"),
        (rounds, Some(scatter)) => format!(
            "at least {rounds} rounds a cell: so many can show equality within ±{margin:.0} % only of what scatters by less than {:.0} % from \
             round to round; brackets hold the least and the most of the rounds, not an interval",
            100.0 * scatter
        ),
    }
}

/// How it was tested, for the foot of all tables.
pub(crate) const METHOD: &str = "overlap: each of the slowest requests counts once; chance is what circular shifts of each round give, p is \
     of all rounds together, corrected for the number of cells (Holm). Against Epsilon: ratio of geometric means with its 90 % \
     interval by Welch's test on the rounds' logarithms; = both ends within the margin (two one-sided tests at 5 %), ≠ different \
     (p after Holm's correction at most 0.05), ? neither. Not a word of causes: a third thing may move both.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_as_many_digits_as_they_carry() {
        assert_eq!(
            [0.00001, 0.0001, 0.0342, 0.41, 1.0].map(p_words),
            ["< 0.0001", "0.0001", "0.034", "0.41", "1.00"]
        );
        assert_eq!([0.034, 2.13, 26.4, 1_234.0].map(few), ["0.03", "2.1", "26", "1,234"]);
        let spread = Spread {
            points: vec![1e6, 2e6, 25.2e6],
            median: 2e6,
            least: 1e6,
            most: 25.2e6,
            across: Estimate::exact(2e6, 3),
            estimates: Vec::new(),
        };
        assert_eq!(time_spread(&spread, Nanos::ZERO), "2.00 ms [1.00, 25.2]");
        assert_eq!(time_spread(&spread, Nanos(1_500_000)), "2.00 ms [<1.50, 25.2]");
        assert_eq!(time_spread(&spread, Nanos(30_000_000)), "<30.0 ms");
        assert_eq!(
            time_spread(&Spread { least: 9e5, ..spread.clone() }, Nanos::ZERO),
            "2.00 ms [900 µs, 25.2]"
        );
        assert_eq!(time_spread(&Spread { points: vec![2e6], ..spread }, Nanos::ZERO), "2.00 ms [one round]");
        assert_eq!(
            [listed(&[]), listed(&["a".into()]), listed(&["a".into(), "b".into()])],
            ["nothing", "a", "a and b"]
        );
    }
}
