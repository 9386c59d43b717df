//! Bindings of YCSB as targets: what is asked, what their JVM leaves in the recording, and what must not be there.

use crate::program::{Scratch, brief, events, files};
use record::EventKind;

const SECRET: &str = "Tr0mbone-in-the-wings";

fn url(class: &str, jars: &str, options: &str) -> String {
    format!("ycsb-db:{class}?jar={jars}{options}")
}

fn fact<'a>(facts: &'a [(String, String)], name: &str) -> &'a str {
    let found = facts.iter().find(|(n, _)| n == name);
    found.unwrap_or_else(|| panic!("no {name} in {facts:?}")).1.as_str()
}

#[test]
fn a_binding_is_pinged_by_default_and_its_jvm_is_watched() {
    let Some(jars) = testkit::ycsb::class_path() else { return };
    let scratch = Scratch::new("ycsb-db");
    for transport in ["unix", "tcp"] {
        let options = format!(
            "&transport={transport}&p.db.passwd={SECRET}&p.db.url=jdbc:x:%3Fpassword={SECRET}&p.shown=yes&jvm=-Xmx300m"
        );
        let url = url("truetail.ycsb.MemoryClient", &jars, &options);
        let ended = scratch.truetail(&brief(&[&url, "-r", "500/s", "-c", "2", "-o", transport])).judged();
        assert!(ended.first_line().contains("noop on truetail.ycsb.MemoryClient"), "{ended:?}");
        assert!(!format!("{ended:?}").replace(&url, "").contains(SECRET), "{ended:?}");
        assert!(scratch.rows(transport).iter().all(|row| row.outcome == "ok"), "{ended:?}");
        let recording = scratch.recording(transport);
        let facts = &recording.header().target_facts;
        for (name, value) in [
            ("version", "YCSB 0.17.0"),
            ("transport", transport),
            ("driver", "foreign library"),
            ("kernel stamps", if transport == "tcp" { "true" } else { "false" }),
            ("helper JVM's arguments", "-Xmx300m"),
            ("property shown", "yes"),
        ] {
            assert_eq!(fact(facts, name), value);
        }
        let logs = &recording.end().expect("an end").jvm_logs;
        assert_eq!(logs.len(), 1, "{logs:?}");
        assert_eq!((logs[0].subject.as_str(), logs[0].trouble.as_deref()), ("harness JVM", None));
        assert!(logs[0].file.ends_with("driver-jvm.log"), "{logs:?}");
        // Once the run has ended nobody is left.
        assert!(!std::path::Path::new("/proc").join(fact(facts, "helper JVM's process")).exists());
    }
    for file in ["unix", "tcp"].iter().flat_map(|name| files(&scratch.path(name))) {
        let bytes = std::fs::read(&file).expect("a file of the recording");
        let found = bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes());
        assert!(!found, "the password is in {}", file.display());
    }
}

#[test]
fn what_can_not_be_driven_is_refused_in_a_line() {
    let Some(jars) = testkit::ycsb::class_path() else { return };
    let scratch = Scratch::new("ycsb-db-refusals");
    for (url, named) in [
        ("ycsb-db:site.ycsb.BasicDB".to_owned(), &["no jars", "?jar="][..]),
        (url("site.ycsb.BasicDB", &jars, "&p.fieldcount=3"), &["p.fieldcount", "the workload's"]),
        (url("site.ycsb.BasicDB", &jars, "&p.recordcount=3&p.x.secret=c0nceal"), &["p.recordcount"]),
        (url("site.ycsb.BasciDB", &jars, ""), &["site.ycsb.BasciDB", "did you mean site.ycsb.BasicDB?"]),
        (url("site.ycsb.BasicDB", &jars, "&java=/nowhere/java"), &["/nowhere/java", "JDK of 11"]),
    ] {
        let ended = scratch.truetail(&brief(&[&url, "-o", "a"]));
        assert!(!ended.stderr.contains("c0nceal"), "{ended:?}");
        ended.refused(named);
        assert!(!scratch.path("a").exists(), "{named:?}: what a JVM logged is left");
    }
}

#[test]
fn a_jvm_that_dies_ends_its_sessions_and_the_recording_says_so() {
    let Some(jars) = testkit::ycsb::class_path() else { return };
    let scratch = Scratch::new("ycsb-db-dies");
    let url = url("truetail.ycsb.MemoryClient", &jars, "");
    let load = ["-r", "200/s", "-d", "300s", "--warmup", "0s", "-c", "2", "--report-interval", "250ms"];
    let mut running = scratch.start(&[&["run", &url, "-o", "a"], &load[..]].concat());
    running.wait_for_views(3);
    let header = std::fs::read_to_string(scratch.path("a/run.toml")).expect("a header");
    let (_, rest) = header.split_once("helper JVM's process\", \"").expect("its process");
    let pid: i32 = rest.split_once('"').expect("its end").0.parse().expect("a number");
    // SAFETY: `kill` takes plain numbers; the process is a child of the run, which has not ended.
    assert_eq!(unsafe { libc::kill(pid, libc::SIGKILL) }, 0);
    running.wait_for("errors ");
    running.signal(libc::SIGINT);
    running.wait().judged();
    assert!(scratch.rows("a").iter().any(|row| row.outcome == "connection-lost"));
    let lost = events(&scratch.recording("a"), EventKind::ConnectionLost);
    assert!(lost.iter().any(|event| event.detail.contains("the helper JVM ended (signal: 9")), "{lost:?}");
}

/// What the bridge itself costs is what its ping takes, which asks the class for nothing.
#[test]
fn the_bridge_has_a_floor() {
    let Some(jars) = testkit::ycsb::class_path() else { return };
    let scratch = Scratch::new("ycsb-db-floor");
    let url = url("truetail.ycsb.MemoryClient", &jars, "");
    let ended = scratch.truetail(&["floor", &url, "-r", "300/s", "-c", "2", "--time", "4s", "-o", "f"]);
    assert!(matches!(ended.code, Some(0 | 3)), "{ended:?}");
    let parts: Vec<_> =
        ["null", "echo", "noop-ping"].map(|part| scratch.recording(&format!("f/{part}"))).into();
    assert!(parts[2].header().target.starts_with("ycsb-db:truetail.ycsb.MemoryClient"), "{ended:?}");
    assert!(parts[2].header().operations.iter().any(|operation| operation == "NoOp"), "{ended:?}");
}
