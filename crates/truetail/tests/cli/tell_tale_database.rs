//! `truetail experiment tell-tale` on somebody's PostgreSQL: its password is told to nobody, and nothing stays there.

use crate::program::{Running, Scratch, files};
use crate::tell_tale::{fake_binding, fake_java, told};
use std::path::Path;
use testkit::postgres::{Authentication, Options, Server, client, server};
use units::Nanos;

const EXPERIMENT: [&str; 8] =
    ["experiment", "tell-tale", "--time", "300ms", "--warmup", "100ms", "--rate", "1000/s"];

/// What a statement gives, line by line, as the superuser.
fn ask(server: &Server, database: &str, sql: &str) -> Vec<String> {
    let mut psql = client("psql").expect("a server was started");
    psql.env("PGPASSWORD", server.password().unwrap_or_default());
    let port = server.port().to_string();
    psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", &port]);
    let output = psql.args(["-U", server.user(), "-d", database, "-c", sql]).output().expect("psql runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{sql}: {}", text(&output.stderr));
    text(&output.stdout).lines().map(str::to_owned).collect()
}

/// The databases that experiments have made.
fn databases(server: &Server) -> Vec<String> {
    ask(server, "postgres", "SELECT datname FROM pg_database WHERE datname LIKE 'truetail%' ORDER BY 1")
}

const SECRET: &str = "Tr0mbone@in/the&wings";
const WRITTEN: &str = "Tr0mbone%40in%2Fthe%26wings";

/// A part of the password that no escape of its signs changes, and all of its letters as escapes of URLs and of Java.
fn forms() -> [String; 3] {
    let part = "tr0mbone";
    let of =
        |escape: &dyn Fn(u8) -> String| "Tr0mbone".bytes().map(escape).collect::<String>().to_lowercase();
    [part.to_owned(), of(&|byte| format!("%{byte:02x}")), of(&|byte| format!("\\u{byte:04x}"))]
}

fn assert_untold(text: &str, place: &str) {
    let text = text.to_lowercase();
    for form in forms() {
        assert!(!text.contains(&form), "the password is in {place}: {text}");
    }
}

fn assert_not_in_files(directory: &Path) {
    for file in files(directory) {
        let bytes = std::fs::read(&file).expect("a file of the experiment");
        assert_untold(&String::from_utf8_lossy(&bytes), &file.display().to_string());
    }
}

fn command_line(pid: &str) -> String {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&line).replace('\0', " ")
}

/// Command lines of all that this process has started, and of what those have. It was itself given the password on its own, and a
/// process that has just been made has that until it becomes what it is to be.
fn command_lines_below(pid: u32) -> Vec<String> {
    let own = command_line(&pid.to_string());
    let mut known = vec![pid.to_string()];
    let mut lines = Vec::new();
    while let Some(parent) = known.pop() {
        let tasks = format!("/proc/{parent}/task");
        for task in std::fs::read_dir(tasks).into_iter().flatten().flatten() {
            // What has ended since has no children.
            let children = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
            for child in children.split_whitespace() {
                lines.push(command_line(child));
                known.push(child.to_owned());
            }
        }
    }
    // While it becomes that, the kernel may give the beginning of the line alone.
    lines.retain(|line| !own.starts_with(line.trim_end()));
    lines
}

/// Looks again and again until this is so.
fn wait_until(running: &Running, what: &str, mut is_so: impl FnMut() -> bool) {
    while !is_so() {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", running.pid())).expect("it is our child");
        assert!(!stat.contains(") Z "), "it ended before {what}");
        clock::pause(Nanos::from_millis(1));
    }
}

/// Until a command line has this part; none that is seen meanwhile has the password.
fn wait_for_command(running: &Running, part: &str) {
    wait_until(running, part, || {
        let lines = command_lines_below(running.pid());
        lines.iter().for_each(|line| assert_untold(line, "a command line"));
        lines.iter().any(|line| line.contains(part))
    });
}

/// A server with this user, and the URL for him: his name in it is written so.
fn guarded(user: &str, written: &str) -> Option<(Server, String)> {
    let authentication = Authentication::Scram("of-the-superuser".to_owned());
    let server = server(&Options { authentication, ..Options::default() })?;
    let role = format!("CREATE ROLE \"{user}\" LOGIN CREATEDB PASSWORD '{SECRET}'");
    ask(&server, "postgres", &role);
    let url = format!("postgres://{written}:{WRITTEN}@127.0.0.1:{}/postgres?sslmode=disable", server.port());
    Some((server, url))
}

/// Also where the user's name needs escapes.
#[test]
fn a_run_is_told_its_password_and_nobody_else_is() {
    let Some((server, url)) = guarded("a@b:c", "a%40b%3Ac") else { return };
    let scratch = Scratch::new("tell-tale-password");
    let only = ["--only", "harness=truetail,workload=noop|ycsb,target=postgresql,load=closed"];
    let only = [&only[..], &["--rounds", "1", "-o", "exp"]].concat();
    let mut running = scratch.start(&[&EXPERIMENT[..], &only, &["--postgres", &url]].concat());
    wait_for_command(&running, "truetail load ");
    running.wait_for("1 of 2: round 1");
    wait_for_command(&running, "truetail run ");
    let ended = running.wait().well();
    assert_untold(&ended.stderr, "stderr");
    assert_untold(&ended.stdout, "stdout");
    assert_not_in_files(&scratch.path("exp"));
    for (harness, can_not, rounds) in told(&scratch, "exp") {
        assert_eq!(can_not, None, "{harness}");
        assert!(rounds.iter().all(|(recording, _)| recording.is_some()), "{harness}: {rounds:?}");
    }
    assert_eq!(databases(&server), Vec::<String>::new());
}

