//! The page of the tell-tale experiment: sentences first, then tables.

use super::sheet::Sheet;
use super::table::Table;
use super::{TextOptions, time};
use crate::tell_tale::{
    METHOD, bound_sign, claim_sentences, correlation_words, few, finding_mark, group_name, label,
    log_sentence, measure_name, no_pauses, not_run, p_words, ran, ratio_words, rounds_words, sentence,
    spread_words, time_spread,
};
use analysis::tell_tale::{
    AgainstBase, CellFigures, Group, PauseTotals, Pauses, Slowest, TellTale, TestedRow,
};
use units::{Nanos, PerSecond, Quantile, format_count, format_nanos};

/// The whole page: two sentences for each group and one for each cell, and then their tables.
pub fn tell_tale_page(tell_tale: &TellTale, options: &TextOptions) -> String {
    let mut page = Sheet::new(options);
    let count = tell_tale.cells.iter().filter(|cell| cell.figures.is_ok()).count();
    let head = page.paint.head("tell-tale");
    page.say(
        "",
        "  ",
        &format!(
            "{head}: whose tail does a harness report? {count} of {} cells were run",
            tell_tale.cells.len()
        ),
    );
    page.say("", "  ", &rounds_words(tell_tale));
    let groups = || tell_tale.groups.iter().filter(|group| ran(tell_tale, group).next().is_some());
    for group in groups() {
        page.blank();
        claim_sentences(tell_tale, group).iter().for_each(|said| page.say("", "  ", said));
        ran(tell_tale, group).for_each(|cell| page.say("- ", "  ", &sentence(tell_tale, cell)));
        not_run(tell_tale, group).iter().for_each(|said| page.say("- ", "  ", said));
    }
    let mut nothing =
        tell_tale.groups.iter().filter(|group| ran(tell_tale, group).next().is_none()).peekable();
    if nothing.peek().is_some() {
        page.heading("not run at all");
    }
    nothing.flat_map(|group| not_run(tell_tale, group)).for_each(|said| page.say("- ", "  ", &said));
    for effect in &tell_tale.log_effects {
        if std::ptr::eq(effect, &tell_tale.log_effects[0]) {
            page.heading("does the log disturb?");
        }
        page.say("- ", "  ", &log_sentence(tell_tale, effect));
    }
    groups().for_each(|group| page.tables(tell_tale, group));
    page.log_effects(tell_tale);
    page.blank();
    page.faint(METHOD);
    page.text
}

impl Sheet {
    fn tables(&mut self, tell_tale: &TellTale, group: &Group) {
        self.heading(&format!("{}: {}", group_name(group), measure_name(tell_tale, group)));
        let [usual, tail] = times(tell_tale, group);
        self.table(&usual);
        self.table(&tail);
        self.table(&overlaps(tell_tale, group));
        if let Some(table) = side_by_side(tell_tale, group, self.width) {
            self.table(&table);
            self.faint(&correlation_words(group.correlation.as_ref()));
        }
        if group.against.iter().any(|one| one.refused.is_none()) {
            self.table(&against(tell_tale, group));
        }
        for note in notes(tell_tale, group) {
            self.say("- ", "  ", &note);
        }
    }

    fn log_effects(&mut self, tell_tale: &TellTale) {
        if tell_tale.log_effects.iter().all(|effect| effect.rows.is_empty()) {
            return;
        }
        self.heading("with the JVM's log / without it");
        let head = ["", "throughput", "p50", "p99", "p99.9", "max"].map(str::to_owned).to_vec();
        let mut table = Table::new(head);
        for group in &tell_tale.groups {
            let own = tell_tale.log_effects.iter().filter(|effect| group.cells.contains(&effect.with));
            for (index, effect) in own.enumerate() {
                if index == 0 {
                    table.row(vec![group_name(group)]);
                }
                let mut cells = vec![format!("  {}", label(tell_tale, group, effect.with))];
                cells.extend(effect.rows.iter().map(|row| match &row.tested {
                    Some(tested) => {
                        let (sign, mark) = (bound_sign(tested), finding_mark(&row.finding));
                        format!("{sign}{:.2} {mark}", tested.ratio.point)
                    }
                    None => finding_mark(&row.finding).to_owned(),
                }));
                table.row(cells);
            }
        }
        self.table(&table);
    }
}

