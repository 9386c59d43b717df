//! The housekeeping thread that reads all sources.

use crate::text::always_read;
use crate::{NoiseSource, Pace, Unavailable};
use clock::{Clock, LiveClock};
use record::NoiseSourceFacts;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use units::{Nanos, Ticks};

/// A slow source is read each so many rounds.
const SLOW: u64 = 10;

/// Where readings go.
pub trait ObserverSink: Send + 'static {
    /// A value of the n-th source over a window, or over an interval.
    fn observe(&mut self, source: usize, value: f64, begin: Ticks, end: Ticks);

    /// A value in ns of a source that was found while watching, over an interval.
    fn observe_named(&mut self, source: &str, value: f64, begin: Ticks, end: Ticks);
}

/// What observing cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Spent {
    /// CPU time of the reading thread and of the threads of all sources, by the threads' own clocks.
    pub cpu: Nanos,
    /// How long they watched.
    pub watched: Nanos,
}

/// Reads sources until it is stopped.
pub struct Observer {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Spent>>,
}

impl Observer {
    /// Opens all sources and reads those that opened each `interval` (slow ones each tenth), on a thread of low
    /// priority. Gives what each says of itself, with the measured cost of one reading, in the order of `sources`;
    /// indexes in readings refer to it.
    pub fn start(
        sources: Vec<Box<dyn NoiseSource>>,
        interval: Nanos,
        clock: LiveClock,
        sink: impl ObserverSink,
    ) -> (Observer, Vec<NoiseSourceFacts>) {
        let (mut facts, mut open) = (Vec::new(), Vec::new());
        for (index, mut source) in sources.into_iter().enumerate() {
            let (fact, begin) = facts_of(source.as_mut(), clock);
            facts.push(fact);
            open.extend(begin.map(|begin| Open::new(index, source, begin)));
        }
        let stop = Arc::new(AtomicBool::new(false));
        let mut work = Work { open, clock, sink };
        let stopped = Arc::clone(&stop);
        let spawned = std::thread::Builder::new().name("observe".to_owned()).spawn(move || {
            record::lower_priority();
            work.run(interval, &stopped)
        });
        let thread = spawned.map_err(|error| format!("no thread could be started to read it: {error}"));
        if let Err(why) = &thread {
            facts.iter_mut().filter(|f| f.available.is_ok()).for_each(|f| f.available = Err(why.clone()));
        }
        (Observer { stop, thread: thread.ok() }, facts)
    }

    /// Stops reading; returns when the last reading is handed over. `None` where nothing was read.
    pub fn stop(mut self) -> Option<Spent> {
        self.stop.store(true, Ordering::Relaxed);
        // A panicked observer has lost readings, which the recording shows as a gap.
        self.thread.take()?.join().ok()
    }
}

/// What a source says of itself and, where it opened, when its first window begins.
fn facts_of(source: &mut dyn NoiseSource, clock: LiveClock) -> (NoiseSourceFacts, Option<Ticks>) {
    let about = source.describe();
    let opened = open_and_time(source, clock);
    let begin = opened.as_ref().ok().map(|(_, begin)| *begin);
    let available = opened.map(|(cost, _)| cost).map_err(|Unavailable(reason)| reason);
    (NoiseSourceFacts { name: about.name.into_owned(), unit: about.kind.unit().to_owned(), available }, begin)
}

/// The cost of a reading, ns, of files that it may share with other sources too; and when its next window begins: with
/// the last of these readings, whatever is done before the next one.
fn open_and_time(source: &mut dyn NoiseSource, clock: LiveClock) -> Result<(u64, Ticks), Unavailable> {
    source.open()?;
    let begin = clock.now();
    always_read(|| {
        for _ in 0..10 {
            source.read(1);
        }
    });
    let end = clock.now();
    Ok((clock.nanos_in(end.0 - begin.0).0 / 10, end))
}

/// A source that could be opened.
struct Open {
    index: usize,
    source: Box<dyn NoiseSource>,
    /// Rounds from one reading to the next.
    every: u64,
    /// Where its window begins.
    begin: Ticks,
}

impl Open {
    fn new(index: usize, source: Box<dyn NoiseSource>, begin: Ticks) -> Open {
        let every = if source.describe().pace == Pace::Slow { SLOW } else { 1 };
        Open { index, source, every, begin }
    }
}

