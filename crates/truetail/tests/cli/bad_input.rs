//! What can't be done is refused with exit code 2 and one line that names the thing and the value.

use crate::program::{BRIEF, Scratch, brief};
use testkit::postgres::{Authentication, Options, server};

/// The arguments, and words that the one line must hold.
type Case = (&'static [&'static str], &'static [&'static str]);

fn assert_refused(name: &str, cases: &[Case]) {
    let scratch = Scratch::new(name);
    for (arguments, named) in cases {
        scratch.truetail(arguments).refused(named);
    }
    let left: Vec<_> = std::fs::read_dir(scratch.path("")).expect("the directory").collect();
    assert!(left.is_empty(), "a refused command left something behind: {left:?}");
}

#[test]
fn values_of_flags() {
    assert_refused(
        "bad-values",
        &[
            (&["run", "null:", "--rate", "0"], &["--rate", "`0`", "2000/s"]),
            (&["run", "null:", "--rate", "-5/s"], &["--rate", "-5/s", "above 0"]),
            (&["run", "null:", "--rate", "1e300/s"], &["--rate", "1e300"]),
            (&["run", "null:", "--rate", "fast"], &["--rate", "fast"]),
            (&["run", "null:", "--sessions", "0"], &["--sessions 0", "1..65000"]),
            (&["run", "null:", "--sessions", "-1"], &["--sessions", "-1"]),
            (&["run", "null:", "--sessions", "many"], &["--sessions", "many"]),
            (&["run", "null:", "--threads", "0"], &["--threads 0", "1..256"]),
            (&["run", "null:", "--duration", "0"], &["--duration 0", "longer"]),
            (&["run", "null:", "--duration", "-5s"], &["--duration", "-5s"]),
            (&["run", "null:", "--duration", "soon"], &["--duration", "soon", "15s"]),
            (&["run", "null:", "--warmup", "x"], &["--warmup", "`x`"]),
            (&["run", "null:", "--timeout", "x"], &["--timeout", "`x`"]),
            (&["run", "null:", "--timeout", "10"], &["--timeout", "`10`", "`10ms`", "`10s`"]),
            (&["attribute", "x", "--above", "10"], &["--above", "`10`", "`10ms`", "`10s`"]),
            (&["search", "null:", "--slo", "p99 < 10"], &["--slo", "`10`", "`10ms`", "`10s`"]),
            (&["run", "null:", "--drain", "x"], &["--drain", "`x`"]),
            (&["run", "null:", "--report-interval", "x"], &["--report-interval", "`x`"]),
            (&["run", "null:", "--report-interval", "1ns"], &["--report-interval", "1 ns", "at least"]),
            (&["run", "null:", "--requests", "0"], &["--requests 0", "at least 1"]),
            (&["run", "null:", "--repeat", "0"], &["--repeat 0", "1..1000"]),
            (&["run", "null:", "--repeat", "5000"], &["--repeat 5000", "1..1000"]),
            (&["run", "null:", "--retry", "999"], &["--retry", "999", "255"]),
            (&["run", "null:", "--retry", "conflict:3"], &["--retry", "did you mean `conflicts`"]),
            (&["run", "null:", "--retry", "deadlock"], &["--retry", "deadlock:3"]),
            (
                &["run", "null:", "--retry", "3", "--retry-pause", "soon"],
                &["--retry-pause", "`soon`", "exp:1ms..100ms"],
            ),
            (&["run", "null:", "--retry-pause", "1ms"], &["--retry-pause 1.00ms", "--retry 3"]),
            (&["run", "null:", "--client", "99999"], &["--client", "99999", "65535"]),
            (&["run", "null:", "--seed", "x"], &["--seed", "'x'"]),
            (&["run", "null:", "--visit", "0"], &["--visit 0", "1..100"]),
            (&["run", "null:", "--visit", "x"], &["--visit", "'x'"]),
            (&["run", "null:", "--phases", "garbage"], &["--phases", "garbage", "15s"]),
            (&["run", "null:", "--phases", "1s@abc"], &["--phases", "abc", "2000/s"]),
            (&["run", "null:", "--phases", "1s"], &["1s@1000/s"]),
            (&["run", "null:", "--phases", ""], &["--phases"]),
            (&["run", "null:", "--arrivals", "bursty"], &["--arrivals", "bursty", "poisson"]),
            (&["run", "null:", "--arrivals", "pareto:0.5"], &["--arrivals", "0.5", "above 1"]),
            (&["run", "null:", "--arrivals", "trace:/nowhere"], &["--arrivals", "/nowhere"]),
            (&["run", "null:", "--closed", "--think", "x"], &["--think", "x", "exp:"]),
            (&["run", "null:", "--closed=maybe"], &["--closed", "maybe", "true, false"]),
            (&["run", "null:", "--clock", "sundial"], &["--clock sundial", "tsc"]),
            (&["run", "null:", "--pacing", "x"], &["--pacing x", "spin"]),
            (&["run", "null:", "--cpus", "1000"], &["--cpus 1000", "may use"]),
            (&["run", "null:", "--cpus", "x"], &["--cpus", "`x`"]),
            (&["run", "null:", "--server-cpus", "x-y"], &["--server-cpus", "`x-y`", "0,2-5"]),
            (&["run", "null:", "--server-cpus", ""], &["--server-cpus", "0,2-5"]),
            (&["run", "null:", "--server-cpus", "garbage"], &["--server-cpus", "`garbage`"]),
            (&["run", "null:", "--server-cpus", "3-1"], &["--server-cpus", "3-1"]),
            (
                &["run", "null:", "--observers", "hickup"],
                &["--observers", "`hickup`", "default, off, all, hiccup"],
            ),
            (&["run", "null:", "--observers", "hiccup=1h"], &["--observers", "`hiccup=1h`", "100 µs"]),
            (&["run", "null:", "--client", "4/4"], &["--client", "4/4", "numbered from 0", "3/4"]),
            (&["run", "null:", "--isolation", "x"], &["--isolation x", "serializable"]),
            (&["run", "null:", "--compat", "x"], &["--compat x", "benchbase"]),
            (&["run", "null:", "--mix", "A=1"], &["mix", "`A`", "ReadRecord"]),
            (&["run", "null:", "--mix", "garbage"], &["--mix", "garbage", "ReadRecord=90"]),
            (&["run", "null:", "--scale", "0"], &["--scale 0", "above 0"]),
            (&["run", "null:", "--scale", "-1"], &["--scale -1", "above 0"]),
            (&["run", "null:", "--scale", "nan"], &["--scale"]),
            (&["run", "null:", "--scale", "1e30"], &["scale", "1000000000"]),
            (&["run", "null:", "--mix", "RaedRecord=1"], &["did you mean `ReadRecord`?", "InsertRecord"]),
            (&["run", "null:", "-w", "tpcc", "--mix", "NewOder=1"], &["did you mean `NewOrder`?"]),
            (&["run", "null:", "--mix", "ReadRecord=90,UpdateRecord=5"], &["--mix", "make 95 and not 100"]),
            (&["run", "null:", "--mix", "ReadRecord=0.9,ScanRecord=0.15"], &["make 1.05 and not 1"]),
            (&["run", "null:", "--mix", "ReadRecord=1,readrecord=2"], &["`readrecord` is there twice"]),
            (&["run", "null:", "--mix", "ReadRecord=0"], &["not all 0"]),
            (&["run", "null:", "-w", "ycbs"], &["--workload ycbs", "did you mean `ycsb`?", "ycsb-a", "noop"]),
            (&["run", "null:", "-w", "tpc-c"], &["--workload tpc-c", "did you mean `tpcc`?"]),
            (&["load", "sqlite:x.db", "-w", "smalbank"], &["did you mean `smallbank`?"]),
            (
                &["run", "null:", "-w", "ycsb-core", "-p", "readproprtion=1"],
                &["did you mean `readproportion`?"],
            ),
            (
                &["run", "null:", "-w", "ycsb-core", "-p", "readproportion=x"],
                &["ycsb-core: readproportion=x"],
            ),
            (&["run", "null:", "-d", "15sce"], &["--duration", "`15sce`", "`15s`"]),
            (&["run", "null:", "-p", "fieldlenght=3"], &["`fieldlenght`", "did you mean `fieldlength`"]),
            (&["run", "null:", "-p", "fieldlength=x"], &["fieldlength=x", "whole number"]),
            (&["run", "null:", "-p", "fieldlength"], &["-p fieldlength", "NAME=VALUE"]),
            (&["run", "null:", "-w", "noop", "-p", "mode=x"], &["`x`", "ping"]),
        ],
    );
}

