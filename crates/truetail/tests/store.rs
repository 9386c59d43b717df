//! `truetail store` as its users meet it: started as a process, asked over plain sockets, ended by a signal.

#[path = "cli/program.rs"]
#[expect(dead_code, reason = "shared with the tests of the other commands, which need more of it")]
mod program;

use program::Scratch;
use record::{TruthLog, TruthRow};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdout};
use testkit::documented::Schema;

/// A store on free ports.
struct Store {
    child: Child,
    lines: BufReader<ChildStdout>,
    listening: Value,
}

impl Store {
    fn start(scratch: &Scratch, more: &[&str]) -> Store {
        let words = [&["store", "--json", "--resp", "0", "--postgres", "0"], more].concat();
        let mut child = scratch.command(&words).spawn().expect("the program starts");
        let mut lines = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let listening = document(&mut lines);
        assert_eq!(listening["event"], "listening");
        Store { child, lines, listening }
    }

    fn connect(&self, protocol: &str) -> TcpStream {
        let address = self.listening[protocol][0].as_str().expect("an address");
        TcpStream::connect(address).expect("a connection")
    }

    fn resp(&self) -> Client {
        Client { replies: BufReader::new(self.connect("resp")) }
    }

    /// A value of `TRUETAIL status`, which is no request itself.
    fn status(&self, name: &str) -> u64 {
        let status = self.resp().ask("TRUETAIL status");
        let value = status.split_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
        value.unwrap_or_else(|| panic!("no {name} in {status}")).parse().expect("a number")
    }

    fn signal(&self, signal: libc::c_int) {
        let pid = i32::try_from(self.child.id()).expect("a process id");
        // SAFETY: `kill` takes plain numbers; the child is ours and not waited for, so its id is its own.
        assert_eq!(unsafe { libc::kill(pid, signal) }, 0);
    }

    /// Memory that it has in RAM, in KiB.
    fn resident_kib(&self) -> u64 {
        let path = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(path).expect("its status");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("VmRSS");
        line.split_whitespace().next().and_then(|kib| kib.parse().ok()).expect("a number")
    }

    /// Its second document; the exit code is 0 and nothing else is printed.
    fn end(mut self) -> Value {
        let ended = document(&mut self.lines);
        let mut rest = String::new();
        self.lines.read_to_string(&mut rest).expect("UTF-8");
        assert_eq!(rest, "");
        assert_eq!(self.child.wait().expect("it ends").code(), Some(0));
        assert_eq!(ended["event"], "ended");
        let differences =
            Schema::new("truetail.store/1").differences(&[self.listening.take(), ended.clone()]);
        // Fields of what a store without settings or a truth log lacks are described, and not here.
        let differences: Vec<_> =
            differences.into_iter().filter(|line| !line.contains("which no ")).collect();
        assert_eq!(differences, Vec::<String>::new());
        ended
    }

