//! The kernel's own timer tracer (CONFIG_TIMERLAT_TRACER): how late a timer's interrupt and a real-time thread are, on
//! each observed CPU, each millisecond.
//!
//! It is not among the sources by default: it needs root, and the kernel's threads and this reader take about as much
//! CPU time as hiccup threads do. It traces in an instance of its own, so that whoever traces on this host is not
//! disturbed; what it changes besides, the list of CPUs, is put back at the end. (The kernel's osnoise tracer is left out:
//! its threads spin, which would take the CPUs from the load.)

use crate::text::unavailable;
use crate::{Description, Kind, NoiseSource, Pace, Unavailable, Watch};
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use units::Nanos;

/// Our instance below `instances/`. One that a killed run has left is taken over.
const INSTANCE: &str = "truetail";

pub(crate) fn sources(watch: &Watch) -> Vec<Box<dyn NoiseSource>> {
    let cpus: Vec<String> = watch.cpus.iter().map(usize::to_string).collect();
    vec![Box::new(Timerlat {
        tracing: watch.places.sys.join("kernel/tracing"),
        cpus: cpus.join(","),
        traced: None,
        pending: String::new(),
    })]
}

struct Timerlat {
    tracing: PathBuf,
    /// As the kernel reads it: `0,2,3`.
    cpus: String,
    traced: Option<Traced>,
    /// The begin of a line whose end has not come yet.
    pending: String,
}

/// What was changed, and must be put back.
struct Traced {
    pipe: File,
    /// What `osnoise/cpus` held.
    cpus_before: Option<String>,
}

fn write(path: &Path, text: &str) -> Result<(), Unavailable> {
    std::fs::write(path, text).map_err(|error| unavailable(path, error))
}

impl Timerlat {
    fn instance(&self) -> PathBuf {
        self.tracing.join("instances").join(INSTANCE)
    }

    fn check(&self) -> Result<(), Unavailable> {
        let path = self.tracing.join("available_tracers");
        let tracers = std::fs::read_to_string(&path)
            .map_err(|error| unavailable(&path, format!("{error}; it needs root, and tracefs mounted")))?;
        match tracers.split_whitespace().any(|tracer| tracer == "timerlat") {
            true => Ok(()),
            false => {
                Err(Unavailable("this kernel has no timerlat tracer (CONFIG_TIMERLAT_TRACER)".to_owned()))
            }
        }
    }

    fn start(&mut self) -> Result<(), Unavailable> {
        let instance = self.instance();
        match std::fs::create_dir(&instance) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                return Err(unavailable(&instance, error));
            }
            _ => {}
        }
        let pipe = instance.join("trace_pipe");
        let opened = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(&pipe);
        let pipe = opened.map_err(|error| unavailable(&pipe, error))?;
        let list = self.tracing.join("osnoise/cpus");
        let cpus_before = std::fs::read_to_string(&list).ok();
        self.traced = Some(Traced { pipe, cpus_before });
        write(&list, &self.cpus)?;
        write(&instance.join("current_tracer"), "timerlat")
    }

    /// Puts back what was changed.
    fn restore(&mut self) {
        let Some(traced) = self.traced.take() else { return };
        let instance = self.instance();
        drop(traced.pipe); // a reader keeps the instance busy
        let _ = write(&instance.join("current_tracer"), "nop");
        if let Some(cpus) = traced.cpus_before {
            let _ = write(&self.tracing.join("osnoise/cpus"), &cpus);
        }
        let _ = std::fs::remove_dir(instance);
    }

    /// What was traced since the last look; `None` when it can't be read.
    fn traced(&mut self) -> Option<String> {
        let mut bytes = Vec::new();
        let read = self.traced.as_mut()?.pipe.read_to_end(&mut bytes);
        // What has been read before the pipe was empty is in `bytes`.
        if read.is_err_and(|error| error.kind() != ErrorKind::WouldBlock) {
            return None;
        }
        let text = std::mem::take(&mut self.pending) + &String::from_utf8_lossy(&bytes);
        let (whole, pending) = text.rsplit_once('\n').unwrap_or(("", &text));
        self.pending = pending.to_owned();
        Some(whole.to_owned())
    }
}