/// Of an unknown command those are listed that can stand in its place.
#[test]
fn commands_that_are_not_there() {
    assert_refused(
        "bad-commands",
        &[
            (&["exprimnt"], &["'exprimnt'", "commands: run, load", "gaps"]),
            (&["experiment", "foo"], &["'foo'", "truetail experiment", "commands: tell-tale"]),
            (&["--json", "experiment", "foo"], &["'foo'", "commands: tell-tale"]),
        ],
    );
    let scratch = Scratch::new("bad-command");
    let refused = scratch.truetail(&["experiment", "foo"]).refused(&["tell-tale"]);
    assert!(!refused.stderr.contains("cleanup"), "{refused:?}");
}

/// A file of arrivals.
const TRACE: &str = concat!("trace:", env!("CARGO_MANIFEST_DIR"), "/tests/cli/arrivals.txt");

/// What has no use for an option refuses it all the same when it is wrong.
#[test]
fn options_that_are_only_looked_at() {
    assert_refused(
        "bad-unused",
        &[
            (&["run", "--print-config", "--rate", "garbage"], &["--rate", "garbage", "2000/s"]),
            (&["run", "--print-config", "--closed", "--visit", "3"], &["--visit", "--closed"]),
            (&["run", "--print-config", "-w", "ycbs"], &["--workload ycbs"]),
            (&["run", "--print-config", "oracle:"], &["oracle"]),
            (&["load", "null:", "--rate", "garbage"], &["--rate", "garbage", "2000/s"]),
            (&["check", "null:", "--server-cpus", "x"], &["--server-cpus", "`x`"]),
            (&["cleanup", "null:", "--report-interval", "1ns"], &["--report-interval"]),
            (&["run", "--rate", "garbage"], &["--rate", "garbage"]),
        ],
    );
}

