//! Requests that don't fit into the kernel's buffer at once.

use clock::ClockChoice;
use driver::{
    Administration, Command, ConnectError, Dialect, Execution, Isolation, KernelStamp, OpError, Reply,
    Session, StatementSpec, Target, ValueRef,
};
use load::{Journal, LoadSpec, Model, Pacing, Subject, Think, parse_phases};
use record::EventKind;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::AtomicBool;
use std::task::Poll;
use units::{Nanos, Outcome, Seed, Ticks};
use workload::noop::{Mode, NoOp};

/// More than any socket buffer takes.
const REQUEST: usize = 4 << 20;

/// Each request has [`REQUEST`] bytes, the answer one.
struct Bulky;

struct BulkySession {
    stream: UnixStream,
    left: usize,
}

impl Target for Bulky {
    type Session = BulkySession;
    fn execution(&self) -> Execution {
        Execution::Polled
    }
    fn dialect(&self) -> Dialect {
        Dialect::Null
    }
    fn connect(&self, _: &[StatementSpec], _: Option<Isolation>) -> Result<BulkySession, ConnectError> {
        let (stream, server) = UnixStream::pair().unwrap();
        stream.set_nonblocking(true).unwrap();
        std::thread::spawn(move || serve(server));
        Ok(BulkySession { stream, left: 0 })
    }
    fn administer(&self) -> Result<Box<dyn Administration>, ConnectError> {
        Err(ConnectError::permanent("nothing to administer"))
    }
}

fn serve(mut server: UnixStream) {
    let mut request = vec![0; REQUEST];
    while server.read_exact(&mut request).is_ok() && server.write_all(&[1]).is_ok() {}
}

impl BulkySession {
    fn step(&mut self) -> std::io::Result<()> {
        while self.left > 0 {
            self.left -= self.stream.write(&vec![0; self.left])?;
        }
        self.stream.read_exact(&mut [0])
    }
}

impl Session for BulkySession {
    fn descriptor(&self) -> Option<RawFd> {
        Some(self.stream.as_raw_fd())
    }
    fn waits_to_send(&self) -> bool {
        self.left > 0
    }
    fn stage(&mut self, _: Command<'_>) -> Result<(), OpError> {
        self.left = REQUEST;
        Ok(())
    }
    fn poll_reply(&mut self) -> Poll<Result<(), OpError>> {
        match self.step() {
            Ok(()) => Poll::Ready(Ok(())),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Poll::Pending,
            Err(_) => Poll::Ready(Err(OpError::lost(Outcome::ConnectionLost))),
        }
    }
    fn reply(&self, _: usize) -> Reply {
        Reply::default()
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

struct Silent;

impl Journal for Silent {
    fn event(&self, _: EventKind, _: Ticks, _: Ticks, _: String, _: String) {}
}

/// Were room not watched for, the rest of a request would never leave: its time limit would show that.
#[test]
fn a_request_larger_than_the_socket_buffer_is_sent_as_room_appears() {
    let spec = LoadSpec {
        model: Model::Closed { think: Think::None },
        phases: parse_phases("60s").unwrap(),
        operations: vec!["NoOp".into()],
        mix: vec![1.0],
        sessions: 2,
        workers: 1,
        requests: Some(10),
        timeout: Some(Nanos::from_secs(20)),
        drain: Nanos::from_secs(20),
        retries: 0,
        pacing: Pacing::Sleep,
        cpus: vec![],
        seed: Seed(1),
    };
    let clock = clock::calibrate(ClockChoice::Auto).unwrap().start();
    let workload = NoOp::new(Mode::Ping);
    let sessions = load::connect_all(&Bulky, &[], None, 2).unwrap();
    let subject = Subject { target: &Bulky, sessions, statements: &[], isolation: None, workload: &workload };
    let rings = load::rings_needed(&spec, Execution::Polled);
    let (producers, mut consumers): (Vec<_>, Vec<_>) = (0..rings).map(|_| record::ring(1 << 10)).unzip();
    load::run(subject, &spec, clock, producers, &Silent, &AtomicBool::new(false)).unwrap();
    let mut outcomes = Vec::new();
    consumers.iter_mut().for_each(|c| {
        c.drain(|sample| outcomes.push(sample.outcome));
    });
    assert_eq!(outcomes, [Outcome::Ok.code(); 10]);
}
