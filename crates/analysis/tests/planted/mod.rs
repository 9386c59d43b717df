//! A store and its client whose every instant is known: which connection is whose, and which row belongs to which sample.
#![allow(dead_code, reason = "each test uses its share")]

use clock::Anchor;
use record::{
    EndOfRun, Ending, HostFacts, LoadFacts, LoadModel, NoiseObservation, NoiseSourceFacts, PhaseFacts,
    PhaseKind, Provenance, Recording, RecordingWriter, RunHeader, Sample, TruthEnd, TruthHeader, TruthLog,
    TruthRow, TruthStaleness, TruthWriter, flags,
};
use std::collections::BinaryHeap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use units::{Instant, Nanos, Outcome, Rng, Seed, Ticks};

pub const US: u64 = 1_000;
pub const MS: u64 = 1_000_000;
pub const S: u64 = 1_000 * MS;

/// What is simulated. Times in ns.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub seed: u64,
    pub sessions: u16,
    pub requests: u64,
    /// Mean pause between an answer and the session's next request; 0: at once.
    pub think: u64,
    /// Mean service time, exponential; or constant.
    pub service: u64,
    pub exponential: bool,
    /// The gate lets one request begin in so much time; 0: no gate.
    pub gate: u64,
    /// Rows of a request: 1 to so many.
    pub rows: u64,
    /// (every, length): the store stands still.
    pub hiccup: Option<(u64, u64)>,
    /// One request of so many loses its connection; 0: none.
    pub lost_each: u64,
    /// Rows by which a new connection is set up.
    pub set_up: u64,
    /// Whether the client marks what it sends first over a new connection.
    pub marks_reconnects: bool,
    /// Connections of somebody else, who sends at random.
    pub strangers: u32,
    /// Mean delay of the network in each direction, exponential beyond 3 µs.
    pub network: u64,
    /// One answer of so many is logged late: the store was held up after it had written it.
    pub held_up_each: u64,
    /// The client's epoch comes so much after the store's.
    pub offset: u64,
    /// The store's clock is fast by so many parts per million; 0: a simulated clock, without anchors.
    pub drift_ppm: u64,
    /// The client gives up after so much; 0: never.
    pub timeout: u64,
    pub model: LoadModel,
}

impl Scenario {
    /// Eight sessions of a sleepy open load.
    pub fn calm(seed: u64) -> Scenario {
        Scenario {
            seed,
            sessions: 8,
            requests: 2_000,
            think: 3 * MS,
            service: 400 * US,
            exponential: true,
            gate: 0,
            rows: 1,
            hiccup: None,
            lost_each: 0,
            set_up: 0,
            marks_reconnects: true,
            strangers: 0,
            network: 10 * US,
            held_up_each: 500,
            offset: 5 * S,
            drift_ppm: 0,
            timeout: 0,
            model: LoadModel::Open,
        }
    }
}

/// What came of it.
pub struct Planted {
    pub header: RunHeader,
    pub samples: Vec<Sample>,
    pub truth_header: TruthHeader,
    pub rows: Vec<TruthRow>,
    pub anchors: Vec<Anchor>,
    /// Per connection, its session; `None`: somebody else's.
    pub session_of: Vec<Option<u16>>,
    /// Per row's number, the sample's; `None`: set-up, or somebody else's.
    pub sample_of: Vec<Option<u64>>,
    /// What the recording has of noise.
    pub noise_sources: Vec<NoiseSourceFacts>,
    pub noise: Vec<NoiseObservation>,
}

const WALL: u64 = 1_700_000_000_000_000_000;
const RAW: u64 = 77 * S;

struct Session {
    connection: u32,
    number: u32,
    set_up_left: u64,
    intended: u64,
    sent: u64,
    seq: u64,
    rows_left: u64,
    after_reconnect: bool,
    fresh: bool,
}

/// (inverted time, session): the next thing that a session does.
type Agenda = BinaryHeap<(std::cmp::Reverse<u64>, u16)>;

struct Simulation<'a> {
    scenario: &'a Scenario,
    rng: Rng,
    gate_free: u64,
    planted: Planted,
    sessions: Vec<Session>,
    agenda: Agenda,
    seq: u64,
}

