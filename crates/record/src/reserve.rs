//! Space by which a directory can be closed on a disk that has become full meanwhile: without its end, nobody would
//! know what is missing.

use crate::RecordError;
use std::path::Path;

/// Readers ignore names that end with `tmp`.
pub(crate) const FILE: &str = "reserve.tmp";
/// A `run.toml` with its end takes less than half of it.
const BYTES: usize = 48 << 10;

/// Takes it at the start.
pub(crate) fn take(dir: &Path) -> Result<(), RecordError> {
    let path = dir.join(FILE);
    // Not zeros: some file systems keep those for nothing.
    let mut filler = 0x9E37_79B9_u32;
    let bytes: Vec<u8> = std::iter::repeat_with(|| {
        filler = filler.wrapping_mul(0x0019_660D).wrapping_add(0x3C6E_F35F);
        filler.to_be_bytes()[0]
    })
    .take(BYTES)
    .collect();
    std::fs::write(&path, bytes).map_err(|cause| {
        give_back(dir);
        RecordError::Io { doing: "write", path, cause }
    })
}

/// Gives it back, before the end is written.
pub(crate) fn give_back(dir: &Path) {
    // If it is gone, so much the better.
    let _ = std::fs::remove_file(dir.join(FILE));
}