#[test]
fn flags_that_contradict_each_other() {
    assert_refused(
        "bad-together",
        &[
            (&["run", "null:", "--closed", "--visit", "3"], &["--visit", "--closed", "drop one"]),
            (&["run", "null:", "--closed", "--arrivals", "poisson"], &["--arrivals", "--closed", "drop one"]),
            (&["run", "null:", "--think", "exp:5ms"], &["--think", "--closed", "--visit"]),
            (&["run", "null:", "--closed", "--rate", "5/s", "--think", "exp:1s"], &["--think", "--rate"]),
            (&["run", "null:", "--phases", "1s@5/s", "--rate", "5/s"], &["--phases", "--rate", "drop one"]),
            (
                &["run", "null:", "--closed", "--rate", "7/s", "--phases", "1s@50/s"],
                &["--rate 7/s", "--phases"],
            ),
            (&["run", "null:", "--phases", "1s@5/s", "-d", "5s"], &["--phases", "--duration 5s", "drop one"]),
            (
                &["run", "null:", "--arrivals", TRACE, "--rate", "999/s"],
                &["--rate 999/s", "trace", "drop one"],
            ),
            (&["run", "null:", "--arrivals", TRACE, "--phases", "1s@5/s"], &["--phases", "1s@5/s", "trace"]),
            (&["search", "null:", "--slo", "p99 < 1s", "--arrivals", TRACE], &["--arrivals trace", "search"]),
            (&["export", "x", "--format", "hdr", "--json"], &["--format hdr", "--json"]),
            (&["export", "x", "--measure", "service"], &["--measure service", "csv", "hdr"]),
            (&["export", "x", "--format", "xml"], &["--format xml", "csv, hdr, json"]),
            (&["search", "null:", "--slo", "p99 < 1s", "--rate", "5/s"], &["--rate", "search"]),
            (&["search", "null:", "--slo", "p99 < 1s", "--closed"], &["--closed", "open loop"]),
        ],
    );
}

