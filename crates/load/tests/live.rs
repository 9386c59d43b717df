//! The frozen server, live: over real sockets, compared request by request with the server's own log.

use clock::{Clock, ClockChoice, LiveClock};
use driver::{
    Administration, Command, ConnectError, Conversation, Dialect, Execution, Isolation, KernelStamp, OpError,
    Reply, Session, StatementSpec, Target, Value, ValueRef,
};
use load::arrivals::Process;
use load::{Journal, LoadSpec, Model, Pacing, Subject, Think, parse_phases};
use record::{EventKind, RawSample};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use units::{Nanos, Outcome, Seed, Ticks};
use workload::{NoTickets, Operation, Request, Tickets, Workload, WorkloadFacts};

/// Echoes 8-byte request numbers; holds all answers back while frozen; logs when it answered each.
struct EchoServer {
    address: SocketAddr,
    frozen: Arc<Mutex<()>>,
    log: Arc<Mutex<Vec<(u64, Ticks)>>>,
}

impl EchoServer {
    fn start(clock: LiveClock) -> EchoServer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let frozen = Arc::new(Mutex::new(()));
        let log = Arc::new(Mutex::new(Vec::new()));
        let (gate, written) = (Arc::clone(&frozen), Arc::clone(&log));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (gate, written) = (Arc::clone(&gate), Arc::clone(&written));
                std::thread::spawn(move || serve(stream, clock, &gate, &written));
            }
        });
        EchoServer { address, frozen, log }
    }
}

fn serve(mut stream: TcpStream, clock: LiveClock, gate: &Mutex<()>, log: &Mutex<Vec<(u64, Ticks)>>) {
    stream.set_nodelay(true).unwrap();
    let mut bytes = [0; 8];
    while stream.read_exact(&mut bytes).is_ok() {
        drop(gate.lock().unwrap());
        log.lock().unwrap().push((u64::from_le_bytes(bytes), clock.now()));
        if stream.write_all(&bytes).is_err() {
            return;
        }
    }
}

struct Echo {
    address: SocketAddr,
}

struct EchoSession {
    stream: TcpStream,
    question: Option<[u8; 8]>,
}

impl Target for Echo {
    type Session = EchoSession;
    fn execution(&self) -> Execution {
        Execution::Polled
    }
    fn dialect(&self) -> Dialect {
        Dialect::Null
    }
    fn connect(&self, _: &[StatementSpec], _: Option<Isolation>) -> Result<EchoSession, ConnectError> {
        let stream = TcpStream::connect(self.address).map_err(|e| ConnectError::transient(e.to_string()))?;
        stream.set_nodelay(true).map_err(|e| ConnectError::permanent(e.to_string()))?;
        stream.set_nonblocking(true).map_err(|e| ConnectError::permanent(e.to_string()))?;
        Ok(EchoSession { stream, question: None })
    }
    fn administer(&self) -> Result<Box<dyn Administration>, ConnectError> {
        Err(ConnectError::permanent("an echo server has nothing to administer"))
    }
}

impl Session for EchoSession {
    fn descriptor(&self) -> Option<RawFd> {
        Some(self.stream.as_raw_fd())
    }
    fn stage(&mut self, command: Command<'_>) -> Result<(), OpError> {
        let Command::Statement { arguments: &[Value::Int(number)], .. } = command else {
            return Err(OpError::refused(Outcome::Protocol));
        };
        self.question = Some(number.to_le_bytes());
        Ok(())
    }
    fn poll_reply(&mut self) -> Poll<Result<(), OpError>> {
        if let Some(bytes) = self.question.take()
            && self.stream.write_all(&bytes).is_err()
        {
            return Poll::Ready(Err(OpError::lost(Outcome::ConnectionLost)));
        }
        let mut bytes = [0; 8];
        match self.stream.read(&mut bytes) {
            Ok(8) => Poll::Ready(Ok(())),
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => Poll::Pending,
            _ => Poll::Ready(Err(OpError::lost(Outcome::ConnectionLost))),
        }
    }
    fn reply(&self, _: usize) -> Reply {
        Reply { rows: 1, affected: 0 }
    }
    fn value(&self, _: usize, _: usize, _: usize) -> Option<ValueRef<'_>> {
        None
    }
    fn arrived(&self) -> Option<KernelStamp> {
        None
    }
    fn last_error(&self) -> Option<String> {
        None
    }
}