/// `…: #1     context thread timer_latency     11700 ns`
fn latency(line: &str) -> Option<u64> {
    let (_, rest) = line.split_once(" context ")?;
    let mut words = rest.split_whitespace();
    let thread = words.next()? == "thread" && words.next()? == "timer_latency";
    let value = words.next()?.parse().ok()?;
    (thread && words.next()? == "ns").then_some(value)
}

impl NoiseSource for Timerlat {
    fn describe(&self) -> Description {
        Description {
            name: "timerlat".into(),
            kind: Kind::Time,
            pace: Pace::Fast,
            quantum: "1 ns",
            summary: "how late the kernel's tracing thread was woken, at worst, on any observed CPU",
        }
    }

    fn open(&mut self) -> Result<(), Unavailable> {
        self.check()?;
        let started = self.start();
        if started.is_err() {
            self.restore();
        }
        started
    }

    fn read(&mut self, _elapsed_ns: u64) -> Option<f64> {
        let text = self.traced()?;
        text.lines().filter_map(latency).max().map(|worst| worst as f64)
    }

    fn close(&mut self) -> Nanos {
        self.restore();
        Nanos::ZERO
    }
}

impl Drop for Timerlat {
    fn drop(&mut self) {
        self.restore();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Planted;
    use std::io::Write;

    /// As the kernel's documentation has it (Documentation/trace/timerlat-tracer.rst).
    const IRQ: &str = "          <idle>-0       [000] d.h1.    54.029328: #1     context    irq timer_latency       932 ns\n";
    const THREAD: &str = "           <...>-867     [000] .....    54.029339: #1     context thread timer_latency     11700 ns\n";

    #[test]
    fn latencies_of_threads_are_read() {
        assert_eq!((latency(IRQ.trim_end()), latency(THREAD.trim_end())), (None, Some(11_700)));
        assert_eq!(latency("x context thread timer_latency 12 us"), None);
    }

    #[test]
    fn a_kernel_without_the_tracer_says_so() {
        let planted = Planted::new("no-timerlat");
        let why = |planted: &Planted| sources(&planted.watch())[0].open().unwrap_err().0;
        assert!(why(&planted).contains("it needs root, and tracefs mounted"));
        planted.write("sys/kernel/tracing/available_tracers", "blk function nop\n");
        assert_eq!(why(&planted), "this kernel has no timerlat tracer (CONFIG_TIMERLAT_TRACER)");
    }

    #[test]
    fn what_is_traced_is_told_and_what_was_changed_is_put_back() {
        let planted = Planted::new("timerlat");
        let tracing = "sys/kernel/tracing";
        planted.write(&format!("{tracing}/available_tracers"), "timerlat osnoise nop\n");
        planted.write(&format!("{tracing}/osnoise/cpus"), "0-7\n");
        planted.write(&format!("{tracing}/instances/truetail/trace_pipe"), "");
        planted.write(&format!("{tracing}/instances/truetail/current_tracer"), "nop");
        let mut watch = planted.watch();
        watch.cpus = vec![1, 3];
        let mut source = sources(&watch).swap_remove(0);
        source.open().unwrap();
        assert_eq!(planted.read(&format!("{tracing}/instances/truetail/current_tracer")), "timerlat");
        assert_eq!(planted.read(&format!("{tracing}/osnoise/cpus")), "1,3");
        let mut pipe = OpenOptions::new()
            .append(true)
            .open(planted.0.join(tracing).join("instances/truetail/trace_pipe"))
            .unwrap();
        assert_eq!(source.read(1), None, "no time at all was traced");
        let (begin, end) = THREAD.split_at(60);
        write!(pipe, "{IRQ}{}{begin}", THREAD.replace("11700", "  300")).unwrap();
        assert_eq!(source.read(1), Some(300.0));
        write!(pipe, "{end}").unwrap();
        assert_eq!(source.read(1), Some(11_700.0));
        source.close();
        assert_eq!(planted.read(&format!("{tracing}/instances/truetail/current_tracer")), "nop");
        assert_eq!(planted.read(&format!("{tracing}/osnoise/cpus")), "0-7\n");
    }

    #[test]
    fn fuzz_timerlat() {
        let words = [" context ", "thread", "timer_latency", " ns"];
        testkit::fuzz::Fuzz::new("timerlat").from([IRQ, THREAD]).words(words).run(2_000, |input| {
            let _ = latency(&String::from_utf8_lossy(input));
        });
    }
}