/// What the thread works on.
struct Work<S> {
    open: Vec<Open>,
    clock: LiveClock,
    sink: S,
}

impl<S: ObserverSink> Work<S> {
    fn run(&mut self, interval: Nanos, stop: &AtomicBool) -> Spent {
        let begun = self.clock.now();
        for round in 1.. {
            clock::pause(interval);
            // Read before the round, so that the last one is of all sources.
            let last = stop.load(Ordering::Relaxed);
            self.round(round, last);
            if last {
                break;
            }
        }
        let cpu = self.close();
        let watched = self.clock.nanos_in(self.clock.now().0.saturating_sub(begun.0));
        Spent { cpu: cpu + clock::thread_cpu_time(), watched }
    }

    fn round(&mut self, round: u64, last: bool) {
        for Open { index, source, every, begin } in &mut self.open {
            source.intervals(&mut |value, begin, end| self.sink.observe(*index, value, begin, end));
            source.named(&mut |name, value, begin, end| self.sink.observe_named(name, value, begin, end));
            if !last && !round.is_multiple_of(*every) {
                continue;
            }
            let end = self.clock.now();
            let elapsed = self.clock.nanos_in(end.0.saturating_sub(begin.0)).0;
            if let Some(value) = source.read(elapsed) {
                self.sink.observe(*index, value, *begin, end);
            }
            *begin = end;
        }
    }

    /// Ends all sources, and takes what their threads saw last.
    fn close(&mut self) -> Nanos {
        let mut cpu = Nanos::ZERO;
        for Open { index, source, .. } in &mut self.open {
            cpu = cpu + source.close();
            source.intervals(&mut |value, begin, end| self.sink.observe(*index, value, begin, end));
            source.named(&mut |name, value, begin, end| self.sink.observe_named(name, value, begin, end));
        }
        cpu
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Description, Kind, NamedReport, Report};
    use std::sync::mpsc::{Sender, channel};

    /// Counts its readings, and hands over an interval with each look and one after its end.
    struct Planted {
        pace: Pace,
        read: u64,
        closed: bool,
    }

    impl NoiseSource for Planted {
        fn describe(&self) -> Description {
            let name = if self.pace == Pace::Slow { "slow" } else { "fast" };
            Description {
                name: name.into(),
                kind: Kind::Count,
                pace: self.pace,
                quantum: "1",
                summary: "planted",
            }
        }

        fn open(&mut self) -> Result<(), Unavailable> {
            Ok(())
        }

        fn read(&mut self, _elapsed_ns: u64) -> Option<f64> {
            self.read += 1;
            Some(self.read as f64)
        }

        fn intervals(&mut self, report: &mut Report<'_>) {
            report(if self.closed { -2.0 } else { -1.0 }, Ticks(3), Ticks(5));
        }

        fn named(&mut self, report: &mut NamedReport<'_>) {
            if self.closed {
                report("found", 7.0, Ticks(8), Ticks(9));
            }
        }

        fn close(&mut self) -> Nanos {
            self.closed = true;
            Nanos::from_secs(3)
        }
    }

    /// Takes long to open; tells when it began to.
    struct SlowToOpen(LiveClock, Sender<Ticks>);

    impl NoiseSource for SlowToOpen {
        fn describe(&self) -> Description {
            Planted { pace: Pace::Slow, read: 0, closed: false }.describe()
        }

        fn open(&mut self) -> Result<(), Unavailable> {
            self.1.send(self.0.now()).expect("somebody listens");
            clock::pause(Nanos::from_millis(5));
            Err(Unavailable("after all".to_owned()))
        }

        fn read(&mut self, _elapsed_ns: u64) -> Option<f64> {
            None
        }
    }

    #[test]
    fn a_first_window_begins_where_its_counter_does_and_not_when_all_are_open() {
        let clock = crate::registry::tests::watch().clock;
        let (told, heard) = channel();
        let (tell, opened) = channel();
        let planted = Planted { pace: Pace::Fast, read: 0, closed: false };
        let sources: Vec<Box<dyn NoiseSource>> = vec![Box::new(planted), Box::new(SlowToOpen(clock, tell))];
        let (observer, _) = Observer::start(sources, Nanos::from_micros(200), clock, Told(told));
        observer.stop();
        let first = heard.iter().find(|o| o.1 > 0.0).expect("a window");
        assert!(first.2 <= opened.recv().unwrap() && first.2 > Ticks(5), "{first:?}");
    }

