//! `--config` and `--print-config`, and where a password must not be.

use crate::program::{Ended, Scratch, files};
use testkit::postgres::{Authentication, Options, server};

/// Every option with a value that differs from its default.
const ALL: &[&str] = &[
    "sqlite:data.db",
    "-w",
    "ycsb",
    "--scale",
    "2",
    "-p",
    "fieldlength=20",
    "-p",
    "fieldcount=3",
    "--compat",
    "benchbase",
    "--mix",
    "ReadRecord=90,UpdateRecord=10",
    "--loaders",
    "3",
    "--isolation",
    "serializable",
    "--rate",
    "100/s",
    "--arrivals",
    "constant",
    "--closed=false",
    "--tpcc-terminals",
    "unlimited",
    "--think",
    "exp:5ms",
    "--visit",
    "3",
    "--sessions",
    "3",
    "--threads",
    "2",
    "--duration",
    "3s",
    "--warmup",
    "1s",
    "--requests",
    "77",
    "--timeout",
    "1s",
    "--drain",
    "2s",
    "--retry",
    "refused+lost:4",
    "--retry-pause",
    "exp:1ms..50ms",
    "--seed",
    "9",
    "--cpus",
    "0",
    "--server-cpus",
    "0",
    "--clock",
    "monotonic",
    "--pacing",
    "sleep",
    "--out",
    "there",
    "--repeat",
    "2",
    "--report-interval",
    "2s",
    "--percentiles",
    "98,99.5",
    "--client",
    "7/9",
    "--statements=true",
    "--check",
    "staleness",
    "--floor",
    "30s",
    "--echo",
    "db1:7377",
    "--jvm-log",
    "harness:gc.log",
    "--jvm-start",
    "2026-11-21T06:35:37.116Z",
    "--server-log",
    "postgresql.log",
    "--server-log-zone",
    "+01:00",
];

#[test]
fn a_printed_configuration_round_trips() {
    let scratch = Scratch::new("round-trip");
    let cases: [&[&str]; 5] = [
        &[],
        ALL,
        &["null:", "--closed", "-c", "3"],
        &["null:", "--phases", "1s@100/s, 1s@100..300/s"],
        &["postgres://app:secret@h/db"],
    ];
    for case in cases {
        let print =
            |more: &[&str]| scratch.truetail(&[&["run", "--print-config"], more].concat()).well().stdout;
        let first = print(case);
        assert!(!first.contains("secret"), "{first}");
        scratch.write("printed.toml", &first);
        assert_eq!(print(&["--config", "printed.toml"]), first, "{case:?}");
    }
}

#[test]
fn a_file_holds_whatever_flags_hold() {
    let scratch = Scratch::new("all-keys");
    let printed = scratch.truetail(&[&["run", "--print-config"], ALL].concat()).well().stdout;
    let help = scratch.truetail(&["run", "--help"]).well().stdout;
    let flags = help.lines().filter_map(|l| l.split_once("--")).map(|(_, rest)| rest);
    let names = flags.map(|rest| rest.split([' ', '[', '<', ',']).next().expect("a name"));
    let mut seen = 0;
    for name in names.filter(|n| !["json", "config", "print-config", "help", "version", "phases"].contains(n))
    {
        let takes = [" <", " [<", "[=<"].map(|value| format!("--{name}{value}"));
        if takes.iter().any(|flag| help.contains(flag)) {
            assert!(
                printed.lines().any(|l| l.starts_with(&format!("{name} = "))),
                "no `{name}` in {printed}"
            );
            seen += 1;
        }
    }
    assert!(seen >= 25, "only {seen} flags were found in {help}");
}

/// One file for a run, a search, and what is done with their recordings.
const SHARED: &str = r#"
target = "null:"
warmup = "0s"
duration = "1s"

[search]
slo = "p50 < 5s"
from = "200/s"
to = "400/s"

[report]
percentiles = "98"

[compare]
fail-if = ["p50 > +100000000%", "p85 > +100000000%"]
force = true

[export]
format = "hdr"
"#;

