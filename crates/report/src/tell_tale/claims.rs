//! Sentences on cells together: the paper's claim, held against a group, and whether a JVM's log disturbs.

use super::names::{cell_name, group_name, label};
use super::words::{few, listed, ratio_words, why_not};
use analysis::tell_tale::{AgainstBase, Finding, Group, Half, LogEffect, Quantity, TellTale, TestedRow};

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
        let ratio = row.tested.as_ref().map_or(String::new(), ratio_words);
        let of =
            if row.quantity == Quantity::Max { String::new() } else { format!("{} ", row.quantity.name()) };
        format!("{of}under {} {ratio} times Epsilon's", label(tell_tale, group, one.cell))
    };
    shortened(different.map(words).collect())
}

/// What can't be told of which collector: those that were tested with their ratios, the others by the reason why not.
fn unsure(tell_tale: &TellTale, group: &Group, wanted: impl Fn(Quantity) -> bool) -> Vec<String> {
    let found = collectors(tell_tale, group).flat_map(|one| one.rows.iter().map(move |row| (one, row)));
    let unsure =
        found.filter(|(_, row)| wanted(row.quantity) && matches!(row.finding, Finding::CannotTell(_)));
    let (mut tested, mut reasons) = (Vec::new(), Vec::<(String, Vec<String>)>::new());
    for (one, row) in unsure {
        let of =
            if row.quantity == Quantity::Max { String::new() } else { format!("{} ", row.quantity.name()) };
        let which = format!("{of}under {}", label(tell_tale, group, one.cell));
        if let Some(ratio) = row.tested.as_ref().map(ratio_words) {
            tested.push(format!("{which} {ratio}"));
            continue;
        }
        let why = why_not(row);
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, all)) => all.push(which),
            None => reasons.push((why, vec![which])),
        }
    }
    let grouped = reasons.into_iter().map(|(why, all)| format!("{why} ({})", listed(&shortened(all))));
    shortened(tested).into_iter().chain(grouped).collect()
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

/// What one effect of the log comes to.
pub(crate) fn log_sentence(tell_tale: &TellTale, effect: &LogEffect) -> String {
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
