//! TPC-C as its users meet it, on a data set that is far smaller than the specification's.

use crate::program::Scratch;
use testkit::postgres::{Options, server};

/// Two warehouses with few items and customers.
const SMALL: [&str; 8] = ["-w", "tpcc", "--scale", "2", "-p", "items=200", "-p", "customers=30"];

fn small<'a>(verb: &'a str, url: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&[verb, url], &SMALL[..], more].concat()
}

fn life(scratch: &Scratch, url: &str) {
    let truetail = |verb: &str, more: &[&str]| scratch.truetail(&small(verb, url, more));
    let loaded = truetail("load", &["--loaders", "3"]).well();
    assert!(loaded.stderr.contains("loaded tpcc items=200 customers=30 (scale 2)"), "{loaded:?}");
    let checked = truetail("check", &[]).well();
    for condition in 1..=12 {
        assert!(checked.stdout.contains(&format!("  holds   {condition}: ")), "{condition}: {checked:?}");
    }
    let brief = ["--closed", "-c", "3", "-d", "1s", "--warmup", "200ms"];
    for (name, more) in [("run", &["-p", "roundtrips=single"][..]), ("alike", &["--mix", "NewOrder=100"])] {
        let run = truetail("run", &[&brief[..], more, &["-o", name]].concat()).judged();
        assert!(run.stdout.contains("by the workload’s own rules"), "{run:?}");
        assert!(run.stdout.contains("tpmC "), "{run:?}");
        let rows = scratch.rows(name);
        assert!(rows.len() > 10, "{run:?}");
        let wrong = rows.iter().find(|row| row.outcome != "ok" && row.outcome != "abort");
        assert!(wrong.is_none(), "{wrong:?}: {run:?}");
        let end = scratch.recording(name).end().expect("an end").clone();
        let broken = end.facts.iter().find(|(_, value)| value.starts_with("broken"));
        assert!(broken.is_none(), "{broken:?}");
        assert!(
            end.facts.iter().any(|(name, _)| name
                == "invariant: 12: C_BALANCE + C_YTD_PAYMENT is the sum of delivered OL_AMOUNT")
        );
        assert!(end.facts.iter().any(|(name, _)| name == "count: districts skipped by Delivery"));
    }
    assert!(scratch.rows("alike").iter().all(|row| row.operation == "NewOrder"));
    let again = truetail("check", &[]).well();
    assert!(again.stdout.contains("skipped as the specification has it"), "{again:?}");
    truetail("cleanup", &[]).well();
    truetail("check", &[]).with_code(1);
}

#[test]
fn on_sqlite() {
    let scratch = Scratch::new("tpcc-sqlite");
    life(&scratch, "sqlite:data.db");
}

#[test]
fn on_postgres() {
    let Some(server) = server(&Options::default()) else { return };
    let scratch = Scratch::new("tpcc-postgres");
    life(&scratch, &server.unix_url());
    let level = |name: &str| {
        let facts = scratch.recording(name).header().workload_facts.clone();
        facts.into_iter().find(|(name, _)| name == "isolation").map(|(_, value)| value)
    };
    assert_eq!(level("run").as_deref(), Some("read-committed"), "what the workload needs is stated");
}

#[test]
fn terminals_are_held_against_their_ceiling() {
    let scratch = Scratch::new("tpcc-terminals");
    let spec = ["--tpcc-terminals", "spec", "-c", "4", "-d", "2s", "--warmup", "0s", "-o", "run", "--json"];
    let json = scratch.truetail(&small("run", "sqlite:data.db", &spec)).judged().json();
    let rate = &json["business"]["rates"][0];
    assert_eq!((rate["name"].as_str(), rate["ceiling"].as_f64()), (Some("tpmC"), Some(25.72)));
    assert!(rate["share_of_ceiling"].is_number(), "{rate}");
    let limits = json["business"]["rules"].as_array().expect("rules");
    assert_eq!(limits.len(), 9, "{limits:?}");
}

#[test]
fn what_is_wrong_is_refused_and_nothing_is_changed() {
    let scratch = Scratch::new("tpcc-refused");
    scratch.truetail(&small("load", "sqlite:data.db", &[])).well();
    let refused = |arguments: &[&str], named: &[&str]| {
        scratch
            .truetail(&[&["run", "sqlite:data.db", "-w", "tpcc", "-o", "run"], arguments].concat())
            .refused(named);
        assert!(!scratch.path("run").exists(), "{arguments:?}");
    };
    let reduced = ["-p", "items=200", "-p", "customers=30"];
    refused(&[&["--scale", "3"][..], &reduced].concat(), &["has scale 2, not 3", "truetail cleanup"]);
    refused(&["--scale", "2"], &["hold another data set, `tpcc items=200 customers=30`", "truetail cleanup"]);
    refused(&["--scale", "1.5"], &["scale 1.5 must be a whole number", "the number of warehouses"]);
    refused(&["-p", "roundtrip=single"], &["did you mean `roundtrips`?"]);
    refused(&["-p", "order-lines=3..99"], &["order-lines=3..99", "[1, 15]"]);
    refused(&["--mix", "NewOrders=1"], &["NewOrders", "NewOrder"]);
    refused(&["--loaders", "0"], &["--loaders 0", "1..256"]);
    scratch
        .truetail(&["run", "redis://127.0.0.1:1", "-w", "tpcc", "-o", "run"])
        .refused_at_last(&["needs a target with SQL"]);
    let checked = scratch.truetail(&small("check", "sqlite:data.db", &[])).well();
    assert!(checked.stdout.contains("as loaded"), "{checked:?}");
}

#[test]
fn it_runs_on_targets_that_hold_nothing_and_with_a_floor() {
    let scratch = Scratch::new("tpcc-null");
    for (target, name) in [("null:", "null"), ("null:?execution=blocking", "blocking")] {
        let options = ["-w", "tpcc", "-d", "500ms", "--warmup", "0s", "-r", "1000/s", "-o", name];
        scratch.truetail(&[&["run", target], &options[..]].concat()).judged();
        assert!(scratch.rows(name).iter().all(|row| row.outcome == "ok"), "{target}");
    }
    let floor = ["--floor=4s", "-r", "100/s", "-d", "1s", "--warmup", "0s", "-o", "run"];
    let run = scratch.truetail(&small("run", "sqlite:data.db", &floor)).judged();
    assert!(run.stdout.contains("floor"), "{run:?}");
}
