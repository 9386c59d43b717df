//! The page of the tell-tale experiment: sentences, figures, tables.
//!
//! Without scripts: the figures are SVG within the page, whose colours follow the page's light or dark.

use super::drawn::{inline, still_page};
use super::markup::{Column, Table, text};
use super::section;
use crate::svg::tell_tale_figures;
use crate::tell_tale::{
    METHOD, claim_sentences, correlation_words, few, finding_words, group_name, label, log_sentence,
    measure_name, no_pauses, not_run, p_words, ran, ratio_words, rounds_words, sentence, spread_words,
    time_spread,
};
use crate::text::capital;
use crate::text::tell_tale::{notes, rate, times_chance};
use analysis::tell_tale::{
    CellFigures, Finding, Group, Half, Pauses, RoundFigures, Slowest, TellTale, TestedRow, Whose,
};
use units::{Quantile, format_count, format_nanos};

const OWN_STYLE: &str = include_str!("../../assets/tell_tale.css");

/// The whole page.
pub fn tell_tale_page(tell_tale: &TellTale) -> String {
    let figures = tell_tale_figures(tell_tale);
    let figure = |name: &str| {
        let found = figures.iter().find(|(n, _)| n == name);
        found.map_or(String::new(), |(n, svg)| format!("<div class=\"wide\">{}</div>\n", inline(n, svg)))
    };
    let mut body = heading(tell_tale);
    body += &section("throughput-section", "Throughput", &figure("throughput"));
    let with_figures = |(_, group): &(usize, &Group)| ran(tell_tale, group).next().is_some();
    for (index, group) in tell_tale.groups.iter().enumerate().filter(with_figures) {
        let mut content = times(tell_tale, group) + &figure(&format!("boxes-{index}"));
        content += &folded("Transaction types", &figure(&format!("operations-{index}")));
        content += &overlaps(tell_tale, group);
        content += &side_by_side(tell_tale, group);
        content += &figure(&format!("series-{index}"));
        let rounds: String = group.cells.iter().map(|cell| figure(&format!("rounds-{cell}"))).collect();
        content += &folded("All rounds of each cell", &rounds);
        content += &against(tell_tale, group);
        let notes: String =
            notes(tell_tale, group).iter().map(|note| format!("<li>{}</li>\n", text(note))).collect();
        content +=
            &if notes.is_empty() { String::new() } else { format!("<ul class=\"note\">\n{notes}</ul>\n") };
        body += &section(&format!("group-{index}"), &text(&group_name(group)), &content);
    }
    body += &log_effects(tell_tale);
    body += &section("method", "How it was tested", &format!("<p class=\"note\">{}</p>\n", text(METHOD)));
    still_page("tell-tale", OWN_STYLE, &body)
}

fn folded(title: &str, content: &str) -> String {
    if content.is_empty() {
        return String::new();
    }
    format!("<details><summary>{title}</summary>\n{content}</details>\n")
}

/// The sentences, which are what most readers want.
fn heading(tell_tale: &TellTale) -> String {
    let count = tell_tale.cells.iter().filter(|cell| cell.figures.is_ok()).count();
    let mut markup = format!(
        "<header>\n<h1>Whose tail does a harness report?</h1>\n<p class=\"load\">{count} of {} cells were run. {}.</p>\n</header>\n",
        tell_tale.cells.len(),
        text(&capital(&rounds_words(tell_tale)))
    );
    let item = |state: &str, word: &str, said: &str| {
        format!("<li><span class=\"badge small {state}\">{word}</span><span>{}</span></li>\n", text(said))
    };
    let missing = |group: &Group| -> String {
        not_run(tell_tale, group).iter().map(|said| item("note", "not run", said)).collect()
    };
    let (with, without): (Vec<&Group>, Vec<&Group>) =
        tell_tale.groups.iter().partition(|group| ran(tell_tale, group).next().is_some());
    for group in with {
        let said = claim_sentences(tell_tale, group);
        let claim: String =
            said.iter().map(|said| format!("<p class=\"says\">{}</p>\n", text(said))).collect();
        let cell = |cell: usize| {
            let (state, word) = badge(tell_tale, cell);
            item(state, word, &sentence(tell_tale, cell))
        };
        let items: String = ran(tell_tale, group).map(cell).chain([missing(group)]).collect();
        let state = claim_state(group);
        markup +=
            &format!("<section class=\"verdict told {state}\">\n{claim}<ul>\n{items}</ul>\n</section>\n");
    }
    if !without.is_empty() {
        let items: String = without.into_iter().map(missing).collect();
        let says = "<p class=\"says\">Not run at all</p>\n";
        markup += &format!("<section class=\"verdict told unsure\">\n{says}<ul>\n{items}</ul>\n</section>\n");
    }
    markup
}