fn quantile(figures: &CellFigures, q: f64) -> String {
    let spread = Quantile::new(q).and_then(|q| figures.quantile(q));
    spread.map_or("too few requests".to_owned(), |spread| time_spread(spread, figures.finest()))
}

/// Per second, which the head says.
pub(crate) fn rate(value: f64) -> String {
    PerSecond::new(value)
        .map_or_else(|| "0".to_owned(), |rate| rate.to_string().trim_end_matches("/s").to_owned())
}

/// The longest and its like of a round: `25.1 ms`, or what stands instead.
fn pause_cell(pauses: &Pauses, of: impl Fn(&PauseTotals) -> Option<Nanos>) -> String {
    match (no_pauses(pauses), pauses) {
        (None, Pauses::Seen(totals)) => of(totals).map_or("not told".to_owned(), format_nanos),
        (Some(why), _) => why.to_owned(),
        _ => "–".to_owned(),
    }
}

/// What the median request meets, and what the slow ones do.
fn times(tell_tale: &TellTale, group: &Group) -> [Table; 2] {
    let mut usual = Table::new(["", "requests/s", "p50", "p99"].map(str::to_owned).to_vec());
    let mut tail =
        Table::new(["", "p99.9", "max", "longest pause", "to safepoint"].map(str::to_owned).to_vec());
    for index in ran(tell_tale, group) {
        let name = label(tell_tale, group, index);
        match &tell_tale.cells[index].figures {
            Err(_) => continue,
            Ok(figures) => {
                let throughput = spread_words(&figures.throughput, rate);
                usual.row(vec![name.clone(), throughput, quantile(figures, 0.5), quantile(figures, 0.99)]);
                tail.row(vec![
                    name,
                    quantile(figures, 0.999),
                    time_spread(&figures.max, figures.finest()),
                    pause_cell(&figures.pauses, |totals| totals.longest),
                    pause_cell(&figures.pauses, |totals| totals.longest_to_safepoint),
                ]);
            }
        }
    }
    [usual, tail]
}

/// Of the slowest requests, how many overlap a pause.
fn overlaps(tell_tale: &TellTale, group: &Group) -> Table {
    let head = ["of the slowest requests", "", "overlap a pause", "by chance", "ratio", "p", "p, each round"];
    let mut table = Table::new(head.map(str::to_owned).to_vec());
    for index in ran(tell_tale, group) {
        let name = label(tell_tale, group, index);
        let Ok(figures) = &tell_tale.cells[index].figures else { continue };
        if let Some(why) = no_pauses(&figures.pauses) {
            table.row(vec![name, String::new(), why.to_owned()]);
            continue;
        }
        for which in Slowest::ALL {
            let Some(row) = figures.slowest(which) else { continue };
            let of_round = |round: &analysis::tell_tale::RoundFigures| {
                let met =
                    round.slowest.iter().find(|(other, _)| *other == which).and_then(|(_, met)| met.as_ref());
                met.map_or("–".to_owned(), |met| p_words(met.p_value))
            };
            let rounds: Vec<String> = figures.rounds.iter().map(of_round).collect();
            let shown = if rounds.len() > 4 { spread_of(&rounds) } else { rounds.join(" ") };
            table.row(vec![
                if which == Slowest::Hundred { name.clone() } else { String::new() },
                if which == Slowest::Hundred { "100".to_owned() } else { "thousandth".to_owned() },
                format!("{} of {}", format_count(row.all.met), format_count(row.all.of)),
                few(row.all.by_chance),
                times_chance(row.all.ratio.point),
                p_words(row.p_corrected),
                shown,
            ]);
        }
    }
    table
}

/// `47×`
pub(crate) fn times_chance(ratio: f64) -> String {
    format!("{}×", few(ratio))
}

/// Of many rounds the first and the last in order: `0.0001 to 0.034`.
fn spread_of(words: &[String]) -> String {
    let mut sorted = words.to_vec();
    sorted.sort();
    match (sorted.first(), sorted.last()) {
        (Some(first), Some(last)) if first != last => format!("{first} to {last}"),
        (Some(first), _) => first.clone(),
        _ => String::new(),
    }
}