#[test]
fn one_file_serves_all_commands() {
    let scratch = Scratch::new("one-file");
    scratch.write("all.toml", SHARED);
    let truetail = |arguments: &[&str]| scratch.truetail(&[arguments, &["--config", "all.toml"]].concat());
    truetail(&["run", "-o", "a"]).judged();
    let config = scratch.recording("a").header().config.clone();
    assert!(!config.contains("slo") && !config.contains("[search]"), "{config}");

    let found = truetail(&["search", "-o", "s"]).well();
    assert!(found.stdout.contains("`p50 < 5s` is shown to hold: 400/s"), "{found:?}");
    // A flag wins over the section, and its precision is not in either.
    let found = truetail(&["search", "-o", "t", "--to", "300/s"]).well();
    assert!(found.stdout.contains("`p50 < 5s` is shown to hold: 300/s"), "{found:?}");

    let page = truetail(&["report", "a"]).judged();
    assert!(page.stdout.contains("p98"), "{page:?}");
    let page = truetail(&["report", "a", "--percentiles", "97"]).judged();
    assert!(page.stdout.contains("p97") && !page.stdout.contains("p98"), "{page:?}");
    let compared = truetail(&["compare", "a", "a", "--json"]).well().json();
    assert!(compared["rows"].to_string().contains("\"p85\""), "{compared}");
    // A list that was given takes the place of the file's.
    truetail(&["compare", "a", "a", "--fail-if", "p77 < 5%"]).refused(&["p77 < 5%"]);
    let log = truetail(&["export", "a"]).well();
    assert!(log.stdout.starts_with("#[") || log.stdout.starts_with("#truetail"), "{}", log.stdout);
    assert!(!truetail(&["export", "a", "--format", "csv"]).well().stdout.contains("HIST"));

    scratch.write("json.toml", &format!("json = true\n{SHARED}"));
    let document = scratch.truetail(&["report", "a", "--config", "json.toml"]).judged().json();
    assert_eq!(document["schema"], "truetail.run/1");
}

#[test]
fn a_printed_search_round_trips() {
    let scratch = Scratch::new("search-round-trip");
    scratch.write("all.toml", SHARED);
    let print = |file: &str| {
        scratch.truetail(&["search", "--print-config", "--config", file, "--timeout", "1s"]).well().stdout
    };
    let printed = print("all.toml");
    for line in
        ["[search]", "slo = \"p50 < 5s\"", "from = \"200/s\"", "precision = \"5%\"", "timeout = \"1s\""]
    {
        assert!(printed.contains(line), "no {line} in {printed}");
    }
    scratch.write("printed.toml", &printed);
    assert_eq!(print("printed.toml"), printed);
}

#[test]
fn flags_win_over_the_file() {
    let scratch = Scratch::new("flags-win");
    scratch.write(
        "night.toml",
        "target = \"null:\"\nrate = \"100/s\"\nduration = \"200ms\"\nwarmup = \"0s\"\nseed = 5\n",
    );
    scratch.truetail(&["run", "--config", "night.toml", "--rate", "300/s", "-o", "a"]).judged();
    let config = scratch.recording("a").header().config.clone();
    assert!(config.contains("rate = \"300/s\"") && config.contains("seed = 5"), "{config}");
    assert!(config.contains("target = \"null:\"") && config.contains("duration = \"200ms\""), "{config}");
    // A recording's configuration makes the same run again.
    scratch.write("again.toml", &config);
    scratch.truetail(&["run", "--config", "again.toml", "-o", "b"]).judged();
    let again = scratch.recording("b").header().config.clone();
    assert_eq!(again, config.replace("out = \"a\"", "out = \"b\""));
}

#[test]
fn a_password_is_nowhere() {
    let secret = "Tr0mbone-between-the-seats";
    let options = Options { authentication: Authentication::Scram(secret.to_owned()), ..Options::default() };
    let Some(server) = server(&options) else { return };
    let scratch = Scratch::new("password");
    let url = server.tcp_url();
    assert!(url.contains(secret));
    let run = ["run", &url, "-w", "noop", "-d", "500ms", "--warmup", "0s", "-c", "2", "-o", "a"];
    assert_nowhere(secret, &scratch, scratch.truetail(&run).judged(), "a");
    assert!(!scratch.truetail(&["report", "a", "--json"]).stdout.contains(secret));
    assert!(!scratch.truetail(&["export", "a"]).stdout.contains(secret));

    let wrong = url.replace(secret, "Wr0ng-instrument");
    let ended = scratch.truetail(&["run", &wrong, "-w", "noop"]).refused(&["postgres", "127.0.0.1"]);
    assert!(!ended.stderr.contains("Wr0ng"), "{}", ended.stderr);
    // In the place where a user might put it by mistake.
    let option =
        format!("postgres://postgres@127.0.0.1:{}/postgres?sslmode=disable&password={secret}", server.port());
    let run = ["run", &option, "-w", "noop", "-d", "200ms", "--warmup", "0s", "-c", "2", "-o", "b"];
    assert_nowhere(secret, &scratch, scratch.truetail(&run).judged(), "b");
}

fn assert_nowhere(secret: &str, scratch: &Scratch, ended: Ended, recording: &str) {
    assert!(!ended.stdout.contains(secret) && !ended.stderr.contains(secret), "{ended:?}");
    let files = files(&scratch.path(recording));
    assert!(files.len() >= 5, "{files:?}");
    for file in files {
        let bytes = std::fs::read(&file).expect("a file of the recording");
        let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
        assert!(!found, "the password is in {}", file.display());
    }
}
