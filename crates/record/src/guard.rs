//! A fence around the Parquet library, which panics on bytes that it does not expect.
//!
//! Checksums keep flipped bits away from it, and not a file that was written wrong: its sums match. What it panics on is
//! one more damaged file, not a bug of ours, and the rest of the recording must still be read.

use crate::error::one_line;
use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static GUARDING: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic of this thread, now, would be caught and become a damaged file in
/// [`Recording::unreadable`](crate::Recording::unreadable). A program's panic hook asks this before it says anything.
pub fn is_guarding() -> bool {
    GUARDING.get()
}

/// Runs what decodes; a panic is an error as any other. Of what `work` was changing nothing may be used after an error.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let before = GUARDING.replace(true);
    let result = catch_unwind(AssertUnwindSafe(work));
    GUARDING.set(before);
    result.unwrap_or_else(|panic| Err(format!("damaged: it can't be decoded ({})", words(&*panic))))
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    one_line(text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no reason given"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_one_line_and_the_guard_ends_with_it() {
        assert!(!is_guarding());
        let read = |what: u8| {
            guarded(|| {
                assert!(is_guarding());
                match what {
                    0 => Ok(7),
                    1 => Err("plain".to_owned()),
                    2 => panic!("index {what}\nout of bounds"),
                    _ => guarded(|| Err("inner".to_owned())).or_else(|_: String| Ok(u8::from(is_guarding()))),
                }
            })
        };
        assert_eq!((read(0), read(1)), (Ok(7), Err("plain".to_owned())));
        assert_eq!(read(2), Err("damaged: it can't be decoded (index 2 out of bounds)".to_owned()));
        assert_eq!(read(3), Ok(1), "a guard inside of a guard leaves the outer one up");
        assert!(!is_guarding());
    }
}
