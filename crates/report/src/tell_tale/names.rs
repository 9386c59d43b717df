//! How cells and groups are called, and which of them were run.

use super::words::listed;
use analysis::tell_tale::{Cell, Group, TellTale};

/// Whom a cell measured with what, so that the words can be quoted alone.
pub(crate) fn cell_name(cell: &Cell) -> String {
    let workload = if cell.workload == cell.tool() { String::new() } else { format!(", {}", cell.workload) };
    format!("{}{workload} on {}, {}", harness_name(cell), cell.target, cell.load.name())
}

pub(super) fn harness_name(cell: &Cell) -> String {
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
