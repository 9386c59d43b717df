//! What a request costs this side: CPU time per round trip of a closed loop, next to sysbench's.
//!
//! `cargo bench -p driver-mysql` starts a server of its own and prints one line per transport and number of
//! sessions. With an argument it takes that many seconds per line (2 by default).

use driver::{Command, Session, StatementSpec, Target, TargetUrl};
use driver_mysql::{MySqlSession, MySqlTarget};
use std::task::Poll;
use testkit::mariadb::{Options, Server};

fn main() {
    let seconds: u64 = std::env::args().filter_map(|argument| argument.parse().ok()).next().unwrap_or(2);
    let server = match Server::start(&Options::default()) {
        Ok(server) => server,
        Err(reason) => return eprintln!("{reason}"),
    };
    let (unix, tcp) = (server.unix_url(), server.tcp_url());
    println!("{:<28} {:>9} {:>12} {:>12}", "", "req/s", "user µs/req", "sys µs/req");
    for (name, url) in [("unix", &unix), ("tcp", &tcp)] {
        for sessions in [1, 8] {
            let ours = Cost::of(|| closed_loop(url, sessions, seconds));
            ours.print(&format!("truetail {name} {sessions} sessions"));
            match sysbench(&server, name, sessions, seconds) {
                Ok(theirs) => theirs.print(&format!("sysbench {name} {sessions} sessions")),
                Err(reason) => eprintln!("sysbench: {reason}"),
            }
        }
    }
}

/// Runs `SELECT 1` on all sessions from one thread; gives the number of answers.
fn closed_loop(url: &str, sessions: usize, seconds: u64) -> u64 {
    let target = MySqlTarget::from_url(&TargetUrl::parse(url).unwrap()).unwrap();
    let statements = [StatementSpec::counted("SELECT 1", &[])];
    let mut sessions: Vec<MySqlSession> =
        (0..sessions).map(|_| target.connect(&statements, None).unwrap()).collect();
    // SAFETY: plain epoll calls on descriptors that live until the end of this function.
    let epoll = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
    for (index, session) in sessions.iter().enumerate() {
        let events = (libc::EPOLLIN | libc::EPOLLOUT | libc::EPOLLRDHUP | libc::EPOLLET) as u32;
        let mut event = libc::epoll_event { events, u64: index as u64 };
        let fd = session.descriptor().unwrap();
        // SAFETY: as above.
        assert_eq!(unsafe { libc::epoll_ctl(epoll, libc::EPOLL_CTL_ADD, fd, &mut event) }, 0);
    }
    let request = Command::Statement { index: 0, arguments: &[] };
    let mut start = |session: &mut MySqlSession| {
        session.stage(request).unwrap();
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
                assert_eq!(session.reply(0).rows, 1);
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
    per_second: f64,
    user: f64,
    system: f64,
}

impl Cost {
    fn of(work: impl FnOnce() -> u64) -> Cost {
        let (before, began) = (usage(libc::RUSAGE_SELF), clock::wall_time_ns());
        let count = work() as f64;
        let (after, ended) = (usage(libc::RUSAGE_SELF), clock::wall_time_ns());
        let per_second = count * 1e9 / (ended - began) as f64;
        Cost { per_second, user: (after.0 - before.0) / count, system: (after.1 - before.1) / count }
    }

    fn print(&self, name: &str) {
        println!("{name:<28} {:>9.0} {:>12.2} {:>12.2}", self.per_second, self.user, self.system);
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

/// `SELECT 1` as a prepared statement by sysbench, from one thread for each session: it knows no other way.
fn sysbench(server: &Server, transport: &str, sessions: usize, seconds: u64) -> Result<Cost, String> {
    let directory = server.log().with_file_name("bench");
    std::fs::create_dir_all(&directory).map_err(|e| e.to_string())?;
    let script = directory.join("select1.lua");
    std::fs::write(
        &script,
        "function thread_init() con = sysbench.sql.driver():connect(); s = con:prepare('SELECT 1') end\n\
         function event() s:execute() end\n\
         function thread_done() s:close(); con:disconnect() end\n",
    )
    .map_err(|e| e.to_string())?;
    let place = match transport {
        "unix" => vec![format!("--mysql-socket={}", server.socket().display())],
        _ => vec!["--mysql-host=127.0.0.1".to_owned(), format!("--mysql-port={}", server.port())],
    };
    let before = usage(libc::RUSAGE_CHILDREN);
    let output = std::process::Command::new("sysbench")
        .arg(&script)
        .args(place)
        .args([format!("--mysql-user={}", server.user()), "--mysql-db=truetail".to_owned()])
        .args([format!("--threads={sessions}"), format!("--time={seconds}"), "run".to_owned()])
        .output()
        .map_err(|e| e.to_string())?;
    let after = usage(libc::RUSAGE_CHILDREN);
    let text = String::from_utf8_lossy(&output.stdout);
    let count = text
        .lines()
        .find_map(|line| line.trim().strip_prefix("total number of events:"))
        .and_then(|value| value.trim().parse::<f64>().ok())
        .ok_or_else(|| format!("no count in its output: {text}"))?;
    let per_second = count / seconds as f64;
    Ok(Cost { per_second, user: (after.0 - before.0) / count, system: (after.1 - before.1) / count })
}
