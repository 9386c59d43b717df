//! `truetail experiment tell-tale`: its cells, its rounds, and what it does with harnesses that fail.

use crate::program::{Ended, Scratch};
use record::{LoadModel, Recording};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

const TELL_TALE: [&str; 2] = ["experiment", "tell-tale"];

fn tell_tale(scratch: &Scratch, flags: &[&str]) -> Ended {
    scratch.truetail(&[&TELL_TALE, flags].concat())
}

/// A directory that takes itself for a JDK: its `java` is this script, which tells a version and then does `does`.
pub(crate) fn fake_java(scratch: &Scratch, name: &str, does: &str) -> String {
    let home = scratch.path(name);
    std::fs::create_dir_all(home.join("bin")).expect("a directory");
    let java = home.join("bin/java");
    let version = "case \"$*\" in *-version) echo 'openjdk version \"0\"' >&2; exit 0;; esac";
    std::fs::write(&java, format!("#!/bin/sh\n{version}\n{does}\n")).expect("a script");
    std::fs::set_permissions(&java, std::fs::Permissions::from_mode(0o755)).expect("a program");
    home.display().to_string()
}

/// A binding whose JVM is not a real one.
pub(crate) fn fake_binding(scratch: &Scratch) -> String {
    std::fs::create_dir_all(scratch.path("binding")).expect("a directory");
    scratch.write("binding/truetail-ycsb.jar", "");
    format!("ycsb={}", scratch.path("binding").display())
}

/// What `experiment.toml` says of each cell: harness, why it can't be run, rounds as (recording, why it failed).
pub(crate) type Told = (String, Option<String>, Vec<(Option<PathBuf>, Option<String>)>);

pub(crate) fn told(scratch: &Scratch, experiment: &str) -> Vec<Told> {
    let text = std::fs::read_to_string(scratch.path(experiment).join("experiment.toml")).expect("a document");
    let document: toml::Table = toml::from_str(&text).expect("TOML");
    let text = |table: &toml::Table, key: &str| table.get(key).and_then(|v| v.as_str()).map(str::to_owned);
    let tables = |table: &toml::Table, key: &str| -> Vec<toml::Table> {
        let list = table.get(key).and_then(|value| value.as_array()).cloned().unwrap_or_default();
        list.into_iter().filter_map(|value| value.as_table().cloned()).collect()
    };
    let round = |round: &toml::Table| (text(round, "recording").map(PathBuf::from), text(round, "failed"));
    let cell = |cell: &toml::Table| {
        let rounds = tables(cell, "round").iter().map(round).collect();
        (text(cell, "harness").expect("a harness"), text(cell, "can_not"), rounds)
    };
    tables(&document, "cell").iter().map(cell).collect()
}

#[test]
fn cells_are_listed_with_their_reasons_and_nothing_is_run() {
    let scratch = Scratch::new("tell-tale-list");
    let listed = tell_tale(&scratch, &["--list", "--jvm", "Gone=/no/such/jdk"]).well();
    for part in [
        "preset quick: ",
        "can't be run here:\n",
        "TPC-C's transactions go by what they read",
        "truetail's bindings of YCSB have none for MariaDB",
        "no Java: `/no/such/jdk/bin/java` can't be started",
        "rate of open loops",
    ] {
        assert!(listed.stdout.contains(part), "{part}: {}", listed.stdout);
    }
    assert!(!scratch.path("experiments").exists());
    for (flags, words) in [
        (["--preset", "long"], "--preset long: there are quick and paper"),
        (["--only", "gc=g1"], "`gc=g1` is no condition"),
        (["--again", "nowhere"], "no experiment lies there"),
        (["--only", "workload=tpcc,target=no-op"], "no cell can be run here: TPC-C's transactions go by"),
    ] {
        let refused = tell_tale(&scratch, &flags).with_code(2);
        assert!(refused.stderr.contains(words), "{words}: {refused:?}");
    }
}

const BRIEF: [&str; 10] =
    ["--time", "300ms", "--warmup", "100ms", "--rate", "1000/s", "--rounds", "2", "-o", "exp"];

#[test]
fn an_experiment_is_run_in_rounds_and_looked_at_again() {
    let scratch = Scratch::new("tell-tale-again");
    let flags = ["--only", "harness=truetail,target=no-op,workload=noop|ycsb"];
    let first = tell_tale(&scratch, &[&BRIEF[..], &flags].concat()).well();
    assert!(first.stderr.contains("\n8 of 8: round 2, "), "{first:?}");
    let told = told(&scratch, "exp");
    assert_eq!(told.len(), 4);
    for (harness, can_not, rounds) in told {
        assert_eq!((harness.as_str(), can_not, rounds.len()), ("truetail", None, 2));
        for (recording, failed) in rounds {
            assert_eq!(failed, None);
            let path = scratch.path("exp").join(recording.expect("a recording"));
            assert!(Recording::open(path).expect("a recording").end().is_some_and(|end| end.samples > 0));
        }
    }
    // The outputs are made of the recordings alone.
    let page = scratch.path("exp/tell-tale.html");
    let made = std::fs::read_to_string(&page).expect("a page");
    std::fs::remove_file(&page).expect("removed");
    let again = tell_tale(&scratch, &["--again", "exp"]).well();
    assert_eq!(std::fs::read_to_string(&page).expect("a page"), made);
    assert_eq!(again.stdout, first.stdout);
    let json = tell_tale(&scratch, &["--again", "exp", "--json"]).well().stdout;
    let document: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(document["schema"], "truetail.tell-tale/1");
}