impl Scenario {
    /// Runs it. Instants inside are nanoseconds since the store's epoch, on the raw clock.
    pub fn play(&self) -> Planted {
        let mut simulation = Simulation {
            scenario: self,
            rng: Seed(self.seed).derive("planted").rng(),
            gate_free: 0,
            planted: Planted {
                header: run_header(self),
                samples: Vec::new(),
                truth_header: truth_header(),
                rows: Vec::new(),
                anchors: Vec::new(),
                session_of: Vec::new(),
                sample_of: Vec::new(),
                noise_sources: Vec::new(),
                noise: Vec::new(),
            },
            sessions: Vec::new(),
            agenda: BinaryHeap::new(),
            seq: 0,
        };
        for number in 0..self.sessions {
            let connection = simulation.connect(Some(number));
            let begin = self.offset + simulation.exponential(self.think.max(100 * US));
            simulation.sessions.push(Session {
                connection,
                number: 0,
                set_up_left: 0,
                intended: 0,
                sent: 0,
                seq: 0,
                rows_left: 0,
                after_reconnect: false,
                fresh: true,
            });
            simulation.agenda.push((std::cmp::Reverse(begin), number));
        }
        simulation.run();
        simulation.invite_strangers();
        simulation.finish()
    }
}

impl Simulation<'_> {
    fn exponential(&mut self, mean: u64) -> u64 {
        (self.rng.exponential() * mean as f64) as u64
    }

    fn one_of(&mut self, each: u64) -> bool {
        each > 0 && self.rng.below(each) == 0
    }

    fn connect(&mut self, session: Option<u16>) -> u32 {
        self.planted.session_of.push(session);
        self.planted.session_of.len() as u32 - 1
    }

    fn run(&mut self) {
        while let Some((std::cmp::Reverse(now), number)) = self.agenda.pop() {
            let session = &mut self.sessions[usize::from(number)];
            if session.set_up_left > 0 {
                session.set_up_left -= 1;
                let answered = self.row(now, number, None).1;
                self.agenda.push((std::cmp::Reverse(answered + 300 * US), number));
                continue;
            }
            if session.rows_left == 0 {
                if self.seq >= self.scenario.requests {
                    continue;
                }
                let seq = self.seq;
                self.seq += 1;
                let rows = 1 + self.rng.below(self.scenario.rows);
                let late = self.exponential(200 * US);
                let session = &mut self.sessions[usize::from(number)];
                (session.rows_left, session.sent, session.seq) = (rows, now, seq);
                session.intended = now.saturating_sub(late).max(self.scenario.offset);
            }
            self.exchange(now, number);
        }
    }

    /// One row of a request, and what follows from it.
    fn exchange(&mut self, now: u64, number: u16) {
        let seq = self.sessions[usize::from(number)].seq;
        let lost = self.one_of(self.scenario.lost_each);
        let (due, seen) = self.row(now, number, Some(seq));
        let timeout = self.scenario.timeout;
        let sent = self.sessions[usize::from(number)].sent;
        let given_up = timeout > 0 && seen > sent + timeout;
        let session = &mut self.sessions[usize::from(number)];
        session.rows_left -= 1;
        if lost || given_up {
            let (outcome, completed) = match given_up {
                true => (Outcome::Timeout, sent + timeout),
                false => (Outcome::ConnectionLost, due + 5 * US),
            };
            if !given_up && let Some(row) = self.planted.rows.last_mut() {
                row.written = Instant::NONE;
            }
            self.complete(number, completed, seq, outcome);
            self.reconnect(number, completed);
        } else if session.rows_left > 0 {
            let next = seen + 2 * US + self.rng.below(5 * US);
            self.agenda.push((std::cmp::Reverse(next), number));
        } else {
            self.complete(number, seen, seq, Outcome::Ok);
            let next = seen + 3 * US + self.rng.below(9 * US) + self.exponential(self.scenario.think);
            self.agenda.push((std::cmp::Reverse(next), number));
        }
    }

    fn reconnect(&mut self, number: u16, at: u64) {
        let connection = self.connect(Some(number));
        let (set_up_left, after_reconnect) = (self.scenario.set_up, self.scenario.marks_reconnects);
        let session = &mut self.sessions[usize::from(number)];
        (session.connection, session.number) = (connection, 0);
        (session.set_up_left, session.rows_left) = (set_up_left, 0);
        (session.after_reconnect, session.fresh) = (after_reconnect, true);
        self.agenda.push((std::cmp::Reverse(at + 5 * MS), number));
    }

    /// A row sent now: when its answer is due, and when the client sees it.
    fn row(&mut self, now: u64, number: u16, seq: Option<u64>) -> (u64, u64) {
        let session = &mut self.sessions[usize::from(number)];
        let (connection, in_connection) = (session.connection, session.number);
        session.number += 1;
        let arrived = now + 3 * US + self.exponential(self.scenario.network);
        let mut begun = arrived;
        if self.scenario.gate > 0 {
            begun = arrived.max(self.gate_free);
            self.gate_free = begun + self.scenario.gate;
        }
        let service = match self.scenario.exponential {
            true => self.exponential(self.scenario.service),
            false => self.scenario.service,
        };
        let due = self.after_hiccups(begun, service);
        let left = due + self.rng.below(3 * US);
        let seen = left + 3 * US + self.exponential(self.scenario.network);
        let held_up = if self.one_of(self.scenario.held_up_each) { 300 * US } else { 0 };
        let row = TruthRow {
            arrived: Instant(arrived),
            begun: Instant(begun),
            due: Instant(due),
            written: Instant(left + held_up),
            seq: self.planted.rows.len() as u64,
            connection,
            number: in_connection,
            rules: u16::from(begun > arrived) | u16::from(due > begun + service) << 1,
            operation: (in_connection % 2) as u8,
            node: 0,
            stamped: true,
            staleness: (in_connection % 2 == 0).then(|| TruthStaleness {
                versions: u32::from(in_connection % 8 == 0) * 2,
                time: Nanos(u64::from(in_connection % 8 == 0) * MS),
                age: Nanos(S),
            }),
            key: None,
        };
        self.planted.rows.push(row);
        self.planted.sample_of.push(seq);
        (due, seen)
    }

    fn after_hiccups(&self, begun: u64, service: u64) -> u64 {
        let Some((every, length)) = self.scenario.hiccup else { return begun + service };
        let (mut at, mut left) = (begun, service);
        loop {
            let phase = at % every;
            if phase < length {
                at += length - phase;
                continue;
            }
            let until = every - phase;
            if left < until {
                return at + left;
            }
            (at, left) = (at + until, left - until);
        }
    }

    fn complete(&mut self, number: u16, completed: u64, seq: u64, outcome: Outcome) {
        let session = &mut self.sessions[usize::from(number)];
        let offset = self.scenario.offset;
        let flag = if session.after_reconnect && session.fresh { flags::AFTER_RECONNECT } else { 0 };
        (session.fresh, session.rows_left) = (false, 0);
        self.planted.samples.push(Sample {
            intended: Instant(session.intended - offset),
            ready: Instant(session.sent - offset),
            sent: Instant(session.sent - offset),
            arrived: Instant::NONE,
            completed: Instant(completed - offset),
            seq,
            client: 0,
            session: number,
            op: 0,
            phase: 0,
            outcome,
            retries: 0,
            flags: flag,
        });
    }

    fn invite_strangers(&mut self) {
        let (first, last) =
            (self.scenario.offset, self.planted.rows.iter().map(|r| r.due.0).max().unwrap_or(0));
        for _ in 0..self.scenario.strangers {
            let connection = self.connect(None);
            let mut at = first + self.rng.below((last - first).max(1));
            for number in 0..1 + self.rng.below(300) as u32 {
                at += self.exponential(MS) + 10 * US;
                let due = at + self.exponential(100 * US);
                if due > last {
                    break;
                }
                let seq = self.planted.rows.len() as u64;
                let (arrived, due) = (Instant(at), Instant(due));
                let row = TruthRow {
                    arrived,
                    begun: arrived,
                    due,
                    written: due,
                    seq,
                    connection,
                    number,
                    ..TruthRow::EMPTY
                };
                self.planted.rows.push(row);
                self.planted.sample_of.push(None);
                at = due.0;
            }
        }
    }

    /// Puts the store's instants on its own clock, and anchors it.
    fn finish(self) -> Planted {
        let mut planted = self.planted;
        let ppm = self.scenario.drift_ppm;
        let own = |at: Instant| if at.is_some() { Instant(at.0 + at.0 * ppm / 1_000_000) } else { at };
        for row in &mut planted.rows {
            for at in [&mut row.arrived, &mut row.begun, &mut row.due, &mut row.written] {
                *at = own(*at);
            }
        }
        // The wall clock is slewed by 40 ppm against the raw one.
        let wall = |raw: u64| WALL + raw - raw / 25_000;
        planted.header.epoch_wall_ns = WALL + self.scenario.offset;
        if ppm > 0 {
            planted.header.epoch_wall_ns = wall(self.scenario.offset);
            let end = planted.rows.iter().map(|row| row.due.0).max().unwrap_or(0) + S;
            let anchor = |raw: u64| Anchor {
                ticks: Ticks(own(Instant(raw)).0),
                monotonic_ns: RAW + raw,
                realtime_ns: wall(raw),
                slewed_ns: None,
                width_ticks: 60,
            };
            planted.anchors = (0..=end / (S / 2)).map(|n| anchor(n * S / 2)).collect();
        }
        planted.samples.sort_by_key(|sample| sample.seq);
        planted
    }
}

