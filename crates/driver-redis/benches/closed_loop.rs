//! What a request costs this side: CPU time per round trip of a closed loop, next to `redis-benchmark`'s.
//!
//! `cargo bench -p driver-redis` starts a server of its own and prints one line per transport and number of
//! sessions. With an argument it takes that many seconds per line (2 by default).

use driver::{Command, Fields, KeyValue, Session, Target, TargetUrl};
use driver_redis::{RedisSession, RedisTarget};
use std::task::Poll;
use testkit::redis::{Options, Server};

fn main() {
    let seconds: u64 = std::env::args().filter_map(|argument| argument.parse().ok()).next().unwrap_or(2);
    let server = match Server::start(&Options::default()) {
        Ok(server) => server,
        Err(reason) => return eprintln!("{reason}"),
    };
    let filled = server.ask(&["HSET", "record", "field0", &"v".repeat(100), "field1", &"w".repeat(100)]);
    assert_eq!(filled.as_deref(), Ok(":2\r\n"));
    println!("{:<36} {:>9} {:>12} {:>12}", "", "req/s", "user µs/req", "sys µs/req");
    let read = Command::KeyValue(KeyValue::Read { table: "usertable", key: "record", fields: Fields::All });
    for (transport, url) in [("unix", &server.unix_url()), ("tcp", &server.tcp_url())] {
        for sessions in [1, 8] {
            for (name, command, words) in
                [("ping", Command::Ping, &["PING"][..]), ("read", read, &["HGETALL", "record"])]
            {
                let ours = Cost::of(libc::RUSAGE_SELF, || closed_loop(url, command, sessions, seconds));
                ours.print(&format!("truetail {transport} {sessions} sessions {name}"));
                // As many requests as we made take it about as long.
                let requests = ours.count as u64;
                let theirs = Cost::of(libc::RUSAGE_CHILDREN, || {
                    redis_benchmark(&server, transport, sessions, requests, words)
                });
                theirs.print(&format!("redis-benchmark {transport} {sessions} sessions {name}"));
            }
        }
    }
}

/// Asks the same on all sessions from one thread; gives the number of answers.
fn closed_loop(url: &str, command: Command<'_>, sessions: usize, seconds: u64) -> u64 {
    let target = RedisTarget::from_url(&TargetUrl::parse(url).unwrap()).unwrap();
    let mut sessions: Vec<RedisSession> = (0..sessions).map(|_| target.connect(&[], None).unwrap()).collect();
    // SAFETY: plain epoll calls on descriptors that live until the end of this function.
    let epoll = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
    for (index, session) in sessions.iter().enumerate() {
        let events = (libc::EPOLLIN | libc::EPOLLRDHUP | libc::EPOLLET) as u32;
        let mut event = libc::epoll_event { events, u64: index as u64 };
        let fd = session.descriptor().unwrap();
        // SAFETY: as above.
        assert_eq!(unsafe { libc::epoll_ctl(epoll, libc::EPOLL_CTL_ADD, fd, &mut event) }, 0);
    }
    let mut start = |session: &mut RedisSession| {
        session.stage(command).unwrap();
        assert!(session.poll_reply().is_pending());
    };
    sessions.iter_mut().for_each(&mut start);
    let end = clock::wall_time_ns() + seconds * 1_000_000_000;
    let mut answers = 0;
    let mut events = [libc::epoll_event { events: 0, u64: 0 }; 64];
    while clock::wall_time_ns() < end {
        // SAFETY: as above; `events` has room for 64.
        let ready = unsafe { libc::epoll_wait(epoll, events.as_mut_ptr(), 64, 100) };
        for event in &events[..usize::try_from(ready).unwrap_or(0)] {
            let session = &mut sessions[event.u64 as usize];
            if let Poll::Ready(result) = session.poll_reply() {
                result.unwrap();
                assert_eq!(session.reply(0).rows, u64::from(command != Command::Ping));
                answers += 1;
                start(session);
            }
        }
    }
    // SAFETY: the descriptor is ours and not used again.
    unsafe { libc::close(epoll) };
    answers
}

struct Cost {
    count: f64,
    per_second: f64,
    user: f64,
    system: f64,
}

impl Cost {
    fn of(who: libc::c_int, work: impl FnOnce() -> u64) -> Cost {
        let (before, began) = (usage(who), clock::wall_time_ns());
        let count = work() as f64;
        let (after, ended) = (usage(who), clock::wall_time_ns());
        let per_second = count * 1e9 / (ended - began) as f64;
        Cost { count, per_second, user: (after.0 - before.0) / count, system: (after.1 - before.1) / count }
    }

    fn print(&self, name: &str) {
        println!("{name:<36} {:>9.0} {:>12.2} {:>12.2}", self.per_second, self.user, self.system);
    }
}

/// User and system time in µs.
fn usage(who: libc::c_int) -> (f64, f64) {
    // SAFETY: an all-zero rusage is valid and the call fills it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(who, &mut usage);
        usage
    };
    let micros = |time: libc::timeval| time.tv_sec as f64 * 1e6 + time.tv_usec as f64;
    (micros(usage.ru_utime), micros(usage.ru_stime))
}

/// One thread that sends the next request when it has the answer, as ours; gives the number of requests.
fn redis_benchmark(server: &Server, transport: &str, sessions: usize, requests: u64, words: &[&str]) -> u64 {
    let mut command = std::process::Command::new("redis-benchmark");
    match transport {
        "unix" => command.arg("-s").arg(server.socket()),
        _ => command.args(["-h", "127.0.0.1", "-p", &server.port().to_string()]),
    };
    let (sessions, requests_text) = (sessions.to_string(), requests.to_string());
    let output = command.args(["-q", "-c", &sessions, "-n", &requests_text]).args(words).output();
    match output {
        Ok(output) if output.status.success() => requests,
        Ok(output) => panic!("redis-benchmark: {}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => panic!("redis-benchmark: {error}; it comes with Redis"),
    }
}
