//! What goes wrong: every failure has its class and its words, in one line and without secrets.

use driver::{Command, Direct, Fields, KeyValue, OpError, Reply, Session, Target, TargetUrl};
use driver_ycsb::{YcsbSession, YcsbTarget};
use std::path::Path;
use units::Outcome;

const SECRET: &str = "c0nceal";
const TABLE: &str = "usertable";

fn target(class: &str, jars: &str, options: &str) -> YcsbTarget {
    let text = format!("ycsb-db:{class}?jar={jars}&p.memory.password={SECRET}{options}");
    YcsbTarget::from_url(&TargetUrl::parse(&text).unwrap()).unwrap()
}

fn memory(jars: &str) -> YcsbTarget {
    target("truetail.ycsb.MemoryClient", jars, "")
}

/// The error of connecting and whether it is transient; that of administration is the same.
fn refusal(target: &YcsbTarget) -> (String, bool) {
    let (Err(error), Err(other)) = (target.connect(&[], None), target.administer()) else {
        panic!("connected");
    };
    assert_eq!(error, other);
    assert!(!error.message.contains('\n') && !error.message.contains(SECRET), "{error}");
    (error.message, error.transient)
}

fn read(session: &mut YcsbSession, key: &str) -> Result<Reply, OpError> {
    Direct::new(session).ask(Command::KeyValue(KeyValue::Read { table: TABLE, key, fields: Fields::All }))
}

/// A record whose reading does what `fault` says.
fn plant(session: &mut YcsbSession, fault: &str) {
    let insert = KeyValue::Insert { table: TABLE, key: fault, fields: &[("fault", fault)] };
    assert!(Direct::new(session).ask(Command::KeyValue(insert)).is_ok());
}

/// The helper JVM's process.
fn process(target: &YcsbTarget) -> u32 {
    let facts = target.administer().unwrap().facts().unwrap();
    let pid = facts.settings.iter().find(|(name, _)| name == "helper JVM's process");
    pid.expect("its process is a fact").1.parse().unwrap()
}

#[test]
fn what_can_not_be_had_is_told_with_the_next_step() {
    let Some(jars) = testkit::ycsb::class_path() else { return };
    for (class, options, words) in [
        ("truetail.ycsb.MemoryClinet", "", "did you mean truetail.ycsb.MemoryClient?"),
        ("site.ycsb.BasicDb", "", "did you mean site.ycsb.BasicDB?"),
        ("truetail.ycsb.JvmAnchor", "", "does not extend site.ycsb.DB"),
        ("site.ycsb.BasicDB", "&java=/nowhere/java", "`/nowhere/java` can't be started"),
        ("site.ycsb.BasicDB", "&jvm=-XX:NoSuchFlag", "NoSuchFlag"),
    ] {
        let (message, transient) = refusal(&target(class, &jars, options));
        assert!(message.contains(words) && !transient, "{class}{options}: {message}");
    }
    let here = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
    let (message, transient) = refusal(&target("site.ycsb.BasicDB", here, ""));
    assert!(
        message.contains("YCSB's core is not among the jars; name it in ?jar=") && !transient,
        "{message}"
    );
    // A database that refuses may be there later.
    let refusing = "&p.memory.refuse=connection%20refused%20for%20";
    let (message, transient) = refusal(&target("truetail.ycsb.MemoryClient", &jars, refusing));
    let words =
        "`init` of truetail.ycsb.MemoryClient refuses: site.ycsb.DBException: connection refused for …; see";
    assert!(message.contains(words) && transient, "{message}");
}

#[test]
fn statuses_and_exceptions_have_their_class() {
    let Some(jars) = testkit::ycsb::class_path() else { return };
    let target = memory(&jars);
    let mut session = target.connect(&[], None).unwrap();
    for (fault, outcome, words) in [
        ("error", Outcome::Server, "ERROR: "),
        ("unavailable", Outcome::Unavailable, "SERVICE_UNAVAILABLE: "),
        ("forbidden", Outcome::Server, "FORBIDDEN: "),
        ("absent", Outcome::Protocol, "NOT_IMPLEMENTED: "),
        ("null", Outcome::Server, "NULL: the binding returned no status"),
        (
            "throw",
            Outcome::Server,
            "EXCEPTION: java.lang.IllegalStateException: planted in two lines: java.lang.RuntimeException: …",
        ),
    ] {
        plant(&mut session, fault);
        assert_eq!(read(&mut session, fault), Err(OpError::refused(outcome)), "{fault}");
        let told = session.last_error().unwrap();
        assert!(told.starts_with(words) && !told.contains(SECRET), "{fault}: {told}");
    }
    plant(&mut session, "batched");
    assert_eq!(read(&mut session, "batched"), Ok(Reply { rows: 1, affected: 0 }));
    // An update of a record that is not there is a miss where the binding says so.
    let update = KeyValue::Update { table: TABLE, key: "nobody", fields: &[("a", "b")] };
    assert_eq!(Direct::new(&mut session).ask(Command::KeyValue(update)), Ok(Reply::default()));
    let told = target.remarks();
    assert!(told[0].0.contains("binding") && told[0].1.contains("on average over 15 calls"), "{told:?}");
}

