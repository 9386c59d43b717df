//! Starting the program, and reading what it left behind.

use record::{Event, EventKind, Recording};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};

/// A directory for one test, removed at its end; the program runs in it.
pub(crate) struct Scratch {
    directory: PathBuf,
}

impl Scratch {
    /// `name` is the test's own.
    pub(crate) fn new(name: &str) -> Scratch {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&directory); // of an earlier test with the same process id
        std::fs::create_dir_all(&directory).expect("a scratch directory");
        Scratch { directory }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("a file in the scratch directory");
    }

    /// Runs the program to its end.
    pub(crate) fn truetail(&self, arguments: &[&str]) -> Ended {
        self.run(&mut self.command(arguments))
    }

    /// Runs a command that [`Scratch::command`] made to its end.
    pub(crate) fn run(&self, command: &mut Command) -> Ended {
        let output = command.output().expect("the program starts");
        let arguments: Vec<_> = command.get_args().map(|a| a.to_string_lossy().into_owned()).collect();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        let ended = Ended {
            arguments: arguments.join(" "),
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        };
        assert!(ended.code.is_some(), "ended by a signal: {ended:?}");
        assert!(!ended.stderr.contains("panicked"), "{ended:?}");
        ended
    }

    /// Starts the program and goes on.
    pub(crate) fn start(&self, arguments: &[&str]) -> Running {
        let mut child = self.command(arguments).spawn().expect("the program starts");
        let lines = BufReader::new(child.stderr.take().expect("stderr is piped"));
        let results = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let (said, printed) = (String::new(), String::new());
        Running { child, lines, said, results, printed, arguments: arguments.join(" ") }
    }

    /// The program with these arguments, for whoever wants to change more of how it starts.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_truetail"));
        command.args(arguments).current_dir(&self.directory);
        command.env_remove("PGPASSWORD").env_remove("PGPASSFILE").env_remove("REDISCLI_AUTH");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// A recording below the directory.
    pub(crate) fn recording(&self, name: &str) -> Recording {
        Recording::open(self.path(name)).expect("a recording")
    }

    /// The rows of a recording in the order of their numbers.
    pub(crate) fn rows(&self, name: &str) -> Vec<Row> {
        let csv = self.truetail(&["export", name]).well().stdout;
        let mut rows: Vec<Row> = csv.lines().skip(1).map(Row::read).collect();
        rows.sort_by_key(|row| row.seq);
        rows
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = std::fs::remove_dir_all(&self.directory); // what is left is in the target directory
        }
    }
}

/// What a command gave back.
#[derive(Debug)]
pub(crate) struct Ended {
    arguments: String,
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ended {
    /// It was done, whatever the verdict; the exit code agrees with a verdict on the page.
    pub(crate) fn judged(self) -> Ended {
        let invalid =
            self.stdout.contains("\nverdict invalid") || self.stdout.contains("\"state\": \"invalid\"");
        assert_eq!(self.code, Some(if invalid { 3 } else { 0 }), "{self:?}");
        self
    }

    /// It ended with 0.
    pub(crate) fn well(self) -> Ended {
        self.with_code(0)
    }

    pub(crate) fn with_code(self, code: i32) -> Ended {
        assert_eq!(self.code, Some(code), "truetail {}: {self:?}", self.arguments);
        self
    }

    /// Its stdout is one JSON document that names its schema.
    pub(crate) fn json(&self) -> Value {
        let document: Value = serde_json::from_str(&self.stdout)
            .unwrap_or_else(|e| panic!("not one JSON document: {e}: {self:?}"));
        assert!(document["schema"].as_str().is_some_and(|s| s.starts_with("truetail.")), "{self:?}");
        document
    }

    /// It was refused with exit code 2, nothing on stdout, and one line that holds all of `named`.
    pub(crate) fn refused(self, named: &[&str]) -> Ended {
        assert_eq!(self.code, Some(2), "{self:?}");
        assert_eq!(self.stdout, "", "{self:?}");
        assert_eq!(self.stderr.lines().count(), 1, "{self:?}");
        assert!(self.stderr.starts_with("truetail: "), "{self:?}");
        for word in named {
            assert!(self.stderr.contains(word), "no `{word}` in {self:?}");
        }
        self
    }

    /// The arguments of the commands that it names; none of them has a space.
    pub(crate) fn commands(&self) -> Vec<Vec<String>> {
        let commands = self.stderr.split('`').flat_map(|text| text.split(" && "));
        let arguments = commands.filter_map(|text| text.strip_prefix("truetail "));
        arguments.map(|text| text.split(' ').map(|word| word.replace('\'', "")).collect()).collect()
    }

    /// The same after a while: its last line says why.
    pub(crate) fn refused_at_last(self, named: &[&str]) -> Ended {
        assert_eq!((self.code, self.stdout.as_str()), (Some(2), ""), "{self:?}");
        let last = self.stderr.lines().last().unwrap_or("");
        assert!(last.starts_with("truetail: ") && named.iter().all(|word| last.contains(word)), "{self:?}");
        self
    }

    pub(crate) fn first_line(&self) -> &str {
        self.stdout.lines().next().unwrap_or("")
    }
}

/// A command that still runs.
pub(crate) struct Running {
    child: Child,
    lines: BufReader<ChildStderr>,
    said: String,
    results: BufReader<ChildStdout>,
    printed: String,
    arguments: String,
}

impl Running {
    /// Waits until stdout has printed a line with `part`; the line.
    pub(crate) fn wait_for_result(&mut self, part: &str) -> String {
        loop {
            let mut line = String::new();
            let read = self.results.read_line(&mut line).expect("UTF-8 on stdout");
            assert!(read > 0, "{} ended before it printed `{part}`: {}", self.arguments, self.printed);
            self.printed.push_str(&line);
            if line.contains(part) {
                return line;
            }
        }
    }

