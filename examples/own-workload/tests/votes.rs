//! The example does what its documentation says.

use driver::{Target, TargetUrl};
use driver_postgres::PostgresTarget;
use driver_sqlite::SqliteTarget;
use own_workload::Votes;
use std::path::PathBuf;
use testkit::postgres::{Options, server};
use units::{Outcome, Seed};
use workload::Workload;
use workload::dataset::check_dataset;

fn directory(name: &str) -> PathBuf {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&directory); // of an earlier test with the same process id
    std::fs::create_dir_all(&directory).unwrap();
    directory
}

/// A second of load: every request is in the recording, and no vote was lost.
fn recorded<T: Target>(target: &T, name: &str) {
    let directory = directory(name);
    let votes = || Votes::new(50, Seed(3));
    let mut spec = measure::open_loop("1s@400/s", 4, &votes().operations()).unwrap();
    spec.retry = measure::Retry::conflicts(10);
    let recording = directory.join("recording");
    let finished = measure::measure(target, votes(), &spec, &recording).unwrap();
    assert!(finished.end.samples > 200, "{finished:?}");
    assert!(finished.end.outcomes.iter().any(|(outcome, _)| *outcome == Outcome::Ok), "{finished:?}");
    let invariant = finished.end.facts.iter().find(|(name, _)| name.contains("each page has the votes"));
    assert!(invariant.is_some_and(|(_, state)| state.starts_with("holds: ")), "{:?}", finished.end.facts);

    // Planted: a vote that nobody gave is found.
    let mut administration = target.administer().unwrap();
    administration.script("UPDATE page SET votes = votes + 1 WHERE id = 7").unwrap();
    let results =
        check_dataset(administration.as_mut(), votes().dataset().unwrap(), target.dialect()).unwrap();
    assert!(results.iter().any(|result| !result.passed && result.detail == "1 pages with another number"));

    let occupied = measure::measure(target, votes(), &spec, &recording).unwrap_err().to_string();
    assert!(occupied.contains("already holds a recording"), "{occupied}");
    let _ = std::fs::remove_dir_all(directory); // what is left is in the target directory
}

#[test]
fn on_sqlite() {
    let file = directory("votes-db").join("votes.db");
    let url = TargetUrl::parse(&format!("sqlite:{}?synchronous=off", file.display())).unwrap();
    recorded(&SqliteTarget::from_url(&url).unwrap(), "votes-sqlite");
}

#[test]
fn on_postgres() {
    let Some(server) = server(&Options::default()) else { return };
    let url = TargetUrl::parse(&server.unix_url()).unwrap();
    recorded(&PostgresTarget::from_url(&url).unwrap(), "votes-postgres");
}

#[test]
fn what_is_wrong_is_said_before_anything_is_done() {
    let error = measure::open_loop("1s@", 4, &Votes::new(1, Seed(1)).operations()).unwrap_err().to_string();
    assert!(error.contains("1s@") && !error.contains('\n'), "{error}");
}
