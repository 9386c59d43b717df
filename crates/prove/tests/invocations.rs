//! Each ready-made invocation does what it says: the tool, from its own package, against a real server, and its report
//! read back. What a tool measures is graded elsewhere; here it must only run and be understood.

use import::Reported;
use prove::invocations::{INVOCATIONS, Invocation, Protocol, Values, expand};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A directory that is gone at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let name = format!("truetail-invocations-{}-{}", std::process::id(), name.replace([' ', '-'], "_"));
        let directory = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&directory).expect("a directory");
        Scratch(directory)
    }

    fn files(&self, beginning: &str) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&self.0).expect("the directory");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        let named = |path: &PathBuf| {
            !beginning.is_empty()
                && path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(beginning))
        };
        paths.filter(named).collect()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs a template to its end: what it printed.
fn run(template: &str, values: &Values, one: &Invocation) -> String {
    let words = expand(template, values).expect("a command line");
    let mut command = Command::new(&words[0]);
    let output = command.args(&words[1..]).stdin(Stdio::null()).output();
    let output = output.unwrap_or_else(|error| panic!("{}: {error}; {}", one.name, one.install));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {}\n{errors}", output.status);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn works(one: &Invocation, port: u16, class_path: &str) {
    let scratch = Scratch::new(&format!("{} {}", one.protocol.name(), one.name));
    one.set_up(&scratch.0).expect("its files");
    let directory: &Path = &scratch.0;
    let class_path = Some(class_path);
    let values =
        Values { host: "127.0.0.1", port, rate: 200, seconds: 1, sessions: 2, directory, class_path };
    if let Some(prepare) = one.prepare {
        run(prepare, &values, one);
    }
    let printed = run(one.command, &values, one);
    let report = import::read(one.format, &printed, &scratch.files(one.writes));
    let report = report.unwrap_or_else(|error| panic!("{}: {error}\n{printed}", one.name));
    let row: Reported =
        report.overall(one.counted_from).unwrap_or_else(|| panic!("{}: {report:?}", one.name));
    // Arrivals of pgbench and sysbench are drawn: 200 ± 14.
    let count = row.count.expect("a count");
    assert!((120..=280).contains(&count), "{}: {count} requests", one.name);
    assert!(row.mean.is_some_and(|mean| mean.0 > 1_000) && row.max >= row.mean, "{}: {row:?}", one.name);
    assert_eq!(report.errors.unwrap_or(0), 0, "{}: {report:?}", one.name);
}

#[test]
fn invocations_work_against_redis() {
    let Some(server) = testkit::redis::server(&Default::default()) else { return };
    let Some(class_path) = testkit::ycsb::class_path() else { return };
    for one in INVOCATIONS.iter().filter(|one| one.protocol == Protocol::Resp) {
        works(one, server.port(), &class_path);
    }
}

#[test]
fn invocations_work_against_postgres() {
    let Some(server) = testkit::postgres::server(&Default::default()) else { return };
    let Some(class_path) = testkit::ycsb::class_path() else { return };
    for one in INVOCATIONS.iter().filter(|one| one.protocol == Protocol::Postgres) {
        // The record set of the one before is there already.
        let again = Invocation { prepare: one.prepare.filter(|_| one.name != "YCSB intended"), ..*one };
        works(&again, server.port(), &class_path);
    }
}

/// YCSB's five operations through the binding, in both databases; its own check of what it reads finds no difference.
#[test]
fn the_ycsb_binding_keeps_what_it_is_given() {
    let Some(class_path) = testkit::ycsb::class_path() else { return };
    let Some(redis) = testkit::redis::server(&Default::default()) else { return };
    let Some(postgres) = testkit::postgres::server(&Default::default()) else { return };
    let url = format!("jdbc:postgresql://127.0.0.1:{}/postgres?sslmode=disable", postgres.port());
    let databases = [
        format!("-db truetail.ycsb.RespClient -p resp.port={}", redis.port()),
        format!("-db truetail.ycsb.PostgresClient -p postgres.create=true -p postgres.url={url}"),
    ];
    for database in databases {
        let client = |phase: &str| {
            let line = format!(
                "-cp {class_path} site.ycsb.Client {phase} {database} -threads 2 -p recordcount=300 \
                 -p workload=site.ycsb.workloads.CoreWorkload -p operationcount=600 -p dataintegrity=true \
                 -p readproportion=0.3 -p updateproportion=0.3 -p insertproportion=0.2 -p scanproportion=0.1 \
                 -p readmodifywriteproportion=0.1 -p maxscanlength=20 -p measurement.interval=both"
            );
            let output = Command::new("java").args(line.split_whitespace()).stdin(Stdio::null()).output();
            let output = output.expect("java runs");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let printed = String::from_utf8_lossy(&output.stdout);
            import::read(import::Format::Ycsb, &printed, &[])
                .unwrap_or_else(|error| panic!("{error}\n{printed}"))
        };
        assert_eq!(client("-load").errors, Some(0), "{database}");
        let report = client("-t");
        assert_eq!(report.errors, Some(0), "{database}: {report:?}");
        let row = |measure: &str| report.rows.iter().find(|row| row.measure == measure).expect("measured");
        for measure in ["READ", "UPDATE", "INSERT", "SCAN", "READ-MODIFY-WRITE", "Intended-READ"] {
            assert!(row(measure).count > Some(0), "{database}: {measure}");
        }
        assert_eq!(
            row("VERIFY").returns,
            [("OK".to_owned(), row("VERIFY").count.expect("counted"))],
            "{database}"
        );
    }
}
