//! What is told beforehand: which cells are run, which can't be, and how long it takes.

use super::database::Server;
use super::lines::{expected_loading, shown_seconds};
use super::matrix::{Planned, Row, Target, Workload};
use super::rates;
use super::round::Bench;
use analysis::tell_tale::Cell;
use units::format_counted;

/// A cell for people: `YCSB on PostgreSQL, open loop: YCSB, G1`.
pub(super) fn name(cell: &Cell) -> String {
    let log = if cell.jvm_log == Some(false) { " without its log" } else { "" };
    format!("{} on {}, {}: {}{log}", cell.workload, cell.target, cell.load.name(), cell.harness)
}

/// One line: how much there is to do.
pub(super) fn summary(planned: &[Planned], bench: &Bench<'_>) -> String {
    let can: Vec<&Planned> = planned.iter().filter(|one| one.how.is_ok()).collect();
    let size = bench.size;
    let round: f64 = can.iter().map(|one| bench.expected_seconds(one, &[])).sum();
    format!(
        "preset {}: {}, {} of each, about {}; {} can't be run here",
        size.preset,
        format_counted(can.len() as u64, "cell", "cells"),
        format_counted(u64::from(size.rounds), "round", "rounds"),
        shown_seconds(round * f64::from(size.rounds) + once(&can, bench)),
        format_counted((planned.len() - can.len()) as u64, "cell", "cells"),
    )
}

/// What is done once: a server, its data, the probes; seconds.
fn once(can: &[&Planned], bench: &Bench<'_>) -> f64 {
    let server = |server: Server| {
        let asks = |workload: Option<Workload>| {
            can.iter().any(|one| {
                one.row.target.server() == Some(server) && workload.is_none_or(|it| it == one.row.workload)
            })
        };
        let loaded = [Workload::Ycsb, Workload::TpcC].into_iter().filter(|workload| asks(Some(*workload)));
        // MariaDB's data is loaded for each run.
        let loading =
            loaded.filter(|_| server == Server::PostgreSql).map(|it| expected_loading(it, bench.size));
        if asks(None) { 5.0 + loading.sum::<f64>() } else { 0.0 }
    };
    let server: f64 = Server::ALL.map(server).iter().sum();
    let mut rows: Vec<Row> = can.iter().map(|one| one.row).filter(|row| row.is_open).collect();
    rows.dedup();
    server + if bench.size.rate.is_none() { rates::expected_seconds(rows.len()) } else { 0.0 }
}

/// All of it.
pub(super) fn text(planned: &[Planned], bench: &Bench<'_>) -> String {
    let mut text = format!("{}\n\ncells:\n", summary(planned, bench));
    let mut row = None;
    for one in planned.iter().filter(|one| one.how.is_ok()) {
        let cell = &one.cell;
        let log = if cell.jvm_log == Some(false) { " (without its log)" } else { "" };
        if row == Some(one.row) {
            text += &format!("; {}{log}", cell.harness);
        } else {
            let begin = if row.is_some() { "\n" } else { "" };
            let place = format!("{} on {}, {}", cell.workload, cell.target, cell.load.name());
            text += &format!("{begin}  {place:<36}{}{log}", cell.harness);
            row = Some(one.row);
        }
    }
    text + "\n" + &reasons(planned) + &harnesses(bench)
}

/// Each reason once, with the cells that it is of.
fn reasons(planned: &[Planned]) -> String {
    let mut reasons: Vec<(&str, Vec<&Cell>)> = Vec::new();
    for one in planned {
        let Err(why) = &one.how else { continue };
        match reasons.iter_mut().find(|(reason, _)| reason == why) {
            Some((_, cells)) => cells.push(&one.cell),
            None => reasons.push((why, vec![&one.cell])),
        }
    }
    if reasons.is_empty() {
        return String::new();
    }
    let mut text = String::from("can't be run here:\n");
    for (why, cells) in reasons {
        let of = |part: fn(&Cell) -> &str| {
            let mut names: Vec<&str> = Vec::new();
            cells.iter().map(|cell| part(cell)).for_each(|name| {
                if !names.contains(&name) {
                    names.push(name);
                }
            });
            names.join(", ")
        };
        let whose = of(|cell| if cell.jvm_log.is_none() { "truetail" } else { cell.tool() });
        let (workloads, targets) = (of(|cell| &cell.workload), of(|cell| &cell.target));
        text += &format!("  {workloads} on {targets}, {whose} ({} cells): {why}\n", cells.len());
    }
    text
}