#[test]
fn a_harness_that_fails_does_not_end_the_experiment() {
    let scratch = Scratch::new("tell-tale-fails");
    let jvm = format!("Broken={}", fake_java(&scratch, "jdk", "echo 'no room for it' >&2; exit 3"));
    let flags = [
        "--jvm",
        &jvm,
        "--harness",
        &fake_binding(&scratch),
        "--only",
        "target=no-op,load=open,workload=noop",
    ];
    let ended = tell_tale(&scratch, &[&BRIEF[..], &flags].concat()).well();
    assert!(ended.stderr.contains("failed: it ended with exit status: 3: no room for it"), "{ended:?}");
    let told = told(&scratch, "exp");
    let [truetail, broken] = &told[..] else { panic!("{told:?}") };
    assert!(truetail.2.iter().all(|(recording, _)| recording.is_some()), "{truetail:?}");
    assert_eq!(broken.0, "YCSB, Broken");
    assert!(broken.2.len() == 2 && broken.2.iter().all(|(recording, _)| recording.is_none()), "{broken:?}");
    assert!(ended.stdout.contains("exit status: 3"), "{}", ended.stdout);
}

#[test]
fn an_interruption_ends_the_present_run_and_what_is_there_is_looked_at() {
    let scratch = Scratch::new("tell-tale-interrupted");
    let flags =
        ["--rate", "1000/s", "--warmup", "0s", "-o", "exp", "--only", "harness=truetail,target=no-op"];
    let time = ["--rounds", "50", "--time", "200ms"];
    let mut running = scratch.start(&[&TELL_TALE[..], &flags, &time].concat());
    running.wait_for("3 of 200: ");
    running.signal(libc::SIGINT);
    let ended = running.wait();
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("interrupted; what was run until then lies in exp"), "{ended:?}");
    assert!(ended.stdout.contains("tell-tale"), "{ended:?}");
    let ran = |told: &[Told]| told.iter().flat_map(|(.., rounds)| rounds).count();
    assert!((2..200).contains(&ran(&told(&scratch, "exp"))));
    let again = tell_tale(&scratch, &["--again", "exp"]).well();
    assert!(again.stderr.contains("was interrupted"), "{again:?}");
}