    /// Waits until stderr has said a line with `part`; the line.
    pub(crate) fn wait_for(&mut self, part: &str) -> String {
        loop {
            let mut line = String::new();
            let read = self.lines.read_line(&mut line).expect("UTF-8 on stderr");
            assert!(read > 0, "{} ended before it said `{part}`: {}", self.arguments, self.said);
            self.said.push_str(&line);
            if line.contains(part) {
                return line;
            }
        }
    }

    /// Waits for `count` lines of the live view; the last one.
    pub(crate) fn wait_for_views(&mut self, count: usize) -> String {
        (0..count).map(|_| self.wait_for(" achieved ")).last().expect("at least one line")
    }

    pub(crate) fn signal(&self, signal: libc::c_int) {
        let pid = i32::try_from(self.pid()).expect("a process id");
        // SAFETY: `kill` takes plain numbers; the child is ours and not waited for, so its id is its own.
        assert_eq!(unsafe { libc::kill(pid, signal) }, 0);
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Its threads at present: (name, CPUs that it may use, as the kernel lists them).
    pub(crate) fn threads(&self) -> Vec<(String, String)> {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.pid())).expect("its threads");
        let threads = tasks.filter_map(|task| {
            let path = task.expect("a thread").path();
            // One that ends while this looks is none any more.
            let name = std::fs::read_to_string(path.join("comm")).ok()?.trim().to_owned();
            let status = std::fs::read_to_string(path.join("status")).ok()?;
            let cpus = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
            Some((name, cpus.trim().to_owned()))
        });
        threads.collect()
    }

    /// Waits for the end; `None` as a code is a signal.
    pub(crate) fn wait(mut self) -> Ended {
        self.results.read_to_string(&mut self.printed).expect("UTF-8");
        self.lines.read_to_string(&mut self.said).expect("UTF-8");
        let status = self.child.wait().expect("the program ends");
        Ended { arguments: self.arguments, code: status.code(), stdout: self.printed, stderr: self.said }
    }
}

/// One line of the CSV export.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Row {
    pub(crate) seq: u64,
    pub(crate) client: u16,
    pub(crate) session: Option<u16>,
    pub(crate) phase: String,
    pub(crate) operation: String,
    pub(crate) outcome: String,
    pub(crate) intended: Option<u64>,
    pub(crate) sent: Option<u64>,
    pub(crate) completed: Option<u64>,
    pub(crate) response: Option<u64>,
    pub(crate) service: Option<u64>,
}

/// The columns of the CSV export.
pub(crate) const COLUMNS: &str = "seq,client,session,phase,operation,outcome,retries,intended_ns,ready_ns,\
    sent_ns,arrived_ns,completed_ns,response_time_ns,service_time_ns";

impl Row {
    fn read(line: &str) -> Row {
        let fields = fields(line);
        assert_eq!(fields.len(), COLUMNS.split(',').count(), "{line}");
        let number =
            |index: usize| (!fields[index].is_empty()).then(|| fields[index].parse().expect("a number"));
        Row {
            seq: number(0).expect("a sequence number"),
            client: fields[1].parse().expect("a client"),
            session: (!fields[2].is_empty()).then(|| fields[2].parse().expect("a session")),
            phase: fields[3].clone(),
            operation: fields[4].clone(),
            outcome: fields[5].clone(),
            intended: number(7),
            sent: number(9),
            completed: number(11),
            response: number(12),
            service: number(13),
        }
    }
}

/// The fields of a line as RFC 4180 has them.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    for character in line.chars() {
        match character {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            other => fields.last_mut().expect("at least one").push(other),
        }
    }
    fields
}

/// The numbers of the requests are 0, 1, 2 … without a gap.
pub(crate) fn assert_contiguous(rows: &[Row]) {
    for (expected, row) in rows.iter().enumerate() {
        assert_eq!(row.seq, expected as u64, "a gap or a double in {} rows", rows.len());
    }
}

/// The events of one kind.
pub(crate) fn events(recording: &Recording, kind: EventKind) -> Vec<Event> {
    recording.events().expect("events").into_iter().filter(|e| e.kind == kind).collect()
}

/// Every file below a directory.
pub(crate) fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found
}

/// The options of a run that is over soon.
pub(crate) const BRIEF: [&str; 4] = ["-d", "1s", "--warmup", "200ms"];

/// `run` with the options of a brief run before the others.
pub(crate) fn brief<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["run"], &BRIEF[..], more].concat()
}
