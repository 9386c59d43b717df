//! The cells: all combinations, and the reason why one can't be run here.

use super::database::Server;
use super::found::Found;
use super::jvm::Jvm;
use super::only::Only;
use analysis::tell_tale::Cell;
use anyhow::bail;
use record::LoadModel;

/// A cell of this experiment.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Planned {
    pub(super) cell: Cell,
    pub(super) row: Row,
    /// How it is run, or why it can't be.
    pub(super) how: Result<Harness, String>,
}

/// What asks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Harness {
    Truetail,
    Ycsb(Jvm),
    BenchBase(Jvm),
}

/// Workload and target: what is the same for all harnesses of a row.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Row {
    pub(super) workload: Workload,
    pub(super) target: Target,
    pub(super) is_open: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Workload {
    NoOp,
    Ycsb,
    TpcC,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Target {
    PostgreSql,
    MariaDb,
    Nothing,
}

impl Workload {
    const ALL: [Workload; 3] = [Workload::NoOp, Workload::Ycsb, Workload::TpcC];

    pub(super) fn name(self) -> &'static str {
        match self {
            Workload::NoOp => "NoOp",
            Workload::Ycsb => "YCSB",
            Workload::TpcC => "TPC-C",
        }
    }
}

impl Target {
    const ALL: [Target; 3] = [Target::PostgreSql, Target::MariaDb, Target::Nothing];

    /// The server that it is; none for the store that does nothing.
    pub(super) fn server(self) -> Option<Server> {
        match self {
            Target::PostgreSql => Some(Server::PostgreSql),
            Target::MariaDb => Some(Server::MariaDb),
            Target::Nothing => None,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Target::PostgreSql => "PostgreSQL",
            Target::MariaDb => "MariaDB",
            Target::Nothing => "no-op store",
        }
    }
}

/// The cell that is run a second time without its JVM's log: does the log disturb? It has the most to log in.
const WITHOUT_LOG: Row = Row { workload: Workload::Ycsb, target: Target::Nothing, is_open: true };

/// All cells that are wanted, in the order of tables.
///
/// # Errors
/// When there is none.
pub(super) fn cells(found: &Found, only: &Only) -> anyhow::Result<Vec<Planned>> {
    let mut all = Vec::new();
    for workload in Workload::ALL {
        for target in Target::ALL {
            for is_open in [false, true] {
                add_row(&mut all, Row { workload, target, is_open }, found);
            }
        }
    }
    all.retain(|planned| only.fits(&planned.cell));
    if all.is_empty() {
        bail!("--only: no cell is left; `truetail experiment tell-tale --list` names them");
    }
    Ok(all)
}

fn add_row(all: &mut Vec<Planned>, row: Row, found: &Found) {
    let planned = |harness: String, jvm_log, how| {
        let load = if row.is_open { LoadModel::Open } else { LoadModel::Closed };
        let (workload, target) = (row.workload.name().to_owned(), row.target.name().to_owned());
        Planned { cell: Cell { workload, target, harness, load, jvm_log }, row, how }
    };
    all.push(planned("truetail".to_owned(), None, truetail(row, found)));
    for (index, jvm) in found.jvms.iter().enumerate() {
        let harness = format!("YCSB, {}", jvm.name);
        all.push(planned(harness.clone(), Some(true), ycsb(row, jvm, found)));
        if index == 0 && row == WITHOUT_LOG {
            all.push(planned(harness, Some(false), ycsb(row, jvm, found)));
        }
    }
    if let Some(place) = &found.benchbase {
        let how = |jvm| benchbase(row, jvm, found, place);
        all.extend(
            found.jvms.iter().map(|jvm| planned(format!("BenchBase, {}", jvm.name), Some(true), how(jvm))),
        );
    }
}

/// Why TPC-C needs a database.
const NOTHING_TO_DECIDE: &str =
    "TPC-C's transactions go by what they read, and a store that does nothing gives nothing to read";

