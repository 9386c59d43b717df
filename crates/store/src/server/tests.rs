//! The server over real sockets, with a protocol of lines.

use super::*;
use crate::{Answers, Arrival, Ending, NodeId, Operation, Received};
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;

/// Answers each line with itself; a line `bad` is an error, `big` is answered with a megabyte.
struct Lines;

impl Protocol for Lines {
    fn receive(
        &mut self,
        input: &[u8],
        arrival: Arrival,
        engine: &mut Engine,
        answers: &mut Answers,
    ) -> Received {
        let mut begin = 0;
        while let Some(length) = input[begin..].iter().position(|&b| b == b'\n') {
            let line = &input[begin..begin + length + 1];
            begin += length + 1;
            if line == b"bad\n" {
                answers.at_once(Ending::Close, |out| out.extend_from_slice(b"error\n"));
                return Received::Broken;
            }
            let decision = engine.admit(arrival, Operation::Ping, b"");
            answers.when_due(decision, None, |out| match line {
                b"big\n" => out.resize(out.len() + (1 << 20), b'x'),
                _ => out.extend_from_slice(line),
            });
        }
        Received::Consumed(begin)
    }

    fn message_limit(&self) -> usize {
        1000
    }
}

#[derive(Default)]
struct Log(Vec<Served>);

impl TruthSink for Log {
    fn served(&mut self, served: &Served) {
        self.0.push(*served);
    }
}

struct Running {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: std::thread::JoinHandle<(ServerTotals, Log)>,
}

fn start(limits: Limits) -> Running {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&stop);
    let thread = std::thread::spawn(move || {
        let clock = clock::calibrate(clock::ClockChoice::Monotonic).unwrap().start();
        let endpoint = Endpoint { listener, node: NodeId(0), protocol: Box::new(|_| Box::new(Lines)) };
        serve(vec![endpoint], Engine::default(), limits, clock, Log::default(), &seen).unwrap()
    });
    Running { address, stop, thread }
}

impl Running {
    fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).unwrap()
    }

    fn end(self) -> (ServerTotals, Log) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

fn read_exactly(stream: &mut TcpStream, count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    stream.read_exact(&mut bytes).unwrap();
    bytes
}

fn read_to_end(stream: &mut TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    // A reset after the last byte is an end, too.
    let _ = stream.read_to_end(&mut bytes);
    bytes
}

#[test]
fn answers_in_order_and_logs_each_request() {
    let running = start(Limits::default());
    let mut stream = running.connect();
    stream.write_all(b"one\ntwo\nth").unwrap();
    assert_eq!(read_exactly(&mut stream, 8), b"one\ntwo\n");
    stream.write_all(b"ree\n").unwrap();
    assert_eq!(read_exactly(&mut stream, 6), b"three\n");
    drop(stream);
    let (totals, Log(log)) = running.end();
    assert_eq!((totals.connections, totals.answered, totals.unanswered), (1, 3, 0));
    assert_eq!(log.iter().map(|s| s.number).collect::<Vec<_>>(), [0, 1, 2]);
    for served in &log {
        let (decision, written) = (served.decision, served.written.unwrap());
        assert!(decision.arrival.at <= decision.begun && decision.begun <= decision.due);
        assert!(decision.due <= written, "{served:?}");
    }
}

#[test]
fn loopback_has_kernel_stamps() {
    let running = start(Limits::default());
    let mut stream = running.connect();
    for _ in 0..10 {
        stream.write_all(b"x\n").unwrap();
        read_exactly(&mut stream, 2);
    }
    let (_, Log(log)) = running.end();
    let stamped = log.iter().filter(|s| s.decision.arrival.stamped).count();
    // The first stamps of a host are switched on with a delay.
    assert!(stamped >= 1 || cfg!(not(target_os = "linux")), "{log:?}");
}

#[test]
fn a_client_that_has_closed_its_side_gets_its_answers() {
    let running = start(Limits::default());
    let mut stream = running.connect();
    stream.write_all(b"last words\n").unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(read_to_end(&mut stream), b"last words\n");
    running.end();
}

#[test]
fn what_one_client_breaks_is_its_own() {
    let running = start(Limits::default());
    let mut good = running.connect();
    let mut bad = running.connect();
    let mut oversize = running.connect();
    bad.write_all(b"fine\nbad\nafter\n").unwrap();
    oversize.write_all(&[b'y'; 5000]).unwrap();
    assert_eq!(read_to_end(&mut bad), b"fine\nerror\n");
    assert_eq!(read_to_end(&mut oversize), b"");
    good.write_all(b"still here\n").unwrap();
    assert_eq!(read_exactly(&mut good, 11), b"still here\n");
    let (totals, _) = running.end();
    assert_eq!(totals.broken, 2);
}

#[test]
fn a_client_that_does_not_read_is_not_read_either() {
    let limits = Limits { pending: 8, pending_bytes: 2 << 20, ..Limits::default() };
    let running = start(limits);
    let mut greedy = running.connect();
    let asked = 64;
    let mut writer = greedy.try_clone().unwrap();
    // Small pieces, or all of it would come in one read.
    let asking = std::thread::spawn(move || (0..asked).for_each(|_| writer.write_all(b"big\n").unwrap()));
    let mut other = running.connect();
    other.write_all(b"me\n").unwrap();
    assert_eq!(read_exactly(&mut other, 3), b"me\n");
    let answered = read_exactly(&mut greedy, asked << 20);
    assert!(answered.iter().all(|&b| b == b'x'));
    asking.join().unwrap();
    let (totals, _) = running.end();
    assert_eq!(totals.answered, asked as u64 + 1);
}

#[test]
fn connections_beyond_the_limit_are_turned_away_and_places_are_used_again() {
    let running = start(Limits { connections: 2, ..Limits::default() });
    let ask = |stream: &mut TcpStream| {
        stream.write_all(b"hi\n").unwrap();
        read_exactly(stream, 3)
    };
    let (mut first, mut second) = (running.connect(), running.connect());
    assert_eq!((ask(&mut first), ask(&mut second)), (b"hi\n".to_vec(), b"hi\n".to_vec()));
    let mut third = running.connect();
    assert_eq!(read_to_end(&mut third), b"");
    first.write_all(b"bad\n").unwrap();
    assert_eq!(read_to_end(&mut first), b"error\n");
    let mut fourth = running.connect();
    assert_eq!(ask(&mut fourth), b"hi\n");
    assert_eq!(ask(&mut second), b"hi\n");
    let (totals, _) = running.end();
    assert_eq!((totals.connections, totals.refused), (3, 1));
}
