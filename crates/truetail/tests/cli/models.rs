//! Every load model says what it is, on the page and in the recording.

use crate::program::{Scratch, assert_contiguous};
use record::{LoadModel, PhaseKind};

struct Case {
    name: &'static str,
    flags: &'static [&'static str],
    first_line: &'static str,
    model: LoadModel,
}

const CASES: &[Case] = &[
    Case {
        name: "open",
        flags: &["-r", "500/s", "--arrivals", "lognormal:1.5"],
        first_line: "open loop: lognormal",
        model: LoadModel::Open,
    },
    Case {
        name: "closed",
        flags: &["--closed", "-c", "2", "--think", "exp:5ms"],
        first_line: "closed loop: think exp",
        model: LoadModel::Closed,
    },
    Case {
        name: "throttled",
        flags: &["--closed", "-c", "2", "--rate", "200/s"],
        first_line: "throttled closed loop: ",
        model: LoadModel::ThrottledClosed,
    },
    Case {
        name: "partly",
        flags: &["-r", "50/s", "--visit", "3", "--think", "constant:5ms"],
        first_line: "partly open loop: users poisson, 3 requests each",
        model: LoadModel::PartlyOpen,
    },
];

#[test]
fn each_model_is_named() {
    let scratch = Scratch::new("models");
    for case in CASES {
        let common = ["run", "null:", "-d", "1s", "--warmup", "200ms", "-o", case.name];
        let ended = scratch.truetail(&[&common[..], case.flags].concat()).judged();
        let header = scratch.recording(case.name).header().clone();
        assert!(ended.first_line().starts_with(case.first_line), "{}: {}", case.name, ended.first_line());
        assert_eq!(header.load.model, case.model, "{}", case.name);
        let rows = scratch.rows(case.name);
        assert!(rows.len() > 20, "{}: {} requests", case.name, rows.len());
    }
}

#[test]
fn phases_and_ramps_are_recorded_as_asked() {
    let scratch = Scratch::new("phases");
    let phases = "500ms@200/s, 1s@200..1000/s, 500ms@1000/s sessions=2 mix=UpdateRecord=1";
    let run = ["run", "null:", "--phases", phases, "--warmup", "200ms", "-c", "4", "-o", "a"];
    let ended = scratch.truetail(&run).judged();
    assert!(ended.first_line().starts_with("open loop: poisson"), "{}", ended.stdout);
    let header = scratch.recording("a").header().clone();
    let kinds: Vec<PhaseKind> = header.phases.iter().map(|p| p.kind).collect();
    assert_eq!(kinds, [PhaseKind::WarmUp, PhaseKind::Measured, PhaseKind::Measured, PhaseKind::Measured]);
    let rates: Vec<(f64, f64)> =
        header.phases.iter().filter_map(|p| p.offered).map(|(a, b)| (a.get(), b.get())).collect();
    assert_eq!(rates, [(200.0, 200.0), (200.0, 200.0), (200.0, 1000.0), (1000.0, 1000.0)]);
    let sessions: Vec<u32> = header.phases.iter().map(|p| p.sessions).collect();
    assert_eq!(sessions, [4, 4, 4, 2]);
    let rows = scratch.rows("a");
    assert_contiguous(&rows);
    let last = &header.phases[3].name;
    let in_last: Vec<_> = rows.iter().filter(|r| r.phase == *last).collect();
    // 500 are expected; five standard errors of a Poisson count.
    assert!((in_last.len() as f64 - 500.0).abs() < 5.0 * 500_f64.sqrt(), "{}", in_last.len());
    assert!(in_last.iter().all(|r| r.operation == "UpdateRecord"));
}

#[test]
fn only_an_open_load_has_a_response_time() {
    let scratch = Scratch::new("response");
    scratch
        .truetail(&["run", "null:", "--closed", "--requests", "5000", "--warmup", "0s", "-o", "a"])
        .judged();
    let page = scratch.truetail(&["report", "a"]).judged().stdout;
    assert!(!page.contains("response time ("), "{page}");
    assert!(page.contains("service time"), "{page}");
}
