//! The receive buffer.

use crate::codec::MESSAGE_LIMIT;

/// Bytes that were received, parsed in place. All memory is initialised when it is allocated, so that its
/// pages are there before the first request.
pub(crate) struct Buffer {
    bytes: Vec<u8>,
    /// Bytes before it were parsed.
    pub(crate) start: usize,
    /// Bytes from here on are room.
    pub(crate) end: usize,
}

/// Enough for the answers of usual requests; large results make it grow or pass through.
const FIRST_SIZE: usize = 16 * 1024;

impl Buffer {
    pub(crate) fn new() -> Buffer {
        Buffer { bytes: vec![1; FIRST_SIZE], start: 0, end: 0 } // 1, not 0: zeroed pages are not there yet
    }

    /// All that was received and not forgotten.
    pub(crate) fn received(&self) -> &[u8] {
        &self.bytes[..self.end]
    }

    /// What was received and not parsed.
    pub(crate) fn unparsed(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Forgets what was parsed; moves the rest, if any, to the front.
    #[inline]
    pub(crate) fn forget_parsed(&mut self) {
        if self.start < self.end {
            self.bytes.copy_within(self.start..self.end, 0);
        }
        self.end -= self.start;
        self.start = 0;
    }

    /// Room for the next read, never empty. What was parsed stays in place when `keep` is true; otherwise it
    /// may go. `None` when the room would exceed what one message or batch may take.
    #[inline]
    pub(crate) fn room(&mut self, keep: bool) -> Option<&mut [u8]> {
        if self.start == self.end && !keep {
            self.start = 0;
            self.end = 0;
        } else if self.end == self.bytes.len() {
            if !keep && self.start > 0 {
                self.forget_parsed();
            } else {
                // The limit on messages, and room for the ends of two more.
                if self.bytes.len() > MESSAGE_LIMIT + 2 * FIRST_SIZE {
                    return None;
                }
                self.bytes.resize(self.bytes.len() * 2, 1);
            }
        }
        Some(&mut self.bytes[self.end..])
    }
}