impl Planted {
    /// On disk, and opened again.
    pub fn open(&self, scratch: &Scratch) -> (Recording, TruthLog) {
        let (run, store) = (scratch.0.join("run"), scratch.0.join("store"));
        let mut writer = RecordingWriter::create(&run, &self.header).unwrap();
        writer.write_samples(&self.samples).unwrap();
        for source in &self.noise_sources {
            let _ = writer.noise_source(source.clone()); // numbered in this order
        }
        self.noise.iter().for_each(|observation| writer.noise(*observation));
        writer.finish(EndOfRun::new(Ending::Completed)).unwrap();
        let mut writer = TruthWriter::create(&store, &self.truth_header).unwrap();
        self.anchors.iter().for_each(|anchor| writer.anchor(*anchor));
        // In the order of the answers, as a store logs them.
        let mut rows = self.rows.clone();
        rows.sort_by_key(|row| row.written);
        writer.write_rows(&rows).unwrap();
        writer.finish(TruthEnd::new(Vec::new())).unwrap();
        (Recording::open(run).unwrap(), TruthLog::open(store).unwrap())
    }
}

fn truth_header() -> TruthHeader {
    TruthHeader {
        tool_version: "0.1.0".into(),
        command: "truetail store".into(),
        epoch_wall_ns: WALL,
        seed: 1,
        operations: vec!["read".into(), "update".into()],
        rules: vec!["queued".into(), "hiccup".into(), record::CLIENT_RULE.into()],
        settings: vec![("service".into(), "exp:400us".into())],
    }
}

