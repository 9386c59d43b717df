//! What tests share that plant something from another process: this program again, as one of its own tests.

use clock::LiveClock;
use std::io::BufRead;
use std::process::{Child, Command, Stdio};

pub fn clock() -> LiveClock {
    clock::calibrate(clock::ClockChoice::Monotonic).expect("the kernel's clock").start()
}

pub fn first_cpu() -> usize {
    let found = std::thread::spawn(|| (0..1024).find(|cpu| clock::pin_to(*cpu))).join();
    found.ok().flatten().expect("a CPU that may be used")
}

/// The next line that begins so.
pub fn line(from: &mut impl BufRead, begin: &str) -> String {
    let mut text = String::new();
    loop {
        text.clear();
        assert!(from.read_line(&mut text).expect("a pipe") > 0, "the child has ended");
        if text.starts_with(begin) {
            return text;
        }
    }
}

/// Ends the child however the test ends.
pub struct Ending(pub Child);

impl Drop for Ending {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// This program again, as the test of this name, with a variable set.
pub fn again(test: &str, variable: &str, value: &str) -> Ending {
    let mut command = Command::new(std::env::current_exe().expect("this test"));
    command.args(["--exact", test, "--nocapture"]).env(variable, value);
    Ending(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("itself"))
}