#[test]
fn a_jvm_that_ends_loses_all_sessions_and_says_why() {
    let Some(jars) = testkit::ycsb::class_path() else { return };
    for (fault, words) in [
        ("exit", "the helper JVM ended (exit status: 3); it said: "),
        ("memory", "the helper JVM ended (exit status: 3); it said: "),
    ] {
        let target = memory(&jars);
        let (mut first, mut second) =
            (target.connect(&[], None).unwrap(), target.connect(&[], None).unwrap());
        plant(&mut first, fault);
        let lost = Err(OpError::lost(Outcome::ConnectionLost));
        assert_eq!(read(&mut first, fault), lost);
        assert_eq!(read(&mut second, "other"), lost);
        let said = if fault == "exit" { "going down with …" } else { "OutOfMemoryError" };
        for session in [&first, &second] {
            let told = session.last_error().unwrap();
            assert!(told.starts_with(words) && told.contains(said) && !told.contains(SECRET), "{told}");
        }
        assert_eq!(first.stage(Command::Ping), Err(OpError::lost(Outcome::ConnectionLost)));
        let (message, transient) = refusal(&target);
        assert!(message.ends_with("it is not started again within a run") && !transient, "{message}");
    }
}

/// As after a timeout: its thread is still in the class, and no answer of it reaches anybody.
#[test]
fn a_session_that_is_given_up_disturbs_no_other() {
    let Some(jars) = testkit::ycsb::class_path() else { return };
    let target = memory(&jars);
    let mut session = target.connect(&[], None).unwrap();
    plant(&mut session, "hang");
    let hang = KeyValue::Read { table: TABLE, key: "hang", fields: Fields::All };
    session.stage(Command::KeyValue(hang)).unwrap();
    assert!(session.poll_reply().is_pending());
    drop(session);
    let mut next = target.connect(&[], None).unwrap();
    for _ in 0..100 {
        assert_eq!(read(&mut next, "nobody"), Ok(Reply::default()));
    }
}

#[test]
fn secrets_are_on_no_command_line_and_the_jvm_goes_with_its_target() {
    let Some(jars) = testkit::ycsb::class_path() else { return };
    for transport in ["unix", "tcp"] {
        let target = target("truetail.ycsb.MemoryClient", &jars, &format!("&transport={transport}"));
        let session = target.connect(&[], None).unwrap();
        let directory = Path::new("/proc").join(process(&target).to_string());
        for file in ["cmdline", "environ"] {
            let bytes = std::fs::read(directory.join(file)).unwrap();
            let text = String::from_utf8_lossy(&bytes);
            assert!(!text.contains(SECRET), "{file}");
            assert!(file == "environ" || text.contains("truetail.bridge.Bridge"), "{text}");
        }
        drop(target);
        assert!(directory.exists(), "a session still needs it");
        drop(session);
        assert!(!directory.exists());
    }
}

/// On TCP anybody on this host can connect; without the token nobody is answered.
#[test]
fn strangers_are_not_let_in() {
    use std::io::{Read, Write};
    let Some(jars) = testkit::ycsb::class_path() else { return };
    let target = target("truetail.ycsb.MemoryClient", &jars, "&transport=tcp");
    let mut session = target.connect(&[], None).unwrap();
    let port = peer_port(session.descriptor().unwrap());
    let mut stranger = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
    // Sixteen zeros in place of the token, then a ping.
    let mut hello = vec![0, 0, 0, 20, 0, 0, 0, 16];
    hello.extend([0; 16]);
    hello.extend([0, 0, 0, 1, 0]);
    stranger.write_all(&hello).unwrap();
    let mut answer = Vec::new();
    // What was sent and not read makes the end of the connection a reset.
    let _ = stranger.read_to_end(&mut answer);
    assert_eq!(answer, b"");
    assert_eq!(read(&mut session, "nobody"), Ok(Reply::default()));
}

fn peer_port(fd: std::os::fd::RawFd) -> u16 {
    // SAFETY: all zeros are a valid address of this kind.
    let mut address: libc::sockaddr_in = unsafe { std::mem::zeroed() };
    let mut length = size_of_val(&address) as libc::socklen_t;
    // SAFETY: there is room for an IPv4 address, which a TCP session to 127.0.0.1 has.
    let result = unsafe { libc::getpeername(fd, (&raw mut address).cast(), &mut length) };
    assert_eq!(result, 0, "{}", std::io::Error::last_os_error());
    u16::from_be(address.sin_port)
}

/// The bridge is compiled by whatever JDK a user has: nothing in it may need a newer one than 11, or be warned of.
#[test]
fn the_bridge_is_plain_java_11() {
    let Some(jars) = testkit::ycsb::class_path() else { return };
    let (_, lib) = jars.split_once(':').unwrap();
    let core = Path::new(lib.trim_end_matches("/*")).join("core-0.17.0.jar");
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("java/truetail/bridge");
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bridge-lint");
    let mut javac = std::process::Command::new("javac");
    javac.args(["-Xlint:all", "-Xlint:-path", "-Werror", "--release", "11", "-proc:none", "-d"]).arg(out);
    javac.arg("-cp").arg(core);
    for entry in std::fs::read_dir(sources).unwrap() {
        javac.arg(entry.unwrap().path());
    }
    let output = javac.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