#[test]
fn words_that_the_parser_does_not_know() {
    assert_refused(
        "bad-words",
        &[
            (&["run", "null:", "--bogus"], &["--bogus"]),
            (&["run", "null:", "--reta", "5/s"], &["--reta"]),
            (&["rnu"], &["rnu", "run"]),
            (&["report"], &["<DIR>", "required"]),
            (&["attribute"], &["<DIR>", "required"]),
            (&["attribute", "x", "--above", "-3ms"], &["--above"]),
            (&["compare", "a"], &["<NEW>", "required"]),
            (&["compare", "--run", "null:"], &["--vs"]),
            (&["search", "null:"], &["--slo <LIMIT>", "required"]),
            (&["experiment"], &["experiment --list"]),
        ],
    );
}

#[test]
fn targets() {
    assert_refused(
        "bad-targets",
        &[
            (&["run", "data"], &["`data`", "sqlite:"]),
            (&["run", "oracle://h/db"], &["oracle", "postgres:"]),
            (&["run", "postgers://u@h/db"], &["did you mean `postgres:`?", "redis:"]),
            (&["run", "sqllite:x.db"], &["did you mean `sqlite:`?"]),
            (&["run", "xyz:x"], &["there are sqlite:"]),
            (&["run", "null:garbage"], &["null:garbage"]),
            (&["run", "postgres://u@127.0.0.1:1/x"], &["127.0.0.1:1", "refused", "running"]),
            (&["run", "postgres://u:hush@127.0.0.1:99999/x"], &["127.0.0.1:99999", "1..65535"]),
            (&["run", "postgres://u@127.0.0.1:1/x?sslmode=maybe"], &["`maybe`", "verify-full"]),
            (&["run", "sqlite:/nowhere/at/all.db"], &["/nowhere/at", "create it first"]),
            (&["run", "sqlite:/"], &["sqlite:/", "directory"]),
            (&["run", "sqlite:/etc/passwd"], &["/etc/passwd", "not a database"]),
            (&["load"], &["sqlite:data.db"]),
            (
                &["check", "sqlite:nothing.db", "-w", "tatp"],
                &["nothing.db", "`truetail load sqlite:nothing.db -w tatp` makes it"],
            ),
            (&["cleanup", "sqlite:nothing.db"], &["nothing.db", "no such file", "nothing to drop"]),
        ],
    );
    let scratch = Scratch::new("hush");
    let ended = scratch.truetail(&["run", "postgres://u:hush@127.0.0.1:1/x"]).refused(&["postgres://u@"]);
    assert!(!ended.stderr.contains("hush"), "{}", ended.stderr);
}

#[test]
fn directories() {
    let scratch = Scratch::new("bad-directories");
    scratch.write("file", "text");
    scratch.truetail(&["run", "null:", "-o", "/proc/x"]).refused(&["/proc/x"]);
    scratch.truetail(&["run", "-o", "/proc/x"]).refused(&["/proc/x", "--out"]);
    scratch.truetail(&["run", "null:", "-o", "file"]).refused(&["file", "is a file", "another directory"]);
    scratch.truetail(&["run", "null:", "-o", "file/below"]).refused(&["file/below", "below a file"]);
    scratch.truetail(&["run", "null:", "-o", "."]).refused(&[".", "not empty"]);
    scratch.truetail(&[&["run", "null:", "-o", "a"], &BRIEF[..]].concat()).judged();
    scratch.truetail(&["run", "null:", "-o", "a"]).refused(&["a already holds a recording"]);
    scratch.truetail(&["report", "a", "-o", "file/below"]).refused(&["file/below"]);
    scratch.truetail(&["export", "a", "-o", "nowhere/a.csv"]).refused(&["nowhere/a.csv"]);
    scratch.truetail(&["report", "nowhere"]).refused(&["nowhere", "no such recording", "truetail run"]);
    scratch.truetail(&["report", "."]).refused(&["run.toml", "--out"]);
    scratch.truetail(&["report", "file"]).refused(&["file"]);
    scratch.truetail(&["compare", "a", "nowhere"]).refused(&["nowhere"]);
    scratch.truetail(&["export", "nowhere"]).refused(&["nowhere"]);
}

