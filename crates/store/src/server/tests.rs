//! The server over real sockets, with a protocol of lines.

use super::*;
use crate::{Answers, Arrival, Ending, NodeId, Operation, Received};
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;

/// Answers each line with itself; a line `bad` is an error, `big` is answered with a megabyte, `keep` keeps one.
#[derive(Default)]
struct Lines {
    kept: Vec<u8>,
    asked: bool,
}

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
            self.asked = true;
            if line == b"keep\n" {
                self.kept.reserve_exact(1 << 20);
            }
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

    fn holds(&self) -> usize {
        self.kept.capacity()
    }

    fn is_established(&self) -> bool {
        self.asked
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
        let endpoint =
            Endpoint { listener, node: NodeId(0), protocol: Box::new(|_| Box::<Lines>::default()) };
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
    let (mut server, address) = by_hand(Limits::default());
    let mut client = TcpStream::connect(address).unwrap();
    let mut ask = |server: &mut Server<Log>| {
        let count = server.sink.0.len();
        client.write_all(b"x\n").unwrap();
        turn_until(server, |server| server.sink.0.len() > count);
        read_exactly(&mut client, 2);
        server.sink.0[count].decision.arrival.stamped
    };
    if cfg!(not(target_os = "linux")) {
        return assert!(!ask(&mut server));
    }
    // A kernel that has nobody to stamp for begins some milliseconds after it is asked to; then it stamps everything.
    while !ask(&mut server) {}
    assert!((0..100).all(|_| ask(&mut server)));
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

/// A server whose turns the test makes itself.
fn by_hand(limits: Limits) -> (Server<Log>, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let clock = clock::calibrate(clock::ClockChoice::Monotonic).unwrap().start();
    let endpoint = Endpoint { listener, node: NodeId(0), protocol: Box::new(|_| Box::<Lines>::default()) };
    (Server::new(vec![endpoint], Engine::default(), limits, clock, Log::default()).unwrap(), address)
}

/// Turns until `done`; a test that hangs here has found something.
fn turn_until(server: &mut Server<Log>, mut done: impl FnMut(&mut Server<Log>) -> bool) {
    while !done(server) {
        server.turn().unwrap();
    }
}

#[test]
fn a_client_that_reads_late_is_no_lateness_of_the_store_and_leaves_nothing_behind() {
    let (mut server, address) = by_hand(Limits { pending_bytes: 64 << 20, ..Limits::default() });
    let mut client = TcpStream::connect(address).unwrap();
    client.write_all(&b"big\n".repeat(8)).unwrap();
    let blocked = |server: &mut Server<Log>| server.connections.iter().flatten().any(|c| c.blocked);
    turn_until(&mut server, blocked);
    let reading = std::thread::spawn(move || {
        assert_eq!(read_exactly(&mut client, 8 << 20).len(), 8 << 20);
        client
    });
    turn_until(&mut server, |server| server.sink.0.len() == 8);
    let mut client = reading.join().unwrap();
    let late = |served: &&Served| served.decision.rules.has(crate::Rules::CLIENT);
    assert!(server.sink.0.iter().filter(late).count() >= 1, "{:?}", server.sink.0);

    // Room to send is not watched for any more, and an answer that waits is queued once.
    assert_eq!(server.connections[0].as_ref().unwrap().watched, (true, false));
    server.engine.control(server.now(), "fault delay:1h@next").unwrap();
    client.write_all(b"later\n").unwrap();
    turn_until(&mut server, |server| !server.due.is_empty());
    (0..1000).for_each(|_| server.turn().unwrap());
    assert_eq!(server.due.entries(), 1);
    drop(client);
    turn_until(&mut server, |server| server.connections.iter().flatten().all(|c| c.input_ended));
    server.end();
    assert!(server.due.is_empty());
    assert_eq!(server.sink.0.len(), 9);
    assert_eq!(server.sink.0[8].written, None);
}

#[test]
fn entries_of_connections_that_are_gone_do_not_pile_up() {
    let (mut server, address) = by_hand(Limits::default());
    server.engine.control(Nanos::ZERO, "fault delay:1h@always").unwrap();
    for _ in 0..3000 {
        let mut client = TcpStream::connect(address).unwrap();
        client.write_all(b"x\n").unwrap();
        turn_until(&mut server, |server| !server.due.is_empty());
        let token = server.connections.iter().flatten().next().unwrap().token;
        server.close(token);
        assert!(server.due.is_empty());
    }
    assert!(server.due.entries() <= 1001, "{}", server.due.entries());
}

#[test]
fn half_an_answer_and_the_rest_later_is_due_later_with_all_behind_it() {
    let (mut server, address) = by_hand(Limits::default());
    server.engine.control(Nanos::ZERO, "fault partial:20ms@next").unwrap();
    let mut client = TcpStream::connect(address).unwrap();
    client.write_all(b"one\ntwo\n").unwrap();
    turn_until(&mut server, |server| server.sink.0.len() == 2);
    assert_eq!(read_exactly(&mut client, 8), b"one\ntwo\n");
    let [one, two] = &server.sink.0[..] else { panic!() };
    assert!(one.decision.due >= one.decision.begun + Nanos::from_millis(20));
    assert!(two.decision.due >= one.decision.due && two.decision.rules.has(crate::Rules::BEHIND));
}

#[test]
fn what_all_clients_hold_together_is_bounded() {
    let limits = Limits { total_bytes: 6 << 20, pending_bytes: 64 << 20, ..Limits::default() };
    let (mut server, address) = by_hand(limits);
    let mut clients: Vec<TcpStream> = (0..3).map(|_| TcpStream::connect(address).unwrap()).collect();
    for client in &mut clients {
        client.write_all(&b"big\n".repeat(5)).unwrap();
    }
    turn_until(&mut server, |server| server.totals.broken > 0);
    assert!(server.budget.total() <= limits.total_bytes, "{}", server.budget.total());
    let mut other = TcpStream::connect(address).unwrap();
    other.write_all(b"me\n").unwrap();
    let mine = |server: &mut Server<Log>| server.sink.0.iter().any(|s| s.decision.arrival.connection == 3);
    turn_until(&mut server, mine);
    assert_eq!(read_exactly(&mut other, 3), b"me\n");
}

#[test]
fn connections_meet_the_faults_of_connections() {
    let (mut server, address) = by_hand(Limits::default());
    server.engine.control(Nanos::ZERO, "fault refuse@connection=1").unwrap();
    server.engine.control(Nanos::ZERO, "fault slow-accept:30ms@connection=2").unwrap();
    let mut refused = TcpStream::connect(address).unwrap();
    turn_until(&mut server, |server| server.totals.refused == 1);
    assert_eq!(read_to_end(&mut refused), b"");
    let mut slow = TcpStream::connect(address).unwrap();
    slow.write_all(b"x\n").unwrap();
    turn_until(&mut server, |server| server.sink.0.len() == 1);
    let served = &server.sink.0[0];
    // It arrived when it came, however late it was read.
    assert!(!served.decision.arrival.stamped || served.written.unwrap() > served.decision.arrival.at);
    assert_eq!(server.deaf, 0);
}

#[test]
fn what_was_written_is_held_no_more() {
    let limits = Limits { total_bytes: 6 << 20, pending_bytes: 64 << 20, ..Limits::default() };
    let (mut server, address) = by_hand(limits);
    let mut idle = Vec::new();
    for asked in 1..=16 {
        let mut client = TcpStream::connect(address).unwrap();
        client.write_all(b"big\n").unwrap();
        let reading = std::thread::spawn(move || {
            assert_eq!(read_exactly(&mut client, 1 << 20).len(), 1 << 20);
            client
        });
        turn_until(&mut server, |server| server.sink.0.len() == asked);
        idle.push(reading.join().unwrap());
    }
    assert!(server.budget.total() <= 16 * 32 * 1024, "{}", server.budget.total());
    let mut fresh = TcpStream::connect(address).unwrap();
    fresh.write_all(b"ping\n").unwrap();
    turn_until(&mut server, |server| server.sink.0.len() == 17);
    assert_eq!(read_exactly(&mut fresh, 5), b"ping\n");
    assert_eq!(server.totals.broken, 0);
}

#[test]
fn many_answers_at_once_leave_no_places_behind() {
    let (mut server, address) = by_hand(Limits::default());
    let mut client = TcpStream::connect(address).unwrap();
    client.write_all(&b"x\n".repeat(4000)).unwrap();
    turn_until(&mut server, |server| server.sink.0.len() == 4000);
    assert_eq!(read_exactly(&mut client, 8000).len(), 8000);
    assert!(server.budget.total() <= 32 * 1024, "{}", server.budget.total());
}

#[test]
fn who_holds_most_pays_and_not_who_asks_next() {
    let limits = Limits { total_bytes: (3 << 20) / 2, pending_bytes: 64 << 20, ..Limits::default() };
    let (mut server, address) = by_hand(limits);
    let mut keeper = TcpStream::connect(address).unwrap();
    keeper.write_all(b"keep\n").unwrap();
    turn_until(&mut server, |server| server.sink.0.len() == 1);
    assert_eq!(read_exactly(&mut keeper, 5), b"keep\n");
    // What a protocol keeps counts, too; here it takes nearly all of the budget.
    assert!((1 << 20..limits.total_bytes).contains(&server.budget.total()), "{}", server.budget.total());
    server.engine.control(server.now(), "fault delay:1h@always").unwrap();
    let mut askers: Vec<TcpStream> = (0..8).map(|_| TcpStream::connect(address).unwrap()).collect();
    for asker in &mut askers {
        // Many answers that wait, each client having far less than the keeper.
        asker.write_all(&b"x\n".repeat(1000)).unwrap();
    }
    turn_until(&mut server, |server| server.totals.broken > 0);
    assert_eq!(read_to_end(&mut keeper), b"");
    assert!(server.budget.total() <= limits.total_bytes);
}

#[test]
fn who_says_nothing_is_closed_in_time() {
    let (mut server, address) = by_hand(Limits::default());
    let mut talking = TcpStream::connect(address).unwrap();
    talking.write_all(b"hello\n").unwrap();
    turn_until(&mut server, |server| server.sink.0.len() == 1);
    server.limits.greeting = Nanos::from_millis(50);
    let mut half = TcpStream::connect(address).unwrap();
    half.write_all(b"hel").unwrap();
    let mut silent = TcpStream::connect(address).unwrap();
    turn_until(&mut server, |server| server.totals.broken == 2);
    assert_eq!((read_to_end(&mut half), read_to_end(&mut silent)), (Vec::new(), Vec::new()));
    assert_eq!(read_exactly(&mut talking, 6), b"hello\n");
    talking.write_all(b"still here\n").unwrap();
    turn_until(&mut server, |server| server.sink.0.len() == 2);
    assert_eq!(read_exactly(&mut talking, 11), b"still here\n");
}

#[test]
fn a_slow_accept_does_not_count_against_the_client() {
    let limits = Limits { greeting: Nanos::from_millis(20), ..Limits::default() };
    let (mut server, address) = by_hand(limits);
    server.engine.control(Nanos::ZERO, "fault slow-accept:60ms@next").unwrap();
    let mut client = TcpStream::connect(address).unwrap();
    client.write_all(b"x\n").unwrap();
    turn_until(&mut server, |server| server.sink.0.len() == 1 || server.totals.broken > 0);
    assert_eq!((server.sink.0.len(), server.totals.broken), (1, 0));
}

#[test]
fn a_client_that_vanishes_is_looked_for() {
    let (mut server, address) = by_hand(Limits::default());
    let _client = TcpStream::connect(address).unwrap();
    turn_until(&mut server, |server| server.totals.connections == 1);
    let fd = server.connections[0].as_ref().unwrap().socket.fd();
    let mut value: libc::c_int = 0;
    let mut size = size_of_val(&value) as libc::socklen_t;
    // SAFETY: the option takes one integer of this size.
    let result = unsafe {
        libc::getsockopt(fd, libc::SOL_SOCKET, libc::SO_KEEPALIVE, (&raw mut value).cast(), &raw mut size)
    };
    assert_eq!((result, value), (0, 1));
}

#[test]
fn descriptors_are_left_for_files() {
    let (mut server, address) = by_hand(Limits::default());
    // All that is left is kept.
    server.descriptors = 3;
    let mut client = TcpStream::connect(address).unwrap();
    turn_until(&mut server, |server| server.totals.refused == 1);
    assert_eq!(read_to_end(&mut client), b"");
    server.descriptors = poll::descriptors_for_connections();
    assert!(server.descriptors > 0);
    let mut client = TcpStream::connect(address).unwrap();
    client.write_all(b"x\n").unwrap();
    turn_until(&mut server, |server| server.sink.0.len() == 1);
    assert_eq!(read_exactly(&mut client, 2), b"x\n");
}