    fn terminated(self) -> Value {
        self.signal(libc::SIGTERM);
        self.end()
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // Of a test that failed before the end; an error says that it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The next line, which is a document.
fn document(lines: &mut impl BufRead) -> Value {
    let mut line = String::new();
    lines.read_line(&mut line).expect("UTF-8");
    serde_json::from_str(&line).unwrap_or_else(|error| panic!("`{line}` is no document: {error}"))
}

/// Speaks RESP without any library.
struct Client {
    replies: BufReader<TcpStream>,
}

impl Client {
    fn send(&mut self, bytes: &[u8]) {
        self.replies.get_mut().write_all(bytes).expect("the store reads");
    }

    /// One command, its words parted by spaces, and its answer: a line, or the text of a bulk string.
    fn ask(&mut self, command: &str) -> String {
        let words: Vec<String> =
            command.split(' ').map(|word| format!("${}\r\n{word}\r\n", word.len())).collect();
        self.send(format!("*{}\r\n{}", words.len(), words.concat()).as_bytes());
        self.reply().unwrap_or_else(|| panic!("no answer to {command}"))
    }

    /// An answer, or `None` where the store has closed the connection.
    fn reply(&mut self) -> Option<String> {
        let line = self.line()?;
        match line.strip_prefix('$') {
            Some("-1") => Some("nothing".to_owned()),
            Some(length) => {
                let mut text = vec![0; length.parse::<usize>().expect("a length") + 2];
                self.replies.read_exact(&mut text).ok()?;
                Some(String::from_utf8(text).expect("UTF-8").trim_end().to_owned())
            }
            None => Some(line),
        }
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        // A reset is an end, too: bytes that the store did not read any more.
        let read = self.replies.read_line(&mut line).unwrap_or(0);
        (read > 0).then(|| line.trim_end().to_owned())
    }

    /// Reads to the end of the connection.
    fn is_closed(&mut self) -> bool {
        std::iter::from_fn(|| self.line()).all(|line| line.starts_with('-'))
    }
}

fn rows(log: &TruthLog) -> Vec<TruthRow> {
    let mut rows = Vec::new();
    log.scan(|part| rows.extend_from_slice(part));
    rows.sort_by_key(|row| row.seq);
    rows
}

#[test]
fn what_was_asked_is_what_is_counted_and_logged() {
    let scratch = Scratch::new("store-counts");
    let store = Store::start(&scratch, &["--truth", "truth", "--capacity", "100000/s"]);
    assert_eq!(store.listening["settings"][0]["name"], "capacity");
    let mut client = store.resp();
    assert_eq!(client.ask("PING"), "+PONG");
    assert_eq!(client.ask("SET a 12"), "+OK");
    assert_eq!(client.ask("GET a"), "12");
    assert_eq!(client.ask("GET b"), "nothing");
    assert_eq!(client.ask("DEL a"), ":1");
    assert_eq!(store.status("requests"), 5);
    let ended = store.terminated();
    assert_eq!(ended["requests"]["answered"], 5);
    assert_eq!(ended["requests"]["unanswered"], 0);
    assert_eq!(ended["connections"]["accepted"], 2);
    assert_eq!(ended["connections"]["refused"], 0);
    assert_eq!(ended["connections"]["closed_for_what_they_sent"], 0);
    assert!(ended["own_lateness"]["max"].is_u64(), "{ended}");
    assert_eq!((&ended["truth"]["rows"], &ended["truth"]["missing"]), (&5.into(), &0.into()));

    let log = TruthLog::open(scratch.path("truth")).expect("a truth log");
    let rows = rows(&log);
    let operations = rows.iter().map(|row| log.header().operations[usize::from(row.operation)].as_str());
    assert_eq!(operations.collect::<Vec<_>>(), ["ping", "update", "read", "read", "delete"]);
    let keys: Vec<_> = rows.iter().map(|row| row.key).collect();
    assert!(keys[0].is_none() && keys[1].is_some(), "{keys:?}");
    assert!(keys[1] == keys[2] && keys[1] != keys[3] && keys[1] == keys[4], "{keys:?}");
    for row in &rows {
        assert!(row.arrived <= row.begun && row.begun <= row.due && row.due <= row.written, "{row:?}");
    }
}

#[test]
fn a_service_time_is_waited_for() {
    let scratch = Scratch::new("store-service");
    let store = Store::start(&scratch, &["--truth", "truth", "--service", "read=20ms"]);
    let mut client = store.resp();
    client.ask("SET a 1");
    let clock = clock::calibrate(clock::ClockChoice::Monotonic).expect("a clock").start();
    let before = clock::Clock::now(&clock);
    assert_eq!(client.ask("GET a"), "1");
    let waited = clock.nanos_in(clock::Clock::now(&clock).0 - before.0);
    assert!(waited >= units::Nanos::from_millis(20), "{waited:?}");
    store.terminated();
    let rows = rows(&TruthLog::open(scratch.path("truth")).expect("a truth log"));
    let services: Vec<u64> = rows.iter().filter_map(|row| Some(row.due.since(row.begun)?.0)).collect();
    assert_eq!(services, [0, 20_000_000]);
}

#[test]
fn it_ends_when_its_time_is_over() {
    let scratch = Scratch::new("store-duration");
    let ended = Store::start(&scratch, &["--duration", "1s"]).end();
    assert_eq!(ended["requests"]["answered"], 0);
    assert!(ended["own_lateness"].is_null() && ended["truth"].is_null(), "{ended}");
}

#[test]
fn what_can_not_be_is_refused_in_one_line() {
    let scratch = Scratch::new("store-refused");
    std::fs::create_dir(scratch.path("full")).expect("a directory");
    scratch.write("full/thing", "mine");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = taken.local_addr().expect("its address").to_string();
    let cases: &[(&[&str], &[&str])] = &[
        (&["--capacity", "-1"], &["--capacity", "-1", "above 0"]),
        (&["--hiccup", "x"], &["--hiccup x", "1s@30s"]),
        (&["--fault", "x"], &["--fault x", "delay:800ms@"]),
        (&["--resp", "host:"], &["--resp host:", "no port", "0..65535"]),
        (&["--resp", "none", "--postgres", "none"], &["--resp none --postgres none", "address"]),
        (&["--resp", &taken], &["--resp", &taken, "port 0"]),
        (&["--replicas", "0"], &["replicas 0", "1 to 64"]),
        (&["--replicas", "3", "--ack", "5"], &["acknowledgement `5`", "5 of 3"]),
        (&["--truth", "full"], &["full", "not empty"]),
        (&["--max-connections", "0"], &["--max-connections 0", "from 1"]),
        (&["--service", "soon"], &["--service soon", "1ms"]),
        (&["--duration", "x"], &["--duration", "x"]),
    ];
    for (flags, named) in cases {
        let free = ["store", "--json", "--resp=0", "--postgres=0"];
        let free = free.iter().filter(|word| !flags.iter().any(|flag| word.starts_with(&format!("{flag}="))));
        let words: Vec<&str> = free.chain(*flags).copied().collect();
        scratch.truetail(&words).refused(named);
    }
}

#[test]
fn a_fault_that_is_given_while_it_runs_acts_once() {
    let scratch = Scratch::new("store-fault");
    let store = Store::start(&scratch, &[]);
    let (mut one, mut other) = (store.resp(), store.resp());
    assert_eq!((one.ask("PING"), other.ask("PING")), ("+PONG".to_owned(), "+PONG".to_owned()));
    assert_eq!(one.ask("TRUETAIL fault drop:before@next"), "armed drop:before@next");
    one.send(b"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n1\r\n");
    assert_eq!(one.reply(), None);
    assert_eq!(other.ask("GET a"), "nothing", "it was dropped before it was executed");
    assert_eq!(store.resp().ask("PING"), "+PONG");
    assert_eq!((store.status("fault"), store.status("faults-waiting")), (1, 0));
    let ended = store.terminated();
    assert_eq!((&ended["requests"]["answered"], &ended["requests"]["unanswered"]), (&4.into(), &1.into()));
    assert_eq!(ended["connections"]["closed_for_what_they_sent"], 0);
}

/// An end of this side and one of the other for each connection; the store is a process of its own with the same limit.
#[test]
fn ten_thousand_connections_live_side_by_side() {
    let wanted = usize::try_from(descriptors(10_000 + 200).saturating_sub(200)).expect("a count").min(10_000);
    if wanted < 10_000 {
        println!("the limit of descriptors allows {wanted} connections, and not 10,000");
    }
    let scratch = Scratch::new("store-connections");
    let store = Store::start(&scratch, &[]);
    // Who says nothing for half a minute is closed, and so many take a while to connect on a busy machine.
    let connect = |number: usize| {
        let mut client = store.resp();
        if [0, wanted / 2].contains(&number) {
            assert_eq!(client.ask("PING"), "+PONG");
        }
        client
    };
    let mut clients: Vec<Client> = (0..wanted).map(connect).collect();
    assert_eq!(clients[wanted - 1].ask("SET last 1"), "+OK");
    assert_eq!(clients[0].ask("GET last"), "1");
    assert_eq!(clients[wanted / 2].ask("PING"), "+PONG");
    let resident = store.resident_kib();
    println!("{wanted} connections: {resident} KiB");
    assert!(resident < 400 * 1024, "{resident} KiB");
    let ended = store.terminated();
    assert_eq!(ended["connections"]["accepted"], wanted);
    assert_eq!(ended["connections"]["refused"], 0);
    assert_eq!(ended["requests"]["answered"], 5);
}

/// Raises this process's limit of descriptors, which children inherit, as far as `wanted`; what it is then.
fn descriptors(wanted: libc::rlim_t) -> libc::rlim_t {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a valid structure of this type, and outlives the call.
    assert_eq!(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) }, 0);
    limit.rlim_cur = limit.rlim_cur.max(wanted).min(limit.rlim_max);
    // SAFETY: as above.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) }, 0);
    limit.rlim_cur
}