fn run_header(scenario: &Scenario) -> RunHeader {
    RunHeader {
        tool_version: "0.1.0".into(),
        command: "truetail run".into(),
        client: 0,
        epoch_wall_ns: 0,
        provenance: Provenance::Simulated,
        load: LoadFacts {
            model: scenario.model,
            arrivals: "poisson".into(),
            sessions: scenario.sessions.into(),
            workers: 1,
            timeout: None,
            pacing: "simulated".into(),
            seed: scenario.seed,
        },
        phases: vec![PhaseFacts {
            name: "measured".into(),
            kind: PhaseKind::Measured,
            begin: Instant::EPOCH,
            end: Instant(S),
            offered: None,
            sessions: scenario.sessions.into(),
            mix: vec![1.0],
        }],
        operations: vec!["read".into()],
        statements: None,
        workload: "ycsb-c".into(),
        workload_facts: Vec::new(),
        target: "redis://localhost".into(),
        target_facts: Vec::new(),
        host: HostFacts::default(),
        clock_facts: Vec::new(),
        capabilities: Vec::new(),
        config: String::new(),
    }
}

/// A directory that is removed at the end of the test.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(label: &str) -> Scratch {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let root = option_env!("CARGO_TARGET_TMPDIR").map_or_else(std::env::temp_dir, PathBuf::from);
        let path = Path::new(&root).join(format!("overlay-{label}-{}-{number}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
