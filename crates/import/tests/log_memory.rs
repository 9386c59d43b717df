//! Memory for a log does not grow with it but for what it tells: a file without a line break is one line, however long.

use import::{jvm, server_log};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use testkit::memory::{MeasuringAlloc, measured};

#[global_allocator]
static ALLOC: MeasuringAlloc = MeasuringAlloc;

const SIZE: usize = 64 << 20;
/// Buffers, and a few copies of the longest line.
const ENOUGH: usize = 8 << 20;

/// A file for one test, removed at its end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, write: impl FnOnce(&File)) -> Scratch {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}.log", std::process::id()));
        write(&File::create(&path).expect("a file"));
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0); // what is left is in the target directory
    }
}

#[test]
fn a_file_without_line_breaks_is_one_line_that_is_not_understood() {
    let zeros = Scratch::new("zeros", |file| file.set_len(SIZE as u64).expect("room"));
    let (log, memory) = measured(|| server_log::read(&zeros.0).expect("read"));
    assert_eq!((log.lines, log.not_understood), (1, 1));
    assert!(memory.peak < ENOUGH, "{memory:?}");
    let (log, memory) = measured(|| jvm::read(&zeros.0).expect("read"));
    assert_eq!((log.lines, log.not_understood), (1, 1));
    assert!(memory.peak < ENOUGH, "{memory:?}");
}

#[test]
fn a_log_of_many_lines_that_tell_nothing_leaves_nothing() {
    let line = "[0.242s][info][gc,init] Using G1\n";
    let count = SIZE / line.len();
    let many = Scratch::new("many", |file| {
        let mut file = BufWriter::new(file);
        (0..count).for_each(|_| file.write_all(line.as_bytes()).expect("room"));
        file.flush().expect("room");
    });
    let (log, memory) = measured(|| jvm::read(&many.0).expect("read"));
    assert_eq!((log.lines, log.not_understood, log.pauses.len()), (count as u64, 0, 0));
    assert!(memory.peak < ENOUGH, "{memory:?}");
    let (log, memory) = measured(|| server_log::read(&many.0).expect("read"));
    assert_eq!((log.lines, log.not_understood), (count as u64, count as u64));
    assert!(memory.peak < ENOUGH, "{memory:?}");
}