#[test]
fn configuration_files() {
    let scratch = Scratch::new("bad-files");
    scratch.truetail(&["run", "--config", "none.toml"]).refused(&["--config none.toml", "check the path"]);
    for (text, named) in [
        ("rate = 5\n", &["line 1", "rate"][..]),
        ("\nraet = \"5/s\"\n", &["line 2", "raet", "did you mean `rate`"]),
        ("rate = \n", &["line 1"]),
        ("[load]\nrate = \"5/s\"\n", &["load"]),
    ] {
        scratch.write("bad.toml", text);
        scratch.truetail(&["run", "--config", "bad.toml"]).refused(&[&["--config bad.toml"], named].concat());
    }
    for (command, text, named) in [
        ("search", "[search]\nsol = \"p99 < 1s\"\n", &["[search]", "`sol`", "did you mean `slo`"][..]),
        ("search", "[search]\nslo = \"p99 < soon\"\n", &["--slo", "soon"]),
        ("search", "[search]\nfrom = \"5/s\"\n", &["--slo <LIMIT>", "required"]),
        ("search", "rate = \"5/s\"\n[search]\nslo = \"p99 < 1s\"\n", &["search with --rate"]),
        ("search", "[search]\nslo = [[1]]\nfrom = {}\n", &["[search]", "`from`", "table"]),
        ("search", "[serach]\nslo = \"p99 < 1s\"\n", &["serach", "did you mean `search`"]),
        ("report", "[report]\npercentile = \"99\"\n", &["[report]", "did you mean `percentiles`"]),
        ("attribute", "[attribute]\nabvoe = \"1ms\"\n", &["[attribute]", "did you mean `above`"]),
        ("attribute", "[attribute]\nabove = \"soon\"\n", &["--above", "soon"]),
        ("compare", "[compare]\nfail_if = \"p99 > 5%\"\n", &["[compare]", "did you mean `fail-if`"]),
        ("export", "[export]\nformt = \"hdr\"\n", &["[export]", "did you mean `format`"]),
        ("export", "[export]\nformat = \"xml\"\n", &["--format xml", "csv, hdr, json"]),
    ] {
        scratch.write("bad.toml", text);
        let rest: &[&str] = if command == "compare" { &["x", "y"] } else { &["x"] };
        scratch.truetail(&[&[command, "--config", "bad.toml"], rest].concat()).refused(named);
    }
    scratch.write("bytes.toml", "");
    std::fs::write(scratch.path("bytes.toml"), [0xff, 0xfe]).expect("a file");
    scratch.truetail(&["run", "--config", "bytes.toml"]).refused(&["--config bytes.toml"]);
}

#[test]
fn another_scale_or_workload_than_the_data_set_has() {
    let scratch = Scratch::new("bad-scale");
    scratch.truetail(&["load", "sqlite:data.db"]).well();
    let refused = scratch.truetail(&["run", "sqlite:data.db", "--scale", "2"]).refused(&[
        "has scale 1, not 2",
        "`--scale 1`",
        "`truetail cleanup sqlite:data.db -w ycsb && truetail load sqlite:data.db -w ycsb --scale 2`",
    ]);
    scratch.truetail(&["load", "sqlite:data.db", "--scale", "2"]).refused(&["scale", "1", "2"]);
    scratch.truetail(&["run", "sqlite:data.db", "-p", "fieldlength=7"]).refused(&["truetail cleanup"]);
    scratch.truetail(&["check", "sqlite:data.db"]).well(); // nothing was changed
    // What it says to do does it.
    for command in refused.commands() {
        scratch.truetail(&command.iter().map(String::as_str).collect::<Vec<_>>()).well();
    }
    scratch.truetail(&["check", "sqlite:data.db", "--scale", "2"]).well();
}

/// Each of the other kinds of targets says what it can be asked for instead, before it is even there.
#[test]
fn a_workload_that_the_target_can_not_be_asked_for() {
    let scratch = Scratch::new("bad-pairs");
    let instead = ["this target can be asked for ycsb, ycsb-a", "noop"];
    for workload in ["tpcc", "tatp", "smallbank", "seats", "epinions"] {
        let refused = scratch.truetail(&["run", "redis://127.0.0.1:1", "-w", workload]).refused(&instead);
        assert!(!refused.stderr.ends_with(&format!("{workload}\n")), "{refused:?}");
    }
    scratch.write("f.toml", "name = \"f\"\n[[transaction]]\nname = \"T\"\nsql = \"SELECT 1\"\n");
    scratch.truetail(&["load", "redis://127.0.0.1:1", "-w", "./f.toml"]).refused(&instead);
    scratch
        .truetail(&["run", "redis://127.0.0.1:1", "-w", "noop", "-p", "mode=select1"])
        .refused(&["mode=ping"]);
    scratch.write("g.toml", "name = \"g\"\n[[transaction]]\nname = \"T\"\nwieght = 2\nsql = \"SELECT 1\"\n");
    scratch.truetail(&["run", "null:", "-w", "./g.toml"]).refused(&["line 4", "did you mean `weight`?"]);
}