    /// Reads a shared table.
    struct OfTable(crate::text::SharedTable<()>);

    impl NoiseSource for OfTable {
        fn describe(&self) -> Description {
            Planted { pace: Pace::Slow, read: 0, closed: false }.describe()
        }

        fn open(&mut self) -> Result<(), Unavailable> {
            Ok(())
        }

        fn read(&mut self, _elapsed_ns: u64) -> Option<f64> {
            crate::text::value_of(&self.0, |()| Some(1.0), "line").ok()
        }
    }

    #[test]
    fn each_timed_reading_reads_what_it_shares_with_others() {
        static READ: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        let planted = crate::text::Planted::new("timed");
        planted.write("a", "1");
        let clock = crate::registry::tests::watch().clock;
        let parse = |_: &str| {
            READ.fetch_add(1, Ordering::Relaxed);
            Some(())
        };
        let table = crate::text::Table::shared(planted.0.join("a"), parse, clock);
        crate::text::keep_for_long(&table);
        let mut source = OfTable(table);
        assert!(open_and_time(&mut source, clock).is_ok());
        assert_eq!(READ.load(Ordering::Relaxed), 10);
    }

    struct Absent;

    impl NoiseSource for Absent {
        fn describe(&self) -> Description {
            Description {
                name: "absent".into(),
                kind: Kind::Time,
                pace: Pace::Fast,
                quantum: "1",
                summary: "none",
            }
        }

        fn open(&mut self) -> Result<(), Unavailable> {
            Err(Unavailable("planted".to_owned()))
        }

        fn read(&mut self, _elapsed_ns: u64) -> Option<f64> {
            panic!("never opened")
        }
    }

    struct Told(Sender<(usize, f64, Ticks, Ticks)>);

    impl ObserverSink for Told {
        fn observe(&mut self, source: usize, value: f64, begin: Ticks, end: Ticks) {
            let _ = self.0.send((source, value, begin, end));
        }

        fn observe_named(&mut self, source: &str, value: f64, begin: Ticks, end: Ticks) {
            assert_eq!(source, "found");
            let _ = self.0.send((FOUND, value, begin, end));
        }
    }

    /// Stands for the source that was found while watching.
    const FOUND: usize = 99;

    #[test]
    fn readings_windows_intervals_and_costs_are_told() {
        let clock = crate::registry::tests::watch().clock;
        let planted = |pace| -> Box<dyn NoiseSource> { Box::new(Planted { pace, read: 0, closed: false }) };
        let (told, heard) = channel();
        let sources = vec![planted(Pace::Fast), Box::new(Absent), planted(Pace::Slow)];
        let (observer, facts) = Observer::start(sources, Nanos::from_micros(200), clock, Told(told));
        assert_eq!(facts[1].available, Err("planted".to_owned()));
        assert!(facts[0].available.is_ok() && facts[2].available.is_ok());
        let first = heard.recv().unwrap();
        assert_eq!((first.0, first.1, first.2, first.3), (0, -1.0, Ticks(3), Ticks(5)));
        let mut all: Vec<_> = heard.iter().take(100).collect();
        let spent = observer.stop().unwrap();
        all.extend(heard.iter());
        // Its own thread and two sources of 3 s each; nobody can have used as much as a second here.
        assert!((6_000_000_000..7_000_000_000).contains(&spent.cpu.0), "{spent:?}");
        let windows = |source: usize| all.iter().filter(move |o| o.0 == source && o.1 > 0.0);
        assert!(windows(0).zip(windows(0).skip(1)).all(|(a, b)| a.3 == b.2 && b.1 == a.1 + 1.0));
        let (fast, slow) = (windows(0).count(), windows(2).count());
        assert!(slow == fast / 10 || slow == fast / 10 + 1, "{slow} of {fast}");
        for source in [0, 2] {
            assert_eq!(all.iter().filter(|o| o.0 == source && o.1 == -2.0).count(), 1, "after the end");
        }
        assert_eq!(all.iter().filter(|o| **o == (FOUND, 7.0, Ticks(8), Ticks(9))).count(), 2);
    }
}
