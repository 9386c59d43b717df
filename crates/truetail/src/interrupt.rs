//! SIGINT and SIGTERM: the first asks for an orderly end, the second ends at once.

use std::sync::atomic::{AtomicBool, Ordering};

/// Set by the first signal.
static STOP: AtomicBool = AtomicBool::new(false);

extern "C" fn on_signal(signal: libc::c_int) {
    STOP.store(true, Ordering::Relaxed);
    // SAFETY: `signal` is async-signal-safe; the next signal of the kind ends the process.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
    }
}

/// Installs the handlers; the flag is set when the user wants an end.
pub(crate) fn flag() -> &'static AtomicBool {
    let handler = on_signal as extern "C" fn(libc::c_int) as *const () as libc::sighandler_t;
    // SAFETY: the handler only stores an atomic and calls `signal`.
    unsafe {
        libc::signal(libc::SIGINT, handler);
        libc::signal(libc::SIGTERM, handler);
    }
    &STOP
}

/// Whether the user wants an end.
pub(crate) fn requested() -> bool {
    STOP.load(Ordering::Relaxed)
}