/// What BenchBase does, as far as it is seen from here: it wants its configuration, and writes its rows.
const BENCHBASE: &str = "\
previous=
for word in \"$@\"; do
  case $previous in -d) directory=$word;; -c) configuration=$word;; esac
  case $word in -Xlog:*) log=${word#*file=}; log=${log%%:*};; esac
  previous=$word
done
grep -q '<isolation>TRANSACTION_SERIALIZABLE</isolation>' \"$configuration\" || exit 4
test -f here || exit 5
at='[2026-11-21T07:29:23.000+0000][886517143712ns][4874880000ns][info][safepoint]'
echo \"$at Safepoint \\\"G1CollectForAllocation\\\", Time since last: 94860762 ns, Reaching safepoint: 914634 ns, \
Cleanup: 17747 ns, At safepoint: 4836207 ns, Total: 5768588 ns\" > \"$log\"
{
  echo 'Transaction Type Index,Transaction Name,Start Time (microseconds),Latency (microseconds),Worker Id (start number),Phase Id (index in config file)'
  for second in 1 2 3 4 5; do echo \"1,NoOp,179524616$second.500000,250,0,0\"; done
} > \"$directory/noop_2026-11-21_07-29-28.raw.csv\"";

#[test]
fn benchbase_is_configured_and_its_rows_are_imported() {
    let Some(server) = testkit::postgres::server(&testkit::postgres::Options::default()) else { return };
    let scratch = Scratch::new("tell-tale-benchbase");
    let jvm = format!("Fake={}", fake_java(&scratch, "jdk", BENCHBASE));
    scratch.write("benchbase.jar", "");
    // It is started beside its jar, where its own configuration lies.
    scratch.write("here", "");
    let flags = ["--jvm", &jvm, "--harness", "benchbase=benchbase.jar", "--postgres", &server.tcp_url()];
    let only = ["--only", "harness=benchbase,workload=noop,load=closed,target=postgresql"];
    tell_tale(&scratch, &[&BRIEF[..], &flags, &only].concat()).well();
    let told = told(&scratch, "exp");
    let recording = told[0].2[0].0.clone().unwrap_or_else(|| panic!("{told:?}"));
    let recording = Recording::open(scratch.path("exp").join(&recording)).expect("a recording");
    let end = recording.end().expect("an end");
    assert_eq!(end.samples, 5);
    assert!(matches!(&end.jvm_logs[..], [log] if log.trouble.is_none()), "{:?}", end.jvm_logs);
    let pauses =
        recording.events().expect("events").into_iter().filter(|e| e.kind == record::EventKind::JvmPause);
    assert_eq!(pauses.count(), 1);
    let left = scratch.path("exp").join(recording.path().parent().expect("a round")).join("benchbase.xml");
    assert!(!left.exists(), "the configuration may hold a password");
}

fn recordings(scratch: &Scratch) -> Vec<(String, Recording)> {
    let mut found = Vec::new();
    for (harness, can_not, rounds) in told(scratch, "exp") {
        assert_eq!(can_not, None, "{harness}");
        for (recording, failed) in rounds {
            assert_eq!(failed, None, "{harness}");
            let path = scratch.path("exp").join(recording.expect("a recording"));
            found.push((harness.clone(), Recording::open(path).expect("a recording")));
        }
    }
    found
}

/// Two collectors and truetail, on a store that does nothing and on a real server.
#[test]
fn the_real_harnesses_are_run_and_each_jvm_has_its_pauses() {
    let Some(class_path) = testkit::ycsb::class_path() else { return };
    if testkit::postgres::client("psql").is_none() {
        return;
    }
    let scratch = Scratch::new("tell-tale-real");
    let harness = format!("ycsb={class_path}");
    let flags = [
        ["--jvm", "G1=,-XX:+UseG1GC -Xmx64m"],
        ["--jvm", "Epsilon=,-XX:+UseEpsilonGC -Xmx1g"],
        ["--harness", &harness],
        ["--rounds", "1"],
        ["--time", "1500ms"],
        ["--warmup", "500ms"],
        ["--rate", "500/s"],
        ["--only", "workload=ycsb,load=open,target=postgresql|no-op"],
        ["--only", "workload=noop,target=postgresql,load=closed,harness=g1"],
        ["-o", "exp"],
    ];
    let ended = tell_tale(&scratch, flags.as_flattened());
    assert!(ended.stderr.contains("loading 10000 records into PostgreSQL"), "{ended:?}");
    ended.well();
    let all = recordings(&scratch);
    assert_eq!(all.len(), 3 + 4 + 1, "one of them is run without its log, too");
    for (harness, recording) in &all {
        let place = recording.path();
        let header = recording.header();
        let end = recording.end().expect("an end");
        assert!(end.samples > 0, "{}: no sample", place.display());
        let is_closed = place.display().to_string().contains("closed");
        let model = if is_closed { LoadModel::Closed } else { LoadModel::Open };
        assert_eq!(header.load.model, model, "{}", place.display());
        let has_log = harness != "truetail" && !place.display().to_string().contains("no-log");
        assert_eq!(!end.jvm_logs.is_empty(), has_log, "{}", place.display());
        for log in &end.jvm_logs {
            // Wall time, and exact all the same.
            assert!(log.trouble.is_none() && log.aligned_by.starts_with("wall time"), "{log:?}");
        }
        assert_eq!(place.parent().is_some_and(|round| round.join("gc.log").exists()), has_log);
        assert!(!left_over(place), "raw rows are in the recording");
    }
}

/// TPC-C, which the paper has and YCSB's client has not, on both servers; and the others on MariaDB, which has no templates.
#[test]
fn truetail_asks_both_servers_for_all_workloads() {
    if std::env::var_os("TRUETAIL_SKIP_SERVERS").is_some() {
        return;
    }
    let scratch = Scratch::new("tell-tale-servers");
    let flags = [
        ["--rounds", "1"],
        ["--time", "1500ms"],
        ["--warmup", "0s"],
        ["--only", "harness=truetail,load=closed,workload=tpcc,target=postgresql|mariadb"],
        ["--only", "harness=truetail,load=closed,workload=noop|ycsb,target=mariadb"],
        ["-o", "exp"],
    ];
    let ended = tell_tale(&scratch, flags.as_flattened()).well();
    assert!(ended.stderr.contains("loading 1 warehouse into PostgreSQL"), "{ended:?}");
    let all = recordings(&scratch);
    assert_eq!(all.len(), 4);
    for (_, recording) in &all {
        let (place, header) = (recording.path().display(), recording.header());
        assert!(recording.end().is_some_and(|end| end.samples > 0), "{place}: no sample");
        let is_tpcc = header.operations.first().is_some_and(|name| name == "NewOrder");
        assert_eq!(is_tpcc, place.to_string().contains("tpc-c"), "{place}: {:?}", header.operations);
    }
}

fn left_over(recording: &Path) -> bool {
    recording.parent().is_some_and(|round| round.join("raw.csv").exists())
}