/// Loading fails, each run fails, and load tools fail that have read what they were handed over.
#[test]
fn no_failure_tells_a_password() {
    let Some((server, url)) = guarded("app", "app") else { return };
    // A table of somebody else is in each new database, and there is no room for all sessions of a run.
    ask(&server, "template1", "CREATE TABLE usertable (nobodys int)");
    ask(&server, "postgres", "ALTER ROLE app CONNECTION LIMIT 5");
    let scratch = Scratch::new("tell-tale-canary");
    let lines = scratch.path("lines").display().to_string();
    let does = format!(
        "echo \"$*\" >> {lines}\nfor word in \"$@\"; do case $word in *.properties|*.xml) \
         test -s \"$word\" && stat -c %a \"$word\" >> {lines};; esac; done\necho 'no room for it' >&2; exit 3"
    );
    let jvm = format!("Broken={}", fake_java(&scratch, "jdk", &does));
    scratch.write("benchbase.jar", "");
    let flags = ["--jvm", &jvm, "--harness", &fake_binding(&scratch), "--harness", "benchbase=benchbase.jar"];
    let only = ["--only", "workload=noop|ycsb,target=postgresql,load=closed", "--rounds", "1", "-o", "exp"];
    let failing = [&EXPERIMENT[..], &flags, &only, &["--postgres", &url]].concat();
    let ended = scratch.truetail(&failing).with_code(2);
    assert!(ended.stderr.contains("no cell could be run: "), "{ended:?}");
    assert_untold(&ended.stderr, "stderr");
    assert_untold(&ended.stdout, "stdout");
    assert_not_in_files(&scratch.path("exp"));
    // They did run, and were handed over files of their own.
    let lines = std::fs::read_to_string(scratch.path("lines")).expect("command lines");
    assert_untold(&lines, "a command line");
    assert_eq!(lines.lines().filter(|line| *line == "600").count(), 2, "{lines}");
    let told = told(&scratch, "exp");
    let of = |harness: &str| told.iter().filter(|one| one.0 == harness).collect::<Vec<_>>();
    for harness in ["truetail", "YCSB, Broken", "BenchBase, Broken"] {
        let [noop, ycsb] = &of(harness)[..] else { panic!("{told:?}") };
        let failed = noop.2.first().and_then(|round| round.1.as_deref());
        assert!(failed.is_some(), "{harness}: {noop:?}");
        let can_not = ycsb.1.as_deref().expect("the loading fails");
        assert!(can_not.starts_with("`truetail load postgres://app@127.0.0.1:"), "{can_not}");
    }
    let failed = of("truetail")[0].2[0].1.clone().expect("it failed");
    assert!(failed.starts_with("`truetail run postgres://app@127.0.0.1:"), "{failed}");
    let page = std::fs::read_to_string(scratch.path("exp/tell-tale.html")).expect("a page");
    assert!(page.contains("truetail run postgres://app@"), "the reason is shown");
    assert_eq!(databases(&server), Vec::<String>::new());
}

const COPIES: [&str; 2] = ["--only", "harness=ycsb,workload=ycsb,target=postgresql,load=closed"];

/// The directory goes away under the experiment: it ends with an error, and what it made of databases goes all the same.
#[test]
fn an_experiment_that_fails_leaves_no_database() {
    let Some(server) = server(&Options::default()) else { return };
    let scratch = Scratch::new("tell-tale-cleanup");
    let jvm =
        format!("Gone={}", fake_java(&scratch, "jdk", &format!("rm -r {}", scratch.path("exp").display())));
    let flags = ["--jvm", &jvm, "--harness", &fake_binding(&scratch), "--postgres", &server.tcp_url()];
    let ended = scratch.truetail(&[&EXPERIMENT[..], &flags, &COPIES, &["-o", "exp"]].concat()).with_code(2);
    assert!(ended.stderr.contains("can't write exp/experiment.toml"), "{ended:?}");
    assert_eq!(databases(&server), Vec::<String>::new());
}

#[test]
fn two_experiments_on_one_server_leave_each_other_alone() {
    let Some(server) = server(&Options::default()) else { return };
    let scratch = Scratch::new("tell-tale-two");
    let (began, go) = (scratch.path("began"), scratch.path("go"));
    let waits =
        format!("touch {}; until test -e {}; do sleep 0.01; done; exit 3", began.display(), go.display());
    let binding = fake_binding(&scratch);
    let arguments = |jvm: &str, does: &str, out: &str| -> Vec<String> {
        let jvm = format!("Fake={}", fake_java(&scratch, jvm, does));
        let flags = ["--jvm", &jvm, "--harness", &binding, "--postgres", &server.tcp_url(), "--rounds", "1"];
        [&EXPERIMENT[..], &flags, &COPIES, &["-o", out]].concat().into_iter().map(str::to_owned).collect()
    };
    let start =
        |arguments: &[String]| scratch.start(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    let mut first = start(&arguments("jdk-1", &waits, "exp-1"));
    first.wait_for("1 of 1: round 1");
    wait_until(&first, "its harness", || began.exists());
    let of_first = databases(&server);
    assert_eq!(of_first.len(), 2, "{of_first:?}");
    let second = start(&arguments("jdk-2", "exit 3", "exp-2")).wait().with_code(2);
    assert!(second.stderr.contains("1 of 1: round 1"), "{second:?}");
    assert_eq!(databases(&server), of_first);
    scratch.write("go", "");
    first.wait().with_code(2);
    assert_eq!(databases(&server), Vec::<String>::new());
}