/// What the badge of a cell is: whose its tail is.
fn badge(tell_tale: &TellTale, cell: usize) -> (&'static str, &'static str) {
    let Ok(figures) = &tell_tale.cells[cell].figures else { return ("note", "not run") };
    match figures.whose {
        Whose::Harness => ("invalid", "harness"),
        Whose::Maximum => ("suspect", "maximum"),
        Whose::Partly => ("suspect", "partly"),
        Whose::NotShown => ("note", "not shown"),
        Whose::NoPause => ("valid", "no pause"),
        Whose::NoJvm => ("valid", "no JVM"),
        Whose::NoLog => ("note", "no log"),
        Whose::Trouble | Whose::CannotTell(_) => ("note", "can’t tell"),
    }
}

fn claim_state(group: &Group) -> &'static str {
    match (&group.claim.quantiles, &group.claim.maxima) {
        (_, Half::Holds) | (Half::Fails, _) => "suspect",
        (Half::Holds, Half::Fails) => "valid",
        _ => "unsure",
    }
}

fn quantile(figures: &CellFigures, q: f64) -> String {
    let spread = Quantile::new(q).and_then(|q| figures.quantile(q));
    small(&spread.map_or("too few requests".to_owned(), |spread| time_spread(spread, figures.finest())))
}

/// What stands in brackets is set small.
fn small(words: &str) -> String {
    match words.split_once(" [") {
        Some((point, rest)) => format!("{} <small>[{}</small>", text(point), text(rest)),
        None => text(words),
    }
}

fn times(tell_tale: &TellTale, group: &Group) -> String {
    use Column::{Number, Words};
    let head = [
        (Words, ""),
        (Number, "requests/s"),
        (Number, "p50"),
        (Number, "p99"),
        (Number, "p99.9"),
        (Number, "max"),
        (Number, "pauses"),
        (Number, "longest"),
        (Number, "to safepoint"),
    ];
    let rounds = || {
        let figures = group.cells.iter().filter_map(|cell| tell_tale.cells[*cell].figures.as_ref().ok());
        figures.map(|figures| figures.rounds.len())
    };
    let (fewest, most) = (rounds().min().unwrap_or(0), rounds().max().unwrap_or(0));
    let rounds = if fewest == most { most.to_string() } else { format!("{fewest} to {most}") };
    let measure = measure_name(tell_tale, group);
    let caption = format!("{measure}: the median of {rounds} rounds, and the least and the most");
    let mut table = Table::new(&caption, &head);
    for index in &group.cells {
        let name = text(&label(tell_tale, group, *index));
        match &tell_tale.cells[*index].figures {
            Err(_) => table.row(&[name, "not run".to_owned()]),
            Ok(figures) => {
                let mut cells = vec![
                    name,
                    small(&spread_words(&figures.throughput, rate)),
                    quantile(figures, 0.5),
                    quantile(figures, 0.99),
                    quantile(figures, 0.999),
                    small(&time_spread(&figures.max, figures.finest())),
                ];
                let none = no_pauses(&figures.pauses);
                match (&figures.pauses, none) {
                    (Pauses::Seen(totals), _) => {
                        let told =
                            |time: Option<units::Nanos>| time.map_or("not told".to_owned(), format_nanos);
                        cells.extend([
                            format_count(totals.pauses),
                            told(totals.longest),
                            told(totals.longest_to_safepoint),
                        ]);
                    }
                    (_, Some(why)) => cells.push(why.to_owned()),
                    _ => {}
                }
                table.row(&cells);
            }
        }
    }
    table.finish()
}

fn overlaps(tell_tale: &TellTale, group: &Group) -> String {
    use Column::{Number, Words};
    let head = [
        (Words, ""),
        (Words, "requests"),
        (Number, "overlap a pause"),
        (Number, "by chance"),
        (Number, "times chance"),
        (Number, "p, all rounds"),
        (Number, "p, corrected"),
        (Number, "each round"),
    ];
    let mut table =
        Table::new("Of the slowest requests, how many overlap a pause of the harness’s JVM", &head);
    for index in &group.cells {
        let name = text(&label(tell_tale, group, *index));
        let figures = match &tell_tale.cells[*index].figures {
            Err(_) => {
                table.row(&[name, "not run".to_owned()]);
                continue;
            }
            Ok(figures) => figures,
        };
        if let Some(why) = no_pauses(&figures.pauses) {
            table.row(&[name, why.to_owned()]);
            continue;
        }
        for which in Slowest::ALL {
            let Some(row) = figures.slowest(which) else { continue };
            let all = &row.all;
            let interval = all.ratio.interval.map_or(String::new(), |(low, high)| {
                let high = if high.is_finite() { few(high) } else { "∞".to_owned() };
                format!(" <small>[{}, {high}]</small>", few(low))
            });
            table.row(&[
                name.clone(),
                which.name().to_owned(),
                format!("{} of {}", format_count(all.met), format_count(all.of)),
                few(all.by_chance),
                times_chance(all.ratio.point) + &interval,
                text(&p_words(all.p_value)),
                text(&p_words(row.p_corrected)),
                figures.rounds.iter().map(|round| met_words(round, which)).collect::<Vec<_>>().join(", "),
            ]);
        }
    }
    table.finish()
}