/// As YCSB has it, and said.
#[test]
fn proportions_that_make_no_whole_are_shares_of_what_they_make() {
    let scratch = Scratch::new("proportions");
    let run = |more: &[&'static str]| {
        scratch.truetail(&brief(&[&["null:", "-w", "ycsb-a"], more].concat())).judged()
    };
    let told = run(&["-p", "readproportion=1.5", "-o", "a"]);
    assert!(told.stderr.contains("make 2 and not 1") && told.stderr.contains("READ 75 %"), "{told:?}");
    let quiet = run(&["-p", "readproportion=0.3", "-p", "updateproportion=0.7", "-o", "b"]);
    assert!(!quiet.stderr.contains("proportions make"), "{quiet:?}");
}

#[test]
fn a_wrong_password() {
    let options = Options { authentication: Authentication::Scram("right".to_owned()), ..Options::default() };
    let Some(server) = server(&options) else { return };
    let scratch = Scratch::new("wrong-password");
    let url = server.tcp_url().replace("right", "wr0ng");
    let ended = scratch.truetail(&["run", &url]).refused(&["postgres", "password authentication failed"]);
    assert!(!ended.stderr.contains("wr0ng"), "{}", ended.stderr);
    let none = server.tcp_url().replace(":right@", "@");
    scratch.truetail(&["run", &none]).refused(&["password"]);
    let nobody = server.tcp_url().replace("postgres:right@", "nobody:right@");
    scratch.truetail(&["run", &nobody]).refused(&["nobody"]);
    let nowhere = server.tcp_url().replace("/postgres?", "/nowhere?");
    scratch.truetail(&["run", &nowhere]).refused(&["nowhere"]);
}

#[test]
fn recordings_that_can_not_be_compared() {
    let scratch = Scratch::new("bad-comparison");
    let run = |more: &[&'static str]| {
        scratch.truetail(&[&["run", "null:", "-d", "300ms", "--warmup", "0s"], more].concat()).judged()
    };
    run(&["-o", "open"]);
    run(&["--closed", "--requests", "2000", "-o", "closed"]);
    scratch.truetail(&["compare", "open", "closed"]).refused(&["open loop", "closed loop"]);
    let compare = |more: &[&'static str]| scratch.truetail(&[&["compare", "open", "open"], more].concat());
    compare(&["--fail-if", "p99"]).refused(&["--fail-if 'p99'", "p99 > +5%"]);
    compare(&["--fail-if", "p101 > 5%"]).refused(&["--fail-if", "`p101`", "p50"]);
    compare(&["--equivalent-within", "x"]).refused(&["--equivalent-within x", "5%"]);
    compare(&["--equivalent-within", "-5%"]).refused(&["--equivalent-within", "-5%"]);
    scratch.truetail(&["compare", "--run", "null: '", "--vs", "null:"]).refused(&["quote"]);
    scratch
        .truetail(&["compare", "--run", "null:", "--vs", "null:", "--repeat", "0"])
        .refused(&["--repeat 0"]);
}

#[test]
fn limits_of_a_search() {
    assert_refused(
        "bad-search",
        &[
            (&["search", "null:", "--slo", "garbage"], &["--slo", "garbage", "p99 < 10ms"]),
            (&["search", "null:", "--slo", "p101 < 10ms"], &["--slo", "p101", "p99.9"]),
            (&["search", "null:", "--slo", "p99 < soon"], &["--slo", "soon"]),
            (&["search", "null:", "--slo", "p99 < 1s", "--from", "5", "--to", "3"], &["--from 5", "--to 3"]),
            (&["search", "null:", "--slo", "p99 < 1s", "--from", "-5"], &["--from", "-5"]),
            (&["search", "null:", "--slo", "p99 < 1s", "--precision", "0"], &["--precision 0", "5%"]),
            (&["search", "postgres://u@127.0.0.1:1/x", "--slo", "p99 < 1s"], &["127.0.0.1:1", "refused"]),
        ],
    );
}
