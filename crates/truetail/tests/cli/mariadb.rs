//! MariaDB as a target: every verb on a real server.

use crate::program::{Scratch, brief};
use testkit::mariadb::{Options, Server, server};

/// A scratch directory and a server.
fn bench(name: &str, options: &Options) -> Option<(Scratch, Server)> {
    let server = server(options)?;
    Some((Scratch::new(name), server))
}

#[test]
fn nothing_is_asked_in_every_mode() {
    let Some((scratch, server)) = bench("mariadb-noop", &Options::default()) else { return };
    for (mode, url) in [
        ("ping", server.tcp_url()),
        ("empty", server.unix_url()),
        ("select1", server.tcp_url().replace("mysql:", "mariadb:")),
        ("empty+commit", server.unix_url()),
    ] {
        let mode = format!("mode={mode}");
        scratch.truetail(&brief(&[&url, "-w", "noop", "-p", &mode, "-o", &mode])).judged();
        assert!(scratch.rows(&mode).iter().all(|row| row.outcome == "ok"), "{mode}");
        let facts = scratch.recording(&mode).header().target_facts.clone();
        assert!(facts.contains(&("product".to_owned(), "MariaDB".to_owned())), "{facts:?}");
    }
}

#[test]
fn both_families_of_ycsb_run_and_leave_a_population_that_checks() {
    let Some((scratch, server)) = bench("mariadb-ycsb", &Options::default()) else { return };
    let url = server.tcp_url();
    for workload in ["ycsb", "ycsb-a", "ycsb-d", "ycsb-e", "ycsb-f"] {
        let truetail = |verb: &str| scratch.truetail(&[verb, &url, "-w", workload, "-p", "fieldlength=20"]);
        truetail("load").well();
        let run = brief(&[&url, "-w", workload, "-p", "fieldlength=20", "-o", workload]);
        scratch.truetail(&run).judged();
        for row in scratch.rows(workload) {
            assert!(["ok", "miss"].contains(&row.outcome.as_str()), "{workload}: {}", row.outcome);
        }
        let checked = truetail("check").well();
        assert!(!checked.stdout.contains("BROKEN"), "{checked:?}");
        truetail("cleanup").well();
    }
}

#[test]
fn the_floor_is_measured_on_it() {
    let Some((scratch, server)) = bench("mariadb-floor", &Options::default()) else { return };
    let floor = scratch.truetail(&["floor", &server.tcp_url(), "-r", "200/s", "-d", "2s", "-c", "2"]);
    for part in ["noop ping", "noop select1", "noop empty+commit"] {
        assert!(floor.stdout.contains(part), "{part}: {floor:?}");
    }
}

#[test]
fn a_password_is_neither_shown_nor_recorded() {
    let options = Options { password: Some("hush-hush".to_owned()), ..Options::default() };
    let Some((scratch, server)) = bench("mariadb-password", &options) else { return };
    let run = scratch.truetail(&brief(&[&server.tcp_url(), "-w", "noop", "-o", "run"])).judged();
    assert!(!run.stdout.contains("hush") && !run.stderr.contains("hush"), "{run:?}");
    let header = std::fs::read_to_string(scratch.path("run/run.toml")).expect("a header");
    assert!(!header.contains("hush") && header.contains("mysql://truetail@127.0.0.1"), "{header}");
    let wrong = server.tcp_url().replace("hush-hush", "wrong-wrong");
    let refused = scratch.truetail(&brief(&[&wrong, "-w", "noop", "-o", "refused"]));
    let refused = refused.refused(&["Access denied", "1045"]);
    assert!(!refused.stderr.contains("wrong-wrong"), "{refused:?}");
}
