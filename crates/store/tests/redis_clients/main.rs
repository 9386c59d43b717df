//! The store over TCP with clients that others wrote: redis-cli and redis-benchmark (both on hiredis), and redis-py.
//!
//! They fail where those are missing; `TRUETAIL_SKIP_SERVERS=1` skips them, loudly.

#[path = "../live/mod.rs"]
mod live;

use live::Live;
use std::io::Write;
use std::process::{Command, Stdio};
use store::resp::{Instance, Resp, Settings};

fn start(password: Option<&str>) -> Live {
    let password = password.map(str::to_owned);
    Live::start(|port| {
        let instance = Instance::new(Settings { password, port, ..Settings::default() });
        Box::new(move || Box::new(Resp::new(&instance)))
    })
}

/// Runs a program to its end, for a minute at most; what it printed. `None` where such tests are to be skipped.
fn run(program: &str, arguments: &[&str], input: &str) -> Option<String> {
    if std::env::var_os("TRUETAIL_SKIP_SERVERS").is_some_and(|value| value == "1") {
        eprintln!("\n*** SKIPPED: a test that needs {program} (TRUETAIL_SKIP_SERVERS=1) ***\n");
        return None;
    }
    let mut command = Command::new("timeout");
    command.arg("60").arg(program).args(arguments).stdin(Stdio::piped());
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("`timeout` can be run");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_owned();
    // A program that reads little must not keep us from reading what it prints.
    let writer = std::thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    let output = child.wait_with_output().expect("its end");
    let _ = writer.join();
    let (said, complained) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(
        output.status.success(),
        "`{program}` ({}): {said}{complained}; is it installed? `cargo xtask ci --quick` does that first",
        output.status
    );
    Some(said.into_owned())
}

/// What redis-cli prints for these requests, each on a line of its standard input.
fn cli(live: &Live, flags: &[&str], requests: &str) -> Option<String> {
    let port = live.port.to_string();
    let arguments = [&["-h", "127.0.0.1", "-p", &port], flags].concat();
    run("redis-cli", &arguments, requests)
}

#[test]
fn redis_cli_is_answered() {
    let live = start(None);
    let requests = "PING\nSET greeting hello\nGET greeting\nINCR n\nINCR n\nHSET h f v g w\nHGETALL h\nZADD z 1 a 2 b\n\
                    ZRANGEBYSCORE z -inf (2 WITHSCORES\nMULTI\nSET a 1\nGET a\nEXEC\nNOSUCH x\nGET z\nLRANGE l 0 -1\n";
    let Some(said) = cli(&live, &[], requests) else { return };
    // Without a terminal redis-cli prints bare values, an element a line.
    assert_eq!(
        said,
        "PONG\nOK\nhello\n1\n2\n2\nf\nv\ng\nw\n2\na\n1\nOK\nQUEUED\nQUEUED\nOK\n1\n\
         ERR unknown command 'NOSUCH', with args beginning with: 'x' \n\n\
         WRONGTYPE Operation against a key holding the wrong kind of value\n\n\n"
    );
    let info = cli(&live, &["INFO", "server"], "").unwrap_or_default();
    assert!(info.contains("redis_version:7.0.15"), "{info}");
    let (_, log) = live.end();
    // Those above but INFO, and what redis-cli asks by itself, which is not timed.
    assert_eq!(log.len(), 16);
}

#[test]
fn redis_cli_speaks_resp3_and_proves_who_it_is() {
    let live = start(Some("secret"));
    let Some(said) = cli(
        &live,
        &["-3", "--no-raw", "--no-auth-warning", "-a", "secret"],
        "HSET h f 1\nHGETALL h\nZADD z 1.5 m\nZSCORE z m\nGET none\n",
    ) else {
        return;
    };
    assert_eq!(said, "(integer) 1\n1# \"f\" => \"1\"\n(integer) 1\n(double) 1.5\n(nil)\n");
    let said = cli(&live, &[], "GET h\n").unwrap_or_default();
    assert_eq!(said.trim(), "NOAUTH Authentication required.");
}

#[test]
fn redis_cli_scans_all_keys() {
    let live = start(None);
    let inserts: String = (0..1_000).map(|key| format!("SET user{key:04} {key}\r\n")).collect();
    let Some(said) = cli(&live, &["--pipe"], &inserts) else { return };
    assert!(said.contains("errors: 0, replies: 1000"), "{said}");
    let said = cli(&live, &["--scan", "--pattern", "user0*"], "").unwrap_or_default();
    let expected: Vec<String> = (0..1_000).map(|key| format!("user{key:04}")).collect();
    assert_eq!(said.lines().collect::<Vec<_>>(), expected);
}

/// Names in the first column of what `redis-benchmark --csv` prints.
fn benchmark(flags: &[&str]) -> Option<(Vec<String>, usize)> {
    let live = start(None);
    let port = live.port.to_string();
    let arguments = [&["-h", "127.0.0.1", "-p", &port, "--csv", "-n", "1600"], flags].concat();
    let said = run("redis-benchmark", &arguments, "")?;
    let rows = said.lines().filter(|line| line.starts_with('"') && !line.starts_with("\"test\""));
    let names = rows.filter_map(|row| row.split('"').nth(1)).map(str::to_owned).collect();
    let (totals, log) = live.end();
    assert_eq!(totals.broken, 0);
    Some((names, log.len()))
}

/// All tests that redis-benchmark runs if it is not told which.
const BENCHMARKS: [&str; 20] = [
    "PING_INLINE",
    "PING_MBULK",
    "SET",
    "GET",
    "INCR",
    "LPUSH",
    "RPUSH",
    "LPOP",
    "RPOP",
    "SADD",
    "HSET",
    "SPOP",
    "ZADD",
    "ZPOPMIN",
    "LPUSH (needed to benchmark LRANGE)",
    "LRANGE_100 (first 100 elements)",
    "LRANGE_300 (first 300 elements)",
    "LRANGE_500 (first 500 elements)",
    "LRANGE_600 (first 600 elements)",
    "MSET (10 keys)",
];

#[test]
fn redis_benchmark_runs_all_its_tests() {
    for flags in [&["-c", "50"][..], &["-c", "50", "-P", "16"], &["-c", "50", "-r", "1000", "-3"]] {
        let Some((names, requests)) = benchmark(flags) else { return };
        assert_eq!(names, BENCHMARKS, "{flags:?}");
        assert!(requests >= BENCHMARKS.len() * 1_600, "{flags:?}: {requests}");
    }
}

#[test]
fn redis_py_gets_what_it_expects() {
    let live = start(Some("secret"));
    let script = include_str!("client.py");
    let port = live.port.to_string();
    let Some(said) = run("/usr/bin/python3", &["-", &port, "secret"], script) else { return };
    assert_eq!(said, "all as expected\n");
}
