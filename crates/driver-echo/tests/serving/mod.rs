//! A server on a thread of its own, at a free port and at a unix socket.

use driver::TargetUrl;
use driver_echo::{EchoTarget, Listener, Totals, serve};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::JoinHandle;

pub(crate) struct Serving {
    address: SocketAddr,
    path: PathBuf,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<std::io::Result<Totals>>>,
}

impl Serving {
    pub(crate) fn start() -> Serving {
        static STARTED: AtomicU32 = AtomicU32::new(0);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("truetail-echo-{}-{number}", std::process::id()));
        let _ = std::fs::remove_file(&path); // of an earlier test with the same process id
        let tcp = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = tcp.local_addr().unwrap();
        let listeners = vec![Listener::Tcp(tcp), Listener::Unix(UnixListener::bind(&path).unwrap())];
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = Some(std::thread::spawn(move || serve(listeners, 100, &stopped)));
        Serving { address, path, stop, thread }
    }

    pub(crate) fn tcp_url(&self, options: &str) -> String {
        format!("echo://{}/?{options}", self.address)
    }

    pub(crate) fn unix_url(&self, options: &str) -> String {
        format!("echo:///?socket={}&{options}", self.path.display())
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = std::fs::remove_file(&self.path);
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(matches!(ended, Some(Ok(Ok(_)))) || std::thread::panicking());
    }
}

pub(crate) fn target(url: &str) -> EchoTarget {
    EchoTarget::from_url(&TargetUrl::parse(url).unwrap()).unwrap()
}
