//! An experiment that never was: three groups, collectors whose pauses are known, what can't be run.

#[path = "../../../analysis/tests/made/cells.rs"]
mod cells;

use analysis::Options;
use analysis::tell_tale::{Cell, LookOptions, Rounds, TellTale, look};
use cells::{MS, Planted, cell, planted};
use record::LoadModel::{Closed, Open};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Made once, and looked at once: the same for all tests.
pub fn experiment() -> &'static TellTale {
    static MADE: OnceLock<TellTale> = OnceLock::new();
    MADE.get_or_init(|| looked("experiment", all))
}

/// One cell of one round, and one that can't be run.
pub fn small() -> &'static TellTale {
    static MADE: OnceLock<TellTale> = OnceLock::new();
    MADE.get_or_init(|| looked("small", few))
}

/// Rounds of which something is not known, or that are not to be believed.
pub fn doubtful() -> &'static TellTale {
    static MADE: OnceLock<TellTale> = OnceLock::new();
    MADE.get_or_init(|| looked("doubtful", doubted))
}

fn doubted(directory: &Path) -> Vec<(Cell, Rounds)> {
    let make = |harness: &str, plan: Planted| planted(directory, cell(harness, Open, Some(true)), &plan);
    let pausing = Planted::pausing(2, 4, 20 * MS);
    vec![
        make("YCSB, Epsilon", Planted::new(1)),
        make("YCSB, G1", Planted { broken_rounds: 1, ..pausing.clone() }),
        make("YCSB, Serial", Planted { failed_rounds: 1, ..pausing.clone() }),
        make("YCSB, Parallel", Planted { falls_behind: true, ..pausing }),
        make("YCSB, ZGC", Planted { broken_rounds: 2, ..Planted::new(3) }),
    ]
}

fn few(directory: &Path) -> Vec<(Cell, Rounds)> {
    let one = Planted { rounds: 1, ..Planted::pausing(1, 2, 20 * MS) };
    vec![
        planted(directory, cell("YCSB, G1", Open, Some(true)), &one),
        (
            cell("BenchBase, <ZGC>", Open, Some(true)),
            Rounds::CanNot("no <b>JDK</b> 23 & no Maven".to_owned()),
        ),
    ]
}

fn looked(name: &str, make: impl Fn(&Path) -> Vec<(Cell, Rounds)>) -> TellTale {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("tell-tale-{name}-recordings"));
    let _ = std::fs::remove_dir_all(&directory);
    let made = make(&directory);
    let options =
        LookOptions { analysis: Options { threads: 1, ..Options::default() }, ..LookOptions::default() };
    let mut found = look(&made, &options).expect("there are cells");
    // Names that are the same wherever the test runs.
    for figures in found.cells.iter_mut().filter_map(|cell| cell.figures.as_mut().ok()) {
        for (number, round) in figures.rounds.iter_mut().enumerate() {
            round.name = format!("recordings/{}", number + 1);
        }
    }
    let _ = std::fs::remove_dir_all(&directory);
    found
}

fn all(directory: &Path) -> Vec<(Cell, Rounds)> {
    let make = |cell: Cell, plan: Planted| planted(directory, cell, &plan);
    let open = |harness: &str, log: Option<bool>| cell(harness, Open, log);
    let closed = |harness: &str, log: Option<bool>| Cell { load: Closed, ..cell(harness, Closed, log) };
    let postgres = |harness: &str, log: Option<bool>| Cell {
        target: "PostgreSQL".to_owned(),
        ..cell(harness, Open, log)
    };
    let nowhere =
        |harness: &str, log: Option<bool>| Cell { workload: "TPC-C".to_owned(), ..cell(harness, Open, log) };
    let coarse = |planted: Planted| Planted { resolution: MS, ..planted };
    vec![
        make(open("YCSB, Epsilon", Some(true)), coarse(Planted::new(1))),
        make(open("YCSB, G1", Some(true)), coarse(Planted::pausing(2, 6, 22 * MS))),
        make(open("YCSB, Parallel", Some(true)), coarse(Planted::pausing(3, 3, 48 * MS))),
        make(
            open("YCSB, ZGC", Some(true)),
            coarse(Planted { stalls: 12, ..Planted::pausing(4, 30, MS / 8) }),
        ),
        make(open("YCSB, G1", Some(false)), coarse(Planted::pausing(5, 6, 22 * MS))),
        (
            open("YCSB, Shenandoah", Some(true)),
            Rounds::CanNot("this JVM has no Shenandoah: take a JDK that does".to_owned()),
        ),
        (
            open("BenchBase, Shenandoah", Some(true)),
            Rounds::CanNot("BenchBase has no store that does nothing".to_owned()),
        ),
        make(open("truetail", None), Planted { slower: 0.6, ..Planted::new(6) }),
        make(closed("YCSB, Epsilon", Some(true)), coarse(Planted::new(7))),
        make(closed("YCSB, G1", Some(true)), coarse(Planted::pausing(8, 2, 20 * MS))),
        make(
            closed("YCSB, Serial", Some(true)),
            coarse(Planted { broken_log: true, ..Planted::pausing(9, 2, 40 * MS) }),
        ),
        make(closed("truetail", None), Planted::new(10)),
        make(
            postgres("YCSB, Epsilon", Some(true)),
            coarse(Planted { slower: 4.0, between_rounds: 0.25, ..Planted::new(11) }),
        ),
        make(
            postgres("YCSB, G1", Some(true)),
            coarse(Planted {
                slower: 4.0,
                between_rounds: 0.25,
                harmless: true,
                ..Planted::pausing(12, 20, MS)
            }),
        ),
        make(
            postgres("truetail", None),
            Planted { slower: 4.0, between_rounds: 0.25, rounds: 5, ..Planted::new(13) },
        ),
        (nowhere("truetail", None), Rounds::CanNot("this truetail has no TPC-C".to_owned())),
        (nowhere("YCSB, G1", Some(true)), Rounds::CanNot("this truetail has no TPC-C".to_owned())),
    ]
}
