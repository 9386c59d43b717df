//! Where there is no bpf(2).

use crate::Unavailable;
use std::path::Path;

pub(super) struct Attached {
    pub(super) own: u32,
}

impl Attached {
    pub(super) fn new(_: &[usize], _: &Path) -> Result<Attached, Unavailable> {
        Err(Unavailable("it needs Linux on a little-endian CPU".to_owned()))
    }

    pub(super) fn drain(&mut self, _: impl FnMut(&[u8])) {}

    pub(super) fn lost(&self) -> Option<u64> {
        None
    }
}

pub(super) fn interrupt_name(_: &Path, _: u32) -> Option<String> {
    None
}