fn truetail(row: Row, found: &Found) -> Result<Harness, String> {
    match (row.workload, row.target.server()) {
        (_, Some(server)) => found.place(server).clone().map(|_| Harness::Truetail),
        (Workload::TpcC, None) => Err(NOTHING_TO_DECIDE.to_owned()),
        (_, None) => Ok(Harness::Truetail),
    }
}

fn ycsb(row: Row, jvm: &Jvm, found: &Found) -> Result<Harness, String> {
    match (row.workload, row.target) {
        (Workload::TpcC, _) => return Err("YCSB has no TPC-C".to_owned()),
        (_, Target::MariaDb) => return Err("truetail's bindings of YCSB have none for MariaDB".to_owned()),
        _ => {}
    }
    jvm.version.clone()?;
    found.ycsb.clone()?;
    if row.target == Target::PostgreSql {
        found.postgres.clone()?.through_jdbc()?;
    }
    Ok(Harness::Ycsb(jvm.clone()))
}

fn benchbase(
    row: Row,
    jvm: &Jvm,
    found: &Found,
    place: &Result<std::path::PathBuf, String>,
) -> Result<Harness, String> {
    let Some(server) = row.target.server() else {
        return Err("BenchBase has no store that does nothing".to_owned());
    };
    match row {
        Row { workload: Workload::NoOp, target: Target::MariaDb, .. } => {
            return Err("BenchBase's NoOp is an empty statement, which MariaDB refuses".to_owned());
        }
        Row { is_open: true, .. } => {
            return Err(
                "BenchBase writes no intended start, so that an open loop has no response time".to_owned()
            );
        }
        _ => {}
    }
    jvm.version.clone()?;
    place.clone()?;
    found.place(server).clone()?.through_jdbc()?;
    Ok(Harness::BenchBase(jvm.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tell_tale::found::{Place, made};

    fn listed(found: &Found, only: &[&str]) -> String {
        let only = only.iter().map(|flag| (*flag).to_owned()).collect::<Vec<_>>();
        let cells = cells(found, &Only::parse(&only).expect("conditions")).expect("cells");
        let line = |planned: &Planned| {
            let Cell { workload, target, harness, load, jvm_log } = &planned.cell;
            let log = if *jvm_log == Some(false) { " without its log" } else { "" };
            let how = planned.how.as_ref().err().map_or("runs", |why| why);
            format!("{workload} / {target} / {} / {harness}{log}: {how}", load.name())
        };
        cells.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn the_whole_matrix_has_each_combination_once() {
        let cells = cells(&made(), &Only::parse(&[]).expect("all")).expect("cells");
        // 3 workloads, 3 targets, 2 loads, truetail and two JVMs; and one without a log.
        assert_eq!(cells.len(), 3 * 3 * 2 * 3 + 1);
        for (at, one) in cells.iter().enumerate() {
            assert!(!cells[..at].iter().any(|other| other.cell == one.cell), "{:?} is there twice", one.cell);
        }
        // truetail asks both servers for everything, and nothing for all but TPC-C; YCSB asks one server.
        assert_eq!(cells.iter().filter(|one| one.how.is_ok()).count(), (2 * 3 + 2) * 2 + 2 * 2 * 2 * 2 + 1);
    }

    #[test]
    fn what_can_not_be_run_has_its_reason() {
        let mut found = made();
        found.benchbase = Some(Ok("/bb/benchbase.jar".into()));
        insta::assert_snapshot!(listed(&found, &["load=closed,harness=truetail|g1"]), @r#"
        NoOp / PostgreSQL / closed loop / truetail: runs
        NoOp / PostgreSQL / closed loop / YCSB, G1: runs
        NoOp / PostgreSQL / closed loop / BenchBase, G1: runs
        NoOp / MariaDB / closed loop / truetail: runs
        NoOp / MariaDB / closed loop / YCSB, G1: truetail's bindings of YCSB have none for MariaDB
        NoOp / MariaDB / closed loop / BenchBase, G1: BenchBase's NoOp is an empty statement, which MariaDB refuses
        NoOp / no-op store / closed loop / truetail: runs
        NoOp / no-op store / closed loop / YCSB, G1: runs
        NoOp / no-op store / closed loop / BenchBase, G1: BenchBase has no store that does nothing
        YCSB / PostgreSQL / closed loop / truetail: runs
        YCSB / PostgreSQL / closed loop / YCSB, G1: runs
        YCSB / PostgreSQL / closed loop / BenchBase, G1: runs
        YCSB / MariaDB / closed loop / truetail: runs
        YCSB / MariaDB / closed loop / YCSB, G1: truetail's bindings of YCSB have none for MariaDB
        YCSB / MariaDB / closed loop / BenchBase, G1: runs
        YCSB / no-op store / closed loop / truetail: runs
        YCSB / no-op store / closed loop / YCSB, G1: runs
        YCSB / no-op store / closed loop / BenchBase, G1: BenchBase has no store that does nothing
        TPC-C / PostgreSQL / closed loop / truetail: runs
        TPC-C / PostgreSQL / closed loop / YCSB, G1: YCSB has no TPC-C
        TPC-C / PostgreSQL / closed loop / BenchBase, G1: runs
        TPC-C / MariaDB / closed loop / truetail: runs
        TPC-C / MariaDB / closed loop / YCSB, G1: YCSB has no TPC-C
        TPC-C / MariaDB / closed loop / BenchBase, G1: runs
        TPC-C / no-op store / closed loop / truetail: TPC-C's transactions go by what they read, and a store that does nothing gives nothing to read
        TPC-C / no-op store / closed loop / YCSB, G1: YCSB has no TPC-C
        TPC-C / no-op store / closed loop / BenchBase, G1: BenchBase has no store that does nothing
        "#);
        found.postgres = Err("no PostgreSQL".to_owned());
        found.mariadb = Err("no MariaDB".to_owned());
        found.ycsb = Err("not built".to_owned());
        found.jvms[0].version = Err("no collector".to_owned());
        found.benchbase = None;
        insta::assert_snapshot!(listed(&found, &["workload=ycsb,load=open"]), @r#"
        YCSB / PostgreSQL / open loop / truetail: no PostgreSQL
        YCSB / PostgreSQL / open loop / YCSB, G1: no collector
        YCSB / PostgreSQL / open loop / YCSB, Epsilon: not built
        YCSB / MariaDB / open loop / truetail: no MariaDB
        YCSB / MariaDB / open loop / YCSB, G1: truetail's bindings of YCSB have none for MariaDB
        YCSB / MariaDB / open loop / YCSB, Epsilon: truetail's bindings of YCSB have none for MariaDB
        YCSB / no-op store / open loop / truetail: runs
        YCSB / no-op store / open loop / YCSB, G1: no collector
        YCSB / no-op store / open loop / YCSB, G1 without its log: no collector
        YCSB / no-op store / open loop / YCSB, Epsilon: not built
        "#);
    }

    #[test]
    fn a_server_on_a_unix_socket_is_out_of_reach_for_jdbc() {
        let mut found = made();
        found.postgres = Ok(Place::Given(driver::TargetUrl::parse("postgres://a@%2Ftmp/x").expect("a URL")));
        let cells = cells(&found, &Only::parse(&["target=postgres,workload=noop".to_owned()]).expect("one"));
        let reasons: Vec<_> = cells.expect("cells").into_iter().map(|one| one.how.err()).collect();
        assert_eq!(reasons[0], None);
        assert!(reasons[1].as_ref().is_some_and(|why| why.contains("unix socket")), "{reasons:?}");
    }

    #[test]
    fn a_choice_that_leaves_nothing_is_an_error() {
        let only = Only::parse(&["harness=nobody".to_owned()]).expect("conditions");
        assert!(cells(&made(), &only).expect_err("nothing").to_string().contains("no cell is left"));
    }
}
