//! Requests that don't fit into the kernel's buffer at once.

mod doubles;

use clock::ClockChoice;
use doubles::{bare_session, bare_target, plain, run_pings};
use driver::{
    Command, ConnectError, Execution, Isolation, KernelStamp, OpError, Session, StatementSpec, Target,
};
use load::{LoadSpec, Model, Think};
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::task::Poll;
use units::{Nanos, Outcome};

/// More than any socket buffer takes.
const REQUEST: usize = 4 << 20;

/// Each request has [`REQUEST`] bytes, the answer one.
struct Bulky;

struct BulkySession {
    stream: UnixStream,
    left: usize,
}

impl Target for Bulky {
    bare_target!(BulkySession, Execution::Polled);
    fn connect(&self, _: &[StatementSpec], _: Option<Isolation>) -> Result<BulkySession, ConnectError> {
        let (stream, server) = UnixStream::pair().unwrap();
        stream.set_nonblocking(true).unwrap();
        std::thread::spawn(move || serve(server));
        Ok(BulkySession { stream, left: 0 })
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
    bare_session!();
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
    fn arrived(&self) -> Option<KernelStamp> {
        None
    }
}

/// Were room not watched for, the rest of a request would never leave: its time limit would show that.
#[test]
fn a_request_larger_than_the_socket_buffer_is_sent_as_room_appears() {
    let spec = LoadSpec {
        sessions: 2,
        requests: Some(10),
        timeout: Some(Nanos::from_secs(20)),
        drain: Nanos::from_secs(20),
        ..plain(Model::Closed { think: Think::None }, "60s")
    };
    let clock = clock::calibrate(ClockChoice::Auto).unwrap().start();
    let (result, samples) = run_pings(&Bulky, &spec, clock);
    result.unwrap();
    let outcomes: Vec<u8> = samples.iter().map(|s| s.outcome).collect();
    assert_eq!(outcomes, [Outcome::Ok.code(); 10]);
}
