//! The housekeeping thread that reads all sources.

use crate::{NoiseSource, Unavailable};
use clock::{Clock, LiveClock};
use record::NoiseSourceFacts;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use units::{Nanos, Ticks};

/// Where readings go.
pub trait ObserverSink: Send + 'static {
    /// A value of the n-th source over a window.
    fn observe(&mut self, source: usize, value: f64, begin: Ticks, end: Ticks);
}

/// Reads sources until it is stopped.
pub struct Observer {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Observer {
    /// Opens all sources and reads those that opened each `interval`. Gives what each says of itself, with
    /// the measured cost of one reading, in the order of `sources`; indexes in readings refer to it.
    pub fn start(
        mut sources: Vec<Box<dyn NoiseSource>>,
        interval: Nanos,
        clock: LiveClock,
        mut sink: impl ObserverSink,
    ) -> (Observer, Vec<NoiseSourceFacts>) {
        let mut open = Vec::new();
        let facts: Vec<NoiseSourceFacts> = sources
            .iter_mut()
            .enumerate()
            .map(|(index, source)| {
                let about = source.describe();
                let available = open_and_time(source.as_mut(), clock);
                if available.is_ok() {
                    open.push(index);
                }
                let available = available.map_err(|Unavailable(reason)| reason);
                NoiseSourceFacts {
                    name: about.name.to_owned(),
                    unit: about.kind.unit().to_owned(),
                    available,
                }
            })
            .collect();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let work = move || {
            let mut begin = clock.now();
            while !stopped.load(Ordering::Relaxed) {
                clock::pause(interval);
                let end = clock.now();
                let elapsed = clock.nanos_in(end.0 - begin.0).0;
                for &index in &open {
                    // Values first, window last: the value covers at most the window that is stated.
                    if let Some(value) = sources[index].read(elapsed) {
                        sink.observe(index, value, begin, end);
                    }
                }
                begin = end;
            }
        };
        let thread = std::thread::Builder::new().name("observe".to_owned()).spawn(work).ok();
        (Observer { stop, thread }, facts)
    }

    /// Stops reading; returns when the last reading is handed over.
    pub fn stop(mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A panicked observer has lost readings, which the recording shows as a gap.
            let _ = thread.join();
        }
    }
}

fn open_and_time(source: &mut dyn NoiseSource, clock: LiveClock) -> Result<u64, Unavailable> {
    source.open()?;
    let begin = clock.now();
    for _ in 0..10 {
        source.read(1);
    }
    Ok(clock.nanos_in(clock.now().0 - begin.0).0 / 10)
}
