//! The receive buffer.

/// Bytes that were received, parsed in place. All memory is initialised when it is allocated, so that its
/// pages are there before the first request.
pub struct Buffer {
    bytes: Vec<u8>,
    /// The most that one message may take.
    message_limit: usize,
    /// Bytes before it were parsed.
    pub start: usize,
    /// Bytes from here on are room.
    pub end: usize,
}

/// Enough for the answers of usual requests; large results make it grow or pass through.
const FIRST_SIZE: usize = 16 * 1024;

impl Buffer {
    /// An empty one, for messages up to `message_limit` bytes.
    pub fn new(message_limit: usize) -> Buffer {
        Buffer { bytes: vec![1; FIRST_SIZE], message_limit, start: 0, end: 0 } // 1, not 0: zeroed pages are not there yet
    }

    /// All that was received and not forgotten.
    pub fn received(&self) -> &[u8] {
        &self.bytes[..self.end]
    }

    /// What was received and not parsed.
    pub fn unparsed(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Forgets what was parsed; moves the rest, if any, to the front.
    #[inline]
    pub fn forget_parsed(&mut self) {
        if self.start < self.end {
            self.bytes.copy_within(self.start..self.end, 0);
        }
        self.end -= self.start;
        self.start = 0;
    }

    /// Room for the next read, never empty. What was parsed stays in place when `keep` is true; otherwise it
    /// may go. `None` when the room would exceed what one message or batch may take.
    #[inline]
    pub fn room(&mut self, keep: bool) -> Option<&mut [u8]> {
        if self.start == self.end && !keep {
            self.start = 0;
            self.end = 0;
        } else if self.end == self.bytes.len() {
            if !keep && self.start > 0 {
                self.forget_parsed();
            } else {
                // The limit on messages, and room for the ends of two more.
                if self.bytes.len() > self.message_limit + 2 * FIRST_SIZE {
                    return None;
                }
                self.bytes.resize(self.bytes.len() * 2, 1);
            }
        }
        Some(&mut self.bytes[self.end..])
    }
}
