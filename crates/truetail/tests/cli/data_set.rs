//! `load`, `check`, `cleanup`, on a file and on a server.

use crate::program::{Scratch, brief};
use driver::{Target, TargetUrl};
use driver_mysql::MySqlTarget;
use driver_postgres::PostgresTarget;
use driver_sqlite::SqliteTarget;
use testkit::{mariadb, postgres, redis};

/// Runs SQL behind the program's back.
type Meddle<'a> = &'a dyn Fn(&str);

fn life_of_a_data_set(scratch: &Scratch, url: &str, sql: Meddle<'_>) {
    let truetail = |verb: &str| scratch.truetail(&[verb, url, "-p", "fieldlength=20"]);
    let missing = truetail("check").with_code(1);
    assert!(missing.stdout.contains("BROKEN") && missing.stdout.contains("load it first"), "{missing:?}");
    let loaded = truetail("load").well();
    assert!(loaded.stdout.contains("loaded") && loaded.stderr.contains("1000 rows"), "{loaded:?}");
    assert!(truetail("load").well().stdout.contains("already there"));
    let checked = truetail("check").well();
    assert!(checked.stdout.contains("holds ") && !checked.stdout.contains("BROKEN"), "{checked:?}");

    let run = scratch.truetail(&brief(&[url, "-p", "fieldlength=20", "-o", "run"])).judged();
    assert!(!run.stderr.contains("loaded ycsb"), "{run:?}");
    truetail("check").well();

    sql("DELETE FROM usertable WHERE ycsb_key = (SELECT min(ycsb_key) FROM usertable)");
    let broken = truetail("check").with_code(1);
    assert!(broken.stdout.contains("BROKEN  no loaded key is missing"), "{broken:?}");
    let json = scratch.truetail(&["check", url, "-p", "fieldlength=20", "--json"]).with_code(1).json();
    assert_eq!(json["passed"], false);

    assert!(truetail("cleanup").well().stdout.contains("dropped"));
    truetail("check").with_code(1);
    // A run loads what is missing, and says so.
    let run = scratch.truetail(&brief(&[url, "-p", "fieldlength=20", "-o", "again"])).judged();
    assert!(run.stderr.contains("loaded ycsb fieldlength=20 (scale 1): 1000 rows"), "{run:?}");
    assert!(truetail("cleanup").well().stdout.contains("data set: dropped"));
    assert!(truetail("cleanup").well().stdout.contains("data set: nothing was there"));
}

#[test]
fn on_sqlite() {
    let scratch = Scratch::new("data-sqlite");
    let path = scratch.path("data.db");
    scratch.write("data.db", ""); // an empty file is an empty database
    let sql = |text: &str| {
        let url = TargetUrl::parse(&format!("sqlite:{}", path.display())).expect("a URL");
        let target = SqliteTarget::from_url(&url).expect("a target");
        target.administer().expect("a connection").script(text).expect("the statement");
    };
    life_of_a_data_set(&scratch, "sqlite:data.db", &sql);
}

#[test]
fn on_postgres() {
    let Some(server) = postgres::server(&postgres::Options::default()) else { return };
    let scratch = Scratch::new("data-postgres");
    for url in [server.unix_url(), server.tcp_url()] {
        let sql = |text: &str| {
            let target = PostgresTarget::from_url(&TargetUrl::parse(&url).expect("a URL")).expect("a target");
            target.administer().expect("a connection").script(text).expect("the statement");
        };
        life_of_a_data_set(&scratch, &url, &sql);
        for recording in ["run", "again"] {
            std::fs::remove_dir_all(scratch.path(recording)).expect("a recording");
        }
    }
}

#[test]
fn on_mariadb() {
    let Some(server) = mariadb::server(&mariadb::Options::default()) else { return };
    let scratch = Scratch::new("data-mariadb");
    let url = server.tcp_url();
    let sql = |text: &str| {
        let target = MySqlTarget::from_url(&TargetUrl::parse(&url).expect("a URL")).expect("a target");
        target.administer().expect("a connection").script(text).expect("the statement");
    };
    life_of_a_data_set(&scratch, &url, &sql);
}

/// What a load that was killed left behind is measured by no run, which names the commands that help; and they do.
fn half_loaded(scratch: &Scratch, url: &str, workload: &[&str]) {
    let with = |verb| [&[verb, url], workload].concat();
    let running = scratch.start(&with("load"));
    while !scratch.truetail(&with("check")).stdout.contains("not loaded to its end") {
        assert!(!scratch.truetail(&with("check")).stdout.contains("made from seed"), "the load is too short");
    }
    running.signal(libc::SIGKILL);
    assert_eq!(running.wait().code, None);
    let refused = scratch.truetail(&with("run"));
    let refused = refused.refused(&["was not loaded to its end", "goes on with it", "drops it"]);
    let [load, cleanup] = &refused.commands()[..] else { panic!("{refused:?}") };
    let said = |command: &[String]| {
        scratch.truetail(&command.iter().map(String::as_str).collect::<Vec<_>>()).well().stdout
    };
    if workload.contains(&"ycsb") {
        assert!(said(load).contains("loaded"), "{load:?}");
        scratch.truetail(&with("check")).well();
    }
    assert!(said(cleanup).contains("dropped"), "{cleanup:?}");
    assert!(said(cleanup).contains("nothing was there"), "{cleanup:?}");
}

#[test]
fn a_data_set_that_is_half_loaded() {
    let scratch = Scratch::new("data-half");
    let bank = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/examples/bank.toml");
    for workload in [
        &["-w", "ycsb", "--scale", "100"][..],
        &["-w", "tpcc", "--scale", "2"],
        &["-w", "tatp"],
        &["-w", "smallbank"],
        &["-w", "seats"],
        &["-w", "epinions"],
        &["-w", bank, "--scale", "1000"],
    ] {
        half_loaded(&scratch, "sqlite:half.db", workload);
    }
}

#[test]
fn a_data_set_that_is_half_loaded_on_servers() {
    let scratch = Scratch::new("data-half-servers");
    if let Some(server) = postgres::server(&postgres::Options::default()) {
        half_loaded(&scratch, &server.tcp_url(), &["-w", "tatp"]);
    }
    if let Some(server) = mariadb::server(&mariadb::Options::default()) {
        half_loaded(&scratch, &server.tcp_url(), &["-w", "ycsb", "--scale", "50"]);
    }
    if let Some(server) = redis::server(&redis::Options::default()) {
        half_loaded(&scratch, &server.tcp_url(), &["-w", "ycsb", "--scale", "200"]);
    }
}

#[test]
fn nothing_to_do_is_said() {
    let scratch = Scratch::new("data-none");
    for verb in ["load", "check", "cleanup"] {
        let ended = scratch.truetail(&[verb, "null:"]).well();
        assert!(ended.stdout.contains("data set: none"), "{ended:?}");
    }
    scratch.truetail(&["load", "sqlite:data.db", "-w", "noop"]).well();
}