/// Where a closed loop goes as fast as the harness does.
const UNHINDERED: Row = Row { workload: Workload::NoOp, target: Target::Nothing, is_open: false };

/// The JVMs and what they get, and where the rates come from.
fn harnesses(bench: &Bench<'_>) -> String {
    let (size, found) = (bench.size, bench.found);
    let mut text = format!("JVMs, {} MiB of memory being free:\n", found.available_mib);
    for jvm in &found.jvms {
        let words = jvm.words(size, found.available_mib, None).join(" ");
        let version = jvm.version.as_ref().map_or("can't be started", |version| version);
        text += &format!("  {:<12}{words}\n              {version}\n", jvm.name);
        let alone = jvm.heap_mib(&size.of_row(UNHINDERED), found.available_mib);
        if let Some(heap) = alone.filter(|_| alone != jvm.heap_mib(size, found.available_mib)) {
            text += &format!("              in closed loops on the no-op store -Xmx{heap}m\n");
        }
    }
    let rate = match size.rate {
        Some(rate) => format!("{rate}/s"),
        None => {
            format!(
                "half of the slowest closed loop of a short probe, at most {}/s, on the no-op store {}/s",
                size.highest_rate, size.highest_rate_alone
            )
        }
    };
    text + &format!("rate of open loops, the same for all harnesses of a workload and target: {rate}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tell_tale::arguments::TellTaleArguments;
    use crate::tell_tale::only::Only;
    use crate::tell_tale::preset::Size;
    use crate::tell_tale::{found, matrix};
    use std::path::Path;

    #[test]
    fn all_is_told_beforehand() {
        let mut found = found::made();
        found.jvms[1].version =
            Err("`java -XX:+UseEpsilonGC -version` fails: Unrecognized VM option".to_owned());
        let planned = matrix::cells(&found, &Only::parse(&[]).expect("all")).expect("cells");
        let size = Size::of(&TellTaleArguments::default()).expect("a size");
        let bench = Bench { size: &size, found: &found, databases: &[], directory: Path::new("") };
        insta::assert_snapshot!(text(&planned, &bench), @r#"
        preset quick: 25 cells, 3 rounds of each, about 13 min; 30 cells can't be run here

        cells:
          NoOp on PostgreSQL, closed loop     truetail; YCSB, G1
          NoOp on PostgreSQL, open loop       truetail; YCSB, G1
          NoOp on MariaDB, closed loop        truetail
          NoOp on MariaDB, open loop          truetail
          NoOp on no-op store, closed loop    truetail; YCSB, G1
          NoOp on no-op store, open loop      truetail; YCSB, G1
          YCSB on PostgreSQL, closed loop     truetail; YCSB, G1
          YCSB on PostgreSQL, open loop       truetail; YCSB, G1
          YCSB on MariaDB, closed loop        truetail
          YCSB on MariaDB, open loop          truetail
          YCSB on no-op store, closed loop    truetail; YCSB, G1
          YCSB on no-op store, open loop      truetail; YCSB, G1; YCSB, G1 (without its log)
          TPC-C on PostgreSQL, closed loop    truetail
          TPC-C on PostgreSQL, open loop      truetail
          TPC-C on MariaDB, closed loop       truetail
          TPC-C on MariaDB, open loop         truetail
        can't be run here:
          NoOp, YCSB on PostgreSQL, no-op store, YCSB (8 cells): `java -XX:+UseEpsilonGC -version` fails: Unrecognized VM option
          NoOp, YCSB on MariaDB, YCSB (8 cells): truetail's bindings of YCSB have none for MariaDB
          TPC-C on PostgreSQL, MariaDB, no-op store, YCSB (12 cells): YCSB has no TPC-C
          TPC-C on no-op store, truetail (2 cells): TPC-C's transactions go by what they read, and a store that does nothing gives nothing to read
        JVMs, 16000 MiB of memory being free:
          G1          /jdk/bin/java -XX:+UseG1GC -Xmx256m -XX:+ExitOnOutOfMemoryError
                      17
          Epsilon     /jdk/bin/java -XX:+UnlockExperimentalVMOptions -XX:+UseEpsilonGC -Xmx4096m -Xms4096m -XX:+AlwaysPreTouch -XX:+ExitOnOutOfMemoryError
                      can't be started
                      in closed loops on the no-op store -Xmx12000m
        rate of open loops, the same for all harnesses of a workload and target: half of the slowest closed loop of a short probe, at most 20000/s, on the no-op store 50000/s
        "#);
    }
}
