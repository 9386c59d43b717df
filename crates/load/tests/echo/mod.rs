//! A server that echoes request numbers over TCP, and can be frozen; its log is the truth that a recording is
//! held against.

use crate::doubles::{bare_session, bare_target, numbered_requests};
use clock::{Clock, LiveClock};
use driver::{
    Command, ConnectError, Conversation, Execution, Isolation, KernelStamp, OpError, Session, StatementSpec,
    Target, Value,
};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::{Arc, Condvar, Mutex};
use std::task::Poll;
use units::{Outcome, Ticks};
use workload::Workload;

/// One answer, as the server itself saw it.
#[derive(Clone, Copy)]
pub struct Answer {
    /// The request's number.
    pub seq: u64,
    /// Before its bytes were given to the kernel.
    pub begun: Ticks,
    /// When the kernel had taken them.
    pub handed_over: Ticks,
}

/// The server's log.
#[derive(Default)]
struct Log {
    answers: Mutex<Vec<Answer>>,
    longer: Condvar,
}

/// Echoes 8-byte request numbers; holds all answers back while frozen; logs when it answered each.
pub struct EchoServer {
    address: SocketAddr,
    /// Frozen while somebody holds it.
    pub frozen: Arc<Mutex<()>>,
    log: Arc<Log>,
}

impl EchoServer {
    /// On a free port, with a thread for each connection.
    pub fn start(clock: LiveClock) -> EchoServer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let frozen = Arc::new(Mutex::new(()));
        let log = Arc::new(Log::default());
        let (gate, written) = (Arc::clone(&frozen), Arc::clone(&log));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (gate, written) = (Arc::clone(&gate), Arc::clone(&written));
                std::thread::spawn(move || serve(stream, clock, &gate, &written));
            }
        });
        EchoServer { address, frozen, log }
    }

    /// The way to it.
    pub fn target(&self) -> Echo {
        Echo { address: self.address }
    }

    /// The log, once it has at least `count` lines: the last ones are written after their answers.
    pub fn answers(&self, count: usize) -> Vec<Answer> {
        let answers = self.log.answers.lock().unwrap();
        self.log.longer.wait_while(answers, |answers| answers.len() < count).unwrap().clone()
    }
}

fn serve(mut stream: TcpStream, clock: LiveClock, gate: &Mutex<()>, log: &Log) {
    stream.set_nodelay(true).unwrap();
    let mut bytes = [0; 8];
    while stream.read_exact(&mut bytes).is_ok() {
        drop(gate.lock().unwrap());
        let begun = clock.now();
        if stream.write_all(&bytes).is_err() {
            return;
        }
        let answer = Answer { seq: u64::from_le_bytes(bytes), begun, handed_over: clock.now() };
        log.answers.lock().unwrap().push(answer);
        log.longer.notify_all();
    }
}

/// The server as a target.
pub struct Echo {
    address: SocketAddr,
}

/// One connection, with the kernel's receive stamps.
pub struct EchoSession {
    stream: TcpStream,
    question: Option<[u8; 8]>,
    stamp: Option<KernelStamp>,
}

/// Asks the kernel to stamp what arrives on `stream`, with `CLOCK_REALTIME`.
fn ask_for_stamps(stream: &TcpStream) -> io::Result<()> {
    let on: libc::c_int = 1;
    let size = size_of_val(&on) as libc::socklen_t;
    // SAFETY: the option takes one int, which lives as long as the call.
    let result = unsafe {
        let on = (&raw const on).cast();
        libc::setsockopt(stream.as_raw_fd(), libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, on, size)
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Space for control messages, aligned as they are.
#[repr(C, align(8))]
struct Control([u8; 64]);

/// Reads into `bytes`, and the stamp of what was read.
fn read_stamped(stream: &TcpStream, bytes: &mut [u8]) -> io::Result<(usize, Option<KernelStamp>)> {
    let mut control = Control([0; 64]);
    let mut part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    // SAFETY: an all-zero msghdr is valid; its parts outlive the call, with their true lengths, and control
    // messages are walked by the kernel's own macros.
    unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.0.as_mut_ptr().cast();
        message.msg_controllen = control.0.len();
        let Ok(count) = usize::try_from(libc::recvmsg(stream.as_raw_fd(), &mut message, 0)) else {
            return Err(io::Error::last_os_error());
        };
        let header = libc::CMSG_FIRSTHDR(&message);
        let is_stamp = !header.is_null() && (*header).cmsg_type == libc::SCM_TIMESTAMPNS;
        let stamp = is_stamp.then(|| {
            let at = libc::CMSG_DATA(header).cast::<libc::timespec>().read_unaligned();
            let realtime_ns = at.tv_sec as u64 * 1_000_000_000 + at.tv_nsec as u64;
            KernelStamp { realtime_ns, upper_bound: false }
        });
        Ok((count, stamp))
    }
}

impl Target for Echo {
    bare_target!(EchoSession, Execution::Polled);
    fn connect(&self, _: &[StatementSpec], _: Option<Isolation>) -> Result<EchoSession, ConnectError> {
        let stream = TcpStream::connect(self.address).map_err(|e| ConnectError::transient(e.to_string()))?;
        stream.set_nodelay(true).map_err(|e| ConnectError::permanent(e.to_string()))?;
        stream.set_nonblocking(true).map_err(|e| ConnectError::permanent(e.to_string()))?;
        ask_for_stamps(&stream).map_err(|e| ConnectError::permanent(e.to_string()))?;
        Ok(EchoSession { stream, question: None, stamp: None })
    }
}

impl Session for EchoSession {
    bare_session!();
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
        match read_stamped(&self.stream, &mut bytes) {
            Ok((8, stamp)) => {
                self.stamp = stamp;
                Poll::Ready(Ok(()))
            }
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => Poll::Pending,
            _ => Poll::Ready(Err(OpError::lost(Outcome::ConnectionLost))),
        }
    }
    fn arrived(&self) -> Option<KernelStamp> {
        self.stamp
    }
}

/// Sends the request's number.
pub struct Numbers;

impl Workload for Numbers {
    numbered_requests!("Echo");
    async fn run<C: Conversation>(&self, plan: &u64, conversation: &mut C) -> Result<Outcome, OpError> {
        conversation.stage(Command::Statement { index: 0, arguments: &[Value::Int(*plan as i64)] })?;
        conversation.exchange().await?;
        Ok(Outcome::Ok)
    }
}