/// `98 of 100 (p 0.001)` of one round.
fn met_words(round: &RoundFigures, which: Slowest) -> String {
    let met = round.slowest.iter().find(|(other, _)| *other == which).and_then(|(_, met)| met.as_ref());
    met.map_or("–".to_owned(), |met| {
        format!("{} <small>p {}</small>", met.met, text(&p_words(met.p_value)))
    })
}

/// The longest request beside the longest pause, round by round.
fn side_by_side(tell_tale: &TellTale, group: &Group) -> String {
    let figures = |cell: &usize| tell_tale.cells[*cell].figures.as_ref().ok();
    let seen = |cell: &&usize| figures(cell).is_some_and(|figures| matches!(figures.pauses, Pauses::Seen(_)));
    let cells: Vec<&usize> = group.cells.iter().filter(seen).collect();
    let all_rounds = cells.iter().filter_map(|cell| figures(cell)).flat_map(|figures| &figures.rounds);
    let rounds = all_rounds.map(|round| round.number).max().unwrap_or(0);
    if cells.is_empty() {
        return String::new();
    }
    let titles: Vec<String> = (1..=rounds).map(|round| format!("round {round}")).collect();
    let mut head = vec![(Column::Words, "")];
    head.extend(titles.iter().map(|title| (Column::Number, title.as_str())));
    let mut table = Table::new("The longest request / the longest pause of its round", &head);
    for cell in cells {
        let mut row = vec![text(&label(tell_tale, group, *cell))];
        let of_number = |number: usize| {
            let found = figures(cell)?.rounds.iter().find(|round| round.number == number)?;
            let pause = match &found.pauses {
                None => "no log".to_owned(),
                Some(pauses) => pauses.longest().map_or("no pause".to_owned(), format_nanos),
            };
            Some(format!("{} / {pause}", format_nanos(found.max)))
        };
        row.extend((1..=rounds).map(|number| of_number(number).unwrap_or_else(|| "–".to_owned())));
        table.row(&row);
    }
    table.finish()
        + &format!("<p class=\"note\">{}.</p>\n", text(&correlation_words(group.correlation.as_ref())))
}

fn against(tell_tale: &TellTale, group: &Group) -> String {
    if group.against.is_empty() {
        return String::new();
    }
    use Column::{Number, Words};
    let head = [
        (Words, ""),
        (Words, "against"),
        (Number, "p50"),
        (Number, "p99"),
        (Number, "p99.9"),
        (Number, "max"),
    ];
    let caption = format!(
        "Ratios to {} with their 90 % intervals; equivalent within ±{:.0} %",
        analysis::tell_tale::BASE,
        100.0 * tell_tale.margin
    );
    let mut table = Table::new(&caption, &head);
    for one in &group.against {
        let mut cells =
            vec![text(&label(tell_tale, group, one.cell)), text(&label(tell_tale, group, one.base))];
        cells.extend(one.refused.iter().map(|_| "not compared".to_owned()));
        cells.extend(one.rows.iter().map(tested));
        table.row(&cells);
    }
    table.finish()
}

/// A ratio, and what follows from it.
fn tested(row: &TestedRow) -> String {
    let class = match row.finding {
        Finding::Equivalent => "right",
        Finding::Higher | Finding::Lower => "wrong",
        Finding::CannotTell(_) => "silent",
    };
    let ratio = row.tested.as_ref().map_or("–".to_owned(), |tested| small(&ratio_words(tested)));
    format!("{ratio}<br><span class=\"{class}\">{}</span>", text(finding_words(&row.finding)))
}

fn log_effects(tell_tale: &TellTale) -> String {
    if tell_tale.log_effects.is_empty() {
        return String::new();
    }
    use Column::{Number, Words};
    let head = [
        (Words, ""),
        (Number, "throughput"),
        (Number, "p50"),
        (Number, "p99"),
        (Number, "p99.9"),
        (Number, "max"),
    ];
    let mut table = Table::new("With the JVM’s log / without it", &head);
    let mut said = String::new();
    for effect in &tell_tale.log_effects {
        said += &format!("<li>{}</li>\n", text(&log_sentence(tell_tale, effect)));
        let mut cells = vec![text(&crate::tell_tale::cell_name(&tell_tale.cells[effect.with].cell))];
        cells.extend(effect.refused.iter().map(|_| "not compared".to_owned()));
        cells.extend(effect.rows.iter().map(tested));
        table.row(&cells);
    }
    section("log", "Does the log disturb?", &format!("<ul>\n{said}</ul>\n{}", table.finish()))
}
