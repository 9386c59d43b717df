//! A store on a free port, and programs that talk to it.

use std::io::Write;
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use store::resp::{Instance, Resp, Settings};
use store::server::{Endpoint, Limits, Served, ServerTotals, TruthSink, serve};
use store::{Engine, NodeId};

/// All requests that were timed.
#[derive(Default)]
struct Log(Vec<Served>);

impl TruthSink for Log {
    fn served(&mut self, served: &Served) {
        self.0.push(*served);
    }
}

/// A store that answers at once; ended when dropped.
pub(crate) struct Live {
    pub(crate) port: u16,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<(ServerTotals, Log)>>,
}

impl Live {
    pub(crate) fn start(password: Option<&str>) -> Live {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("a bound socket").port();
        let password = password.map(str::to_owned);
        let instance = Instance::new(Settings { password, port, ..Settings::default() });
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let clock = clock::calibrate(clock::ClockChoice::Monotonic).expect("a clock").start();
            let protocol = Box::new(move |_| Box::new(Resp::new(&instance)) as Box<dyn store::Protocol>);
            let endpoint = Endpoint { listener, node: NodeId::default(), protocol };
            serve(vec![endpoint], Engine::default(), Limits::default(), clock, Log::default(), &stopped)
                .expect("a server")
        });
        Live { port, stop, thread: Some(thread) }
    }

    /// What it did, and each request.
    pub(crate) fn end(mut self) -> (ServerTotals, Vec<Served>) {
        self.stop.store(true, Ordering::Relaxed);
        let thread = self.thread.take().expect("it runs until it is ended");
        let (totals, log) = thread.join().expect("the server does not panic");
        (totals, log.0)
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Runs a program to its end, for a minute at most; what it printed. `None` where such tests are to be skipped.
pub(crate) fn run(program: &str, arguments: &[&str], input: &str) -> Option<String> {
    if std::env::var_os("TRUETAIL_SKIP_SERVERS").is_some_and(|value| value == "1") {
        eprintln!("\n*** SKIPPED: a test that needs {program} (TRUETAIL_SKIP_SERVERS=1) ***\n");
        return None;
    }
    let mut command = Command::new("timeout");
    command.arg("60").arg(program).args(arguments).stdin(Stdio::piped());
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("`timeout` can be run");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_owned();
    // A program that reads little must not keep us from reading what it prints.
    let writer = std::thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    let output = child.wait_with_output().expect("its end");
    let _ = writer.join();
    let (said, complained) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(
        output.status.success(),
        "`{program}` ({}): {said}{complained}; is it installed? `cargo xtask ci --quick` does that first",
        output.status
    );
    Some(said.into_owned())
}