/// Sends the request's number.
struct Numbers;

impl Workload for Numbers {
    type Plan = u64;
    fn facts(&self) -> WorkloadFacts {
        WorkloadFacts { name: "numbers".into(), scale: 1.0, parameters: vec![] }
    }
    fn operations(&self) -> Vec<Operation> {
        vec![Operation { name: "Echo", weight: 1.0 }]
    }
    fn statements(&self, _: Dialect) -> Result<Vec<StatementSpec>, String> {
        Ok(vec![])
    }
    fn tickets(&self) -> Box<dyn Tickets> {
        Box::new(NoTickets)
    }
    fn new_plan(&self) -> u64 {
        0
    }
    fn plan(&self, request: Request, plan: &mut u64) {
        *plan = request.seq;
    }
    async fn run<C: Conversation>(&self, plan: &u64, conversation: &mut C) -> Result<Outcome, OpError> {
        conversation.stage(Command::Statement { index: 0, arguments: &[Value::Int(*plan as i64)] })?;
        conversation.exchange().await?;
        Ok(Outcome::Ok)
    }
    fn dataset(&self) -> Option<&dyn workload::dataset::DataSet> {
        None
    }
    fn observe(&mut self, _: &mut dyn Administration) -> Result<(), String> {
        Ok(())
    }
}

struct Silent;

impl Journal for Silent {
    fn event(&self, _: EventKind, _: Ticks, _: Ticks, _: String, _: String) {}
}

struct Outcomes {
    samples: Vec<RawSample>,
    answered: Vec<(u64, Ticks)>,
    clock: LiveClock,
    never_sent: u64,
}

/// One live load at a time: several would take each other's CPU.
static ALONE: Mutex<()> = Mutex::new(());

/// Runs `spec` against a server that freezes from 1 s to 2 s after the start.
fn run(spec: &LoadSpec) -> Outcomes {
    run_and_stop(spec, None)
}

/// As `run`, and asks for an end after a time.
fn run_and_stop(spec: &LoadSpec, after: Option<Nanos>) -> Outcomes {
    let _alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let clock = clock::calibrate(ClockChoice::Auto).unwrap().start();
    let server = EchoServer::start(clock);
    let target = Echo { address: server.address };
    let sessions = load::connect_all(&target, &[], None, spec.sessions).unwrap();
    let rings = (0..load::rings_needed(spec, Execution::Polled)).map(|_| record::ring(1 << 16));
    let (producers, mut consumers): (Vec<_>, Vec<_>) = rings.unzip();
    let stop = AtomicBool::new(false);
    let subject = Subject { target: &target, sessions, statements: &[], isolation: None, workload: &Numbers };
    let totals = std::thread::scope(|scope| {
        scope.spawn(|| {
            clock::pause(Nanos::from_secs(1));
            let _frozen = server.frozen.lock().unwrap();
            clock::pause(Nanos::from_secs(1));
        });
        scope.spawn(|| {
            if let Some(after) = after {
                clock::pause(after);
                stop.store(true, Ordering::Relaxed);
            }
        });
        load::run(subject, spec, clock, producers, &Silent, &stop).unwrap()
    });
    stop.store(true, Ordering::Relaxed);
    let mut samples = Vec::new();
    consumers.iter_mut().for_each(|c| {
        c.drain(|s| samples.push(*s));
        assert_eq!(c.dropped(), 0);
    });
    samples.sort_by_key(|s| s.seq);
    let answered = std::mem::take(&mut *server.log.lock().unwrap());
    Outcomes { samples, answered, clock, never_sent: totals.never_sent }
}

fn spec(model: Model, phases: &str, sessions: u32) -> LoadSpec {
    LoadSpec {
        model,
        phases: parse_phases(phases).unwrap(),
        operations: vec!["Echo".into()],
        mix: vec![1.0],
        sessions,
        workers: 1,
        requests: None,
        timeout: None,
        drain: Nanos::from_secs(5),
        retries: 0,
        pacing: Pacing::SleepThenSpin,
        cpus: vec![],
        seed: Seed(5),
    }
}

fn quantile(values: &mut [u64], q: f64) -> f64 {
    values.sort_unstable();
    let rank = ((q * values.len() as f64).ceil() as usize).clamp(1, values.len());
    values[rank - 1] as f64
}

