//! A disk that takes no more: the run ends, says where and why, and keeps what was written.

use crate::program::{Ended, Scratch, assert_contiguous};
use record::Ending;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// The load is slow at first, so that some parts fit, and then much faster.
const LOAD: [&str; 9] =
    ["run", "null:", "--phases", "1500ms@100/s, 300s@50000/s", "--warmup", "0s", "--threads", "1", "-o"];

/// What every such run must say, and what must be left of it.
fn assert_ended_early(scratch: &Scratch, ended: Ended, directory: &str, reason: &str) {
    assert_eq!(ended.code, Some(3), "{ended:?}");
    let said: Vec<&str> = ended.stderr.lines().filter(|l| l.starts_with("truetail: ")).collect();
    let [line] = said[..] else { panic!("not one line: {ended:?}") };
    assert!(line.contains(reason), "{line}");
    assert!(line.contains(&format!("{directory}/samples/part-0000-")), "{line}");
    assert!(line.contains("kept in") && line.contains("--out"), "{line}");
    assert!(ended.stdout.contains("\nverdict invalid"), "{ended:?}");
    assert!(ended.stdout.contains("the run failed: can't write"), "{ended:?}");
    assert!(ended.stdout.contains("samples were dropped"), "{ended:?}");

    let recording = scratch.recording(directory);
    let end = recording.end().expect("an end");
    assert!(matches!(&end.ending, Ending::Failed(why) if why.contains(reason)), "{:?}", end.ending);
    assert!(end.unwritable > 0 && end.samples > 0, "{end:?}");
    // Of the 300 s that were asked for, most were not run.
    assert!(end.at.0 < 60_000_000_000, "{:?}", end.at);
    assert_eq!(recording.rows(), end.samples);
    assert_eq!(recording.unreadable(), Vec::new());
    let rows = scratch.rows(directory);
    assert_eq!(rows.len() as u64, end.samples);
    // What came before the first part that was refused is whole.
    assert_contiguous(&rows[..100]);
    let again = scratch.truetail(&["report", directory, "-o", "elsewhere"]).with_code(3);
    assert!(again.stdout.contains("the run failed: can't write"), "{again:?}");
}

#[test]
fn a_file_that_may_not_grow_ends_the_run() {
    let scratch = Scratch::new("file-limit");
    let mut command = scratch.command(&[&LOAD[..], &["a"]].concat());
    let limit = libc::rlimit { rlim_cur: 64 << 10, rlim_max: 64 << 10 };
    // SAFETY: both calls are async-signal-safe, and touch the child alone.
    unsafe {
        command.pre_exec(move || {
            libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
            match libc::setrlimit(libc::RLIMIT_FSIZE, &limit) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            }
        });
    }
    let ended = scratch.run(&mut command);
    assert_ended_early(&scratch, ended, "a", "File too large (os error 27)");
}

/// A file system of half a megabyte, in a mount namespace of the test's own; what is on it is copied out.
#[test]
fn a_full_disk_ends_the_run() {
    if std::env::var_os("TRUETAIL_SKIP_NAMESPACES").is_some() {
        eprintln!("skipped, as TRUETAIL_SKIP_NAMESPACES says: the run on a full disk");
        return;
    }
    let scratch = Scratch::new("disk-full");
    std::fs::create_dir(scratch.path("small")).expect("a directory");
    let run = scratch.command(&[&LOAD[..], &["small/a"]].concat());
    let script = "mount -t tmpfs -o size=512k small small || exit 99\n\"$@\"\ncode=$?\n\
                  cp -r small out && exit $code";
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"]);
    command.arg(run.get_program()).args(run.get_args()).current_dir(scratch.path(""));
    let ended = scratch.run(&mut command);
    assert_ne!(
        ended.code,
        Some(99),
        "no file system can be mounted here; TRUETAIL_SKIP_NAMESPACES=1 skips this test: {ended:?}"
    );
    std::fs::remove_dir(scratch.path("small")).expect("it is empty outside of the namespace");
    std::fs::rename(scratch.path("out"), scratch.path("small")).expect("the copy");
    assert_ended_early(&scratch, ended, "small/a", "No space left on device (os error 28)");
}

#[test]
fn a_report_that_can_not_be_written_does_not_keep_the_page_back() {
    let scratch = Scratch::new("no-report");
    let mut command =
        scratch.command(&["run", "null:", "-r", "200/s", "-d", "1s", "--warmup", "0s", "-o", "a"]);
    // Above the space that a recording keeps for its end and above the summary (55 kB on a quiet host), below the page with its
    // figures (144 kB).
    let limit = libc::rlimit { rlim_cur: 100 << 10, rlim_max: 100 << 10 };
    // SAFETY: as above.
    unsafe {
        command.pre_exec(move || {
            libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
            libc::setrlimit(libc::RLIMIT_FSIZE, &limit);
            Ok(())
        });
    }
    let ended = scratch.run(&mut command);
    assert!(matches!(ended.code, Some(2 | 3)), "{ended:?}");
    assert!(ended.stdout.starts_with("open loop"), "{ended:?}");
    if ended.code == Some(2) {
        assert!(
            ended.stderr.contains("a/report.html") && ended.stderr.contains("File too large"),
            "{ended:?}"
        );
    }
    assert!(scratch.recording("a").end().is_some_and(|end| end.unwritable == 0));
}