/// The longest request beside the longest pause, round by round, in as many lines as it takes; `None` where no cell has pauses.
fn side_by_side(tell_tale: &TellTale, group: &Group, width: usize) -> Option<Table> {
    let names: Vec<String> = ran(tell_tale, group).map(|cell| label(tell_tale, group, cell)).collect();
    let room = width.saturating_sub(names.iter().map(|name| name.chars().count()).max().unwrap_or(0));
    let in_line = (room / 20).clamp(1, 5);
    let mut table = Table::new(
        std::iter::once("longest request / longest pause".to_owned())
            .chain((0..in_line).map(|_| String::new()))
            .collect(),
    );
    let mut any = false;
    for (index, name) in ran(tell_tale, group).zip(names) {
        let Ok(figures) = &tell_tale.cells[index].figures else { continue };
        if !matches!(figures.pauses, Pauses::Seen(_)) {
            continue;
        }
        any = true;
        let of_round = |round: &analysis::tell_tale::RoundFigures| {
            let pause = round.pauses.as_ref().map(|pauses| pauses.longest());
            let pause = match pause {
                None => "no log".to_owned(),
                Some(None) => "no pause".to_owned(),
                Some(Some(longest)) => format_nanos(longest),
            };
            format!("{} / {pause}", format_nanos(round.max))
        };
        for (line, rounds) in figures.rounds.chunks(in_line).enumerate() {
            let mut cells = vec![if line == 0 { name.clone() } else { String::new() }];
            cells.extend(rounds.iter().map(of_round));
            table.row(cells);
        }
    }
    any.then_some(table)
}

/// Each cell against Epsilon.
fn against(tell_tale: &TellTale, group: &Group) -> Table {
    let title = format!("against {}", analysis::tell_tale::BASE);
    let mut table = Table::new([title.as_str(), "p50", "p99", "p99.9", "max"].map(str::to_owned).to_vec());
    for one in group.against.iter().filter(|one| one.refused.is_none()) {
        table.row(against_row(tell_tale, group, one));
    }
    table
}

fn against_row(tell_tale: &TellTale, group: &Group, one: &AgainstBase) -> Vec<String> {
    let mut cells = vec![label(tell_tale, group, one.cell)];
    cells.extend(one.rows.iter().map(tested_cell));
    cells
}

/// `1.02 [0.98, 1.06] =`
pub(crate) fn tested_cell(row: &TestedRow) -> String {
    let mark = finding_mark(&row.finding);
    row.tested.as_ref().map_or(mark.to_owned(), |tested| format!("{} {mark}", ratio_words(tested)))
}

/// What the reader must know besides: rounds that were lost, or should not be believed; what was not compared, and why.
pub(crate) fn notes(tell_tale: &TellTale, group: &Group) -> Vec<String> {
    let mut notes = Vec::new();
    for index in &group.cells {
        let name = label(tell_tale, group, *index);
        let Ok(figures) = &tell_tale.cells[*index].figures else { continue };
        notes.extend(figures.lost.iter().map(|why| format!("{name}: left out: {why}")));
        for round in &figures.rounds {
            if let Some(why) = &round.invalid {
                notes.push(format!("{name}: round {}: {why}; it stays in", round.number));
            }
        }
        let coarsest = figures.rounds.iter().map(|round| round.resolution).max().filter(|time| time.0 > 0);
        if let Some(time) = coarsest.filter(|_| matches!(figures.pauses, Pauses::Seen(_))) {
            let time = format_nanos(time);
            notes.push(format!(
                "{name}: the tool places its requests to {time}: they count as {time} longer at either end"
            ));
        }
        if let Pauses::Seen(totals) | Pauses::NoPause(totals) = &figures.pauses {
            notes.extend(figures.untold.iter().map(|why| format!("{name}: its log does not tell: {why}")));
            let longest = totals.longest_stall.map(|longest| (totals.stalls, longest));
            if let Some((stalls, longest)) = longest {
                let longest = time(longest.0 as f64);
                notes.push(format!(
                    "{name}: besides pauses {stalls} stalls of single threads, the longest {longest}"
                ));
            }
        }
    }
    // What was not run is told before, with its reason.
    let refused = group.against.iter().filter(|one| tell_tale.cells[one.cell].figures.is_ok());
    let refused = refused.filter_map(|one| Some((one, one.refused.as_ref()?)));
    notes.extend(
        refused.map(|(one, why)| format!("{}: not compared: {why}", label(tell_tale, group, one.cell))),
    );
    notes
}