/// Within 2 % or 0.3 ms. Only quantiles that lie inside of the stall are compared: outside of it a host that is
/// busy with other things adds its own delay to both, and not the same to each.
fn close(measured: f64, truth: f64) -> bool {
    (measured - truth).abs() <= (0.02 * truth).max(300_000.0)
}

#[test]
fn an_open_loop_sees_what_the_server_did() {
    let spec = spec(Model::Open { process: Process::Poisson }, "4s@500/s", 64);
    let done = run(&spec);
    assert_eq!(done.never_sent, 0);
    assert!(done.samples.len() > 1800 && done.samples.len() == done.answered.len());
    let mut truth_by_seq: Vec<Option<Ticks>> = vec![None; done.samples.len()];
    done.answered.iter().for_each(|&(seq, at)| truth_by_seq[seq as usize] = Some(at));
    let ns = |ticks: u64| done.clock.nanos_in(ticks).0;
    let mut truth: Vec<u64> = Vec::new();
    let mut measured: Vec<u64> = Vec::new();
    for s in &done.samples {
        let answered = truth_by_seq[s.seq as usize].expect("the server answered it");
        assert!(s.completed >= answered, "request {} was over before its answer was written", s.seq);
        truth.push(ns(answered.0 - s.intended.0));
        measured.push(ns(s.completed.0 - s.intended.0));
    }
    let mean = |values: &[u64]| values.iter().sum::<u64>() as f64 / values.len() as f64;
    let pairs = [
        ("mean", mean(&measured), mean(&truth)),
        ("p90", quantile(&mut measured, 0.90), quantile(&mut truth, 0.90)),
        ("p99", quantile(&mut measured, 0.99), quantile(&mut truth, 0.99)),
        ("max", quantile(&mut measured, 1.0), quantile(&mut truth, 1.0)),
    ];
    for (name, measured, truth) in pairs {
        assert!(close(measured, truth), "{name}: measured {measured} ns, truth {truth} ns");
    }
    // A quarter of the arrivals fell into the stall: the mean alone tells of it.
    assert!(pairs[0].1 > 50e6, "mean {} ns", pairs[0].1);
    assert!(pairs[3].1 > 900e6);
}

#[test]
fn a_closed_loop_hides_it() {
    let spec = spec(Model::Closed { think: Think::Constant(Nanos::from_millis(2)) }, "4s", 4);
    let done = run(&spec);
    let mut service: Vec<u64> =
        done.samples.iter().map(|s| done.clock.nanos_in(s.completed.0 - s.sent.0).0).collect();
    // Four requests met the stall, out of thousands.
    let slow = service.iter().filter(|&&s| s > 500_000_000).count();
    assert_eq!(slow, 4);
    assert!(quantile(&mut service, 0.99) < 100e6);
}

#[test]
fn what_never_left_is_recorded_as_unfinished() {
    // Two sessions and no time to drain: what is due in the stall's last part is never sent.
    let mut spec = spec(Model::Open { process: Process::Constant }, "1500ms@400/s", 2);
    spec.drain = Nanos::from_millis(100);
    let done = run(&spec);
    assert_eq!(done.samples.len(), 600);
    assert!(done.samples.iter().enumerate().all(|(i, s)| s.seq == i as u64));
    let unfinished: Vec<&RawSample> =
        done.samples.iter().filter(|s| s.outcome == Outcome::Unfinished.code()).collect();
    assert!(unfinished.len() > 100, "{}", unfinished.len());
    let never_sent = unfinished.iter().filter(|s| !s.sent.is_some()).count();
    assert_eq!(never_sent as u64, done.never_sent);
    assert_eq!(unfinished.len() - never_sent, 2, "one request in flight for each session");
}

#[test]
fn an_interrupted_run_misses_no_request_before_its_end() {
    let mut spec = spec(Model::Open { process: Process::Poisson }, "60s@2000/s", 64);
    spec.workers = 3;
    spec.pacing = Pacing::Sleep;
    for seed in 0..2 {
        spec.seed = Seed(seed);
        let done = run_and_stop(&spec, Some(Nanos::from_millis(300)));
        assert!(done.samples.len() > 100 && done.samples.len() < 60_000, "{}", done.samples.len());
        let gap = done.samples.iter().enumerate().find(|(i, s)| s.seq != *i as u64);
        assert!(gap.is_none(), "of {} requests one is missing: {gap:?}", done.samples.len());
    }
}
