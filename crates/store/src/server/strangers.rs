//! Connections that have not said yet what they want.
//!
//! One that never does costs a descriptor and a place for ever, and so does one whose host has gone without a word: the
//! former is closed after [`super::Limits::greeting`], the latter when the kernel's probes are not answered.

use super::poll::Token;
use super::{Server, TruthSink};
use std::collections::VecDeque;
use std::os::fd::RawFd;
use units::Nanos;

/// Who was accepted when: in this order, so that only the front is ever looked at.
#[derive(Debug, Default)]
pub(super) struct Strangers(VecDeque<(Nanos, Token)>);

impl<S: TruthSink> Server<S> {
    /// A new connection.
    pub(super) fn expect_greeting(&mut self, token: Token, now: Nanos) {
        self.strangers.0.push_back((now, token));
    }

    /// Closes connections whose time is up. Costs nothing for those that are established but one look at their end.
    pub(super) fn end_strangers(&mut self, now: Nanos) {
        while let Some(&(since, token)) = self.strangers.0.front()
            && now.saturating_sub(since) >= self.limits.greeting
        {
            self.strangers.0.pop_front();
            let Some(connection) = self.connection(token) else { continue };
            if connection.deaf_until.is_some() {
                // A fault: it is the store that does not listen.
                self.expect_greeting(token, now);
            } else if !connection.protocol.is_established() {
                self.totals.broken += 1;
                self.close(token);
            }
        }
    }
}

/// Lets the kernel find out whether the other side is still there: after a minute of silence, within another one. Without
/// success a client that vanished keeps its place.
pub(super) fn probe_when_silent(fd: RawFd) {
    #[cfg(target_os = "linux")]
    let options = [
        (libc::SOL_SOCKET, libc::SO_KEEPALIVE, 1),
        (libc::IPPROTO_TCP, libc::TCP_KEEPIDLE, 60),
        (libc::IPPROTO_TCP, libc::TCP_KEEPINTVL, 10),
        (libc::IPPROTO_TCP, libc::TCP_KEEPCNT, 6),
    ];
    #[cfg(not(target_os = "linux"))]
    let options = [(libc::SOL_SOCKET, libc::SO_KEEPALIVE, 1)];
    for (level, option, value) in options {
        let value: libc::c_int = value;
        // SAFETY: each option takes one integer of this size.
        unsafe {
            libc::setsockopt(
                fd,
                level,
                option,
                (&raw const value).cast(),
                size_of_val(&value) as libc::socklen_t,
            );
        }
    }
}