#[test]
fn connections_beyond_the_limit_are_turned_away() {
    let scratch = Scratch::new("store-limit");
    let store = Store::start(&scratch, &["--max-connections", "2"]);
    let (mut one, mut two) = (store.resp(), store.resp());
    assert_eq!((one.ask("PING"), two.ask("PING")), ("+PONG".to_owned(), "+PONG".to_owned()));
    assert!(store.resp().is_closed());
    assert_eq!(one.ask("PING"), "+PONG");
    let ended = store.terminated();
    assert_eq!((&ended["connections"]["accepted"], &ended["connections"]["refused"]), (&2.into(), &1.into()));
}

#[test]
fn what_one_client_does_wrong_ends_that_client_alone() {
    let scratch = Scratch::new("store-malformed");
    let store = Store::start(&scratch, &[]);
    let mut good = store.resp();
    assert_eq!(good.ask("PING"), "+PONG");
    let half_open = [store.connect("resp"), store.connect("postgres")];
    let malformed: [(&str, &[u8]); 6] = [
        ("resp", b"*1\r\n$99999999999\r\n"),
        ("resp", b"*1\r\nPING\r\n"),
        ("resp", b"*999999999\r\n"),
        ("postgres", b"\xff\xff\xff\xff\xff\xff\xff\xff"),
        ("postgres", b"\x00\x00\x00\x02"),
        ("postgres", b"GET / HTTP/1.1\r\n\r\n"),
    ];
    for (protocol, bytes) in malformed {
        let mut stream = store.connect(protocol);
        stream.write_all(bytes).expect("the store reads");
        // The end comes from the store: this side closes nothing. A reset is an end, too.
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert_eq!(good.ask("PING"), "+PONG", "after {}", bytes.escape_ascii());
    }
    // Half a request and an end of it, while the other direction stays open.
    let mut half = store.connect("resp");
    half.write_all(b"*2\r\n$3\r\nGET\r\n$5\r\nab").expect("the store reads");
    half.shutdown(std::net::Shutdown::Write).expect("half of it is closed");
    let mut answer = Vec::new();
    half.read_to_end(&mut answer).expect("the store closes the other half");
    assert_eq!(answer, b"");
    assert_eq!(good.ask("PING"), "+PONG");
    drop(half_open);
    assert_eq!(good.ask("PING"), "+PONG");
    let ended = store.terminated();
    assert_eq!(ended["connections"]["closed_for_what_they_sent"], 6);
    assert_eq!(ended["requests"]["answered"], 9);
}
