//! A store on a free port of this host, for programs that others wrote.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use store::server::{Endpoint, Limits, Served, ServerTotals, TruthSink, serve};
use store::{Engine, NodeId, Protocol};

/// All requests that were timed.
#[derive(Default)]
struct Log(Vec<Served>);

impl TruthSink for Log {
    fn served(&mut self, served: &Served) {
        self.0.push(*served);
    }
}

/// Makes the state machine of a new connection.
pub(crate) type Speaker = Box<dyn Fn() -> Box<dyn Protocol> + Send>;

/// A store that answers at once; ended when dropped.
pub(crate) struct Live {
    pub(crate) port: u16,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<(ServerTotals, Log)>>,
}

impl Live {
    /// `speaks` is told the port.
    pub(crate) fn start(speaks: impl FnOnce(u16) -> Speaker) -> Live {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("a bound socket").port();
        let speaker = speaks(port);
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let clock = clock::calibrate(clock::ClockChoice::Monotonic).expect("a clock").start();
            let protocol = Box::new(move |_| speaker());
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
