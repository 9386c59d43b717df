//! The recorder of a live store.

use crate::recorder::lower_priority;
use crate::ring::ring_of;
use crate::sealed::ROWS_MAX;
use crate::truth::{TruthEnd, TruthHeader, TruthRow, TruthWriter};
use crate::{Consumer, Event, EventKind, Producer, RecordError};
use clock::{Anchor, Clock, LiveClock};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;
use units::{Instant, Nanos, Ticks};

/// The end of the ring that the store's thread has: a push neither allocates nor locks nor waits, and a full ring counts
/// a drop.
pub type TruthProducer = Producer<TruthRow>;

/// What the recorder of a truth log needs to know.
#[derive(Clone, Debug)]
pub struct TruthRecorderConfig {
    /// The log's directory; made if it is not there.
    pub dir: PathBuf,
    /// The header; the recorder itself sets `epoch_wall_ns`.
    pub header: TruthHeader,
    /// Rows that the ring holds, rounded up to a power of two; ≈ 110 bytes each, touched at the start.
    pub capacity: usize,
    /// How often a part file is closed, and an anchor taken. A killed store loses what it answered since.
    pub part_interval: Nanos,
    /// How often the ring is drained.
    pub drain_interval: Nanos,
}

impl TruthRecorderConfig {
    /// A part each half second, a drain each 20 ms, and a ring of 65,536 rows: two seconds at 30,000 requests/s, for a
    /// disk that is slow.
    pub fn new(dir: impl Into<PathBuf>, header: TruthHeader) -> TruthRecorderConfig {
        TruthRecorderConfig {
            dir: dir.into(),
            header,
            capacity: 1 << 16,
            part_interval: Nanos::from_millis(500),
            drain_interval: Nanos::from_millis(20),
        }
    }
}

/// What is on disk after a store has ended.
#[derive(Clone, PartialEq, Debug)]
pub struct TruthFinished {
    /// The log's directory.
    pub path: PathBuf,
    /// Its last section as written.
    pub end: TruthEnd,
}

/// Takes events from any thread; cheap to clone. A push allocates, so it has no place between a request and its answer.
#[derive(Clone)]
pub struct TruthEvents {
    messages: mpsc::Sender<Event>,
}

impl TruthEvents {
    /// Adds an event, with instants of the store's clock; `end` is the same as `begin` for a moment, and NONE where
    /// it is not known. Never waits; after the recorder's end it does nothing.
    pub fn push(&self, event: Event) {
        let _ = self.messages.send(event);
    }
}

/// The recorder of a live store. Dropped without [`TruthRecorder::finish`], it writes what it has and leaves a log that
/// was cut short.
pub struct TruthRecorder {
    dir: PathBuf,
    shared: Arc<Shared>,
    messages: mpsc::Sender<Event>,
    thread: Option<JoinHandle<Result<Option<TruthEnd>, RecordError>>>,
}

#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    /// How to end; none on a drop. Set before `stop`.
    end: Mutex<Option<TruthEnd>>,
    trouble: Mutex<Option<String>>,
}

impl TruthRecorder {
    /// Makes the log and starts the thread. `clock` is the store's own: an instant in a row is
    /// [`clock.nanos_in`](LiveClock::nanos_in) of the ticks since its start line, by the frequency that was known then.
    ///
    /// # Errors
    /// Those of [`TruthWriter::create`], and [`RecordError::Io`] if there can be no thread.
    pub fn start(
        mut config: TruthRecorderConfig,
        clock: LiveClock,
    ) -> Result<(TruthProducer, TruthRecorder), RecordError> {
        let first = store_anchor(&clock);
        config.header.epoch_wall_ns = first.realtime_ns.saturating_sub(first.ticks.0);
        let mut writer = TruthWriter::create(&config.dir, &config.header)?;
        writer.anchor(first);
        let (producer, consumer) = ring_of(config.capacity, TruthRow::EMPTY);
        let (messages, inbox) = mpsc::channel();
        let shared = Arc::<Shared>::default();
        let dir = config.dir.clone();
        let part_begun = clock.now();
        let work = Work {
            config,
            clock,
            writer,
            consumer,
            inbox,
            shared: Arc::clone(&shared),
            open: Vec::new(),
            part_begun,
            dropped_told: 0,
            unwritable_told: 0,
        };
        let thread = std::thread::Builder::new()
            .name("truth".to_owned())
            .spawn(move || {
                lower_priority();
                work.run()
            })
            .map_err(RecordError::io("start the recorder's thread for", &dir))?;
        Ok((producer, TruthRecorder { dir, shared, messages, thread: Some(thread) }))
    }

    /// Takes events from any thread.
    pub fn events(&self) -> TruthEvents {
        TruthEvents { messages: self.messages.clone() }
    }

    /// The first write error so far, in words; the store goes on regardless.
    pub fn trouble(&self) -> Option<String> {
        lock(&self.shared.trouble).clone()
    }

    /// Drains the ring for the last time, writes what is left, and closes the log. Stop the store first: what it
    /// pushes afterwards is lost. The counts of `end` are filled in.
    ///
    /// # Errors
    /// When `truth.toml` can't be closed. Parts that could not be written are no error here: see
    /// [`TruthEnd::unwritable`] and [`TruthEnd::trouble`].
    pub fn finish(mut self, end: TruthEnd) -> Result<TruthFinished, RecordError> {
        *lock(&self.shared.end) = Some(end);
        match self.stop() {
            Some(Ok(Some(end))) => Ok(TruthFinished { path: self.dir.clone(), end }),
            Some(Err(error)) => Err(error),
            Some(Ok(None)) | None => Err(RecordError::Io {
                doing: "finish",
                path: self.dir.clone(),
                cause: std::io::Error::other("the recorder's thread is gone"),
            }),
        }
    }

    fn stop(&mut self) -> Option<Result<Option<TruthEnd>, RecordError>> {
        // Release pairs with the thread's Acquire: `end` is visible before the stop.
        self.shared.stop.store(true, Ordering::Release);
        self.thread.take()?.join().ok()
    }
}

impl Drop for TruthRecorder {
    fn drop(&mut self) {
        self.stop();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All clocks at once, with the store's own in nanoseconds.
fn store_anchor(clock: &LiveClock) -> Anchor {
    let anchor = clock.anchor();
    Anchor {
        ticks: Ticks(clock.nanos_in(anchor.ticks.0).0),
        width_ticks: clock.nanos_in(anchor.width_ticks).0,
        ..anchor
    }
}

/// What the thread works on.
struct Work {
    config: TruthRecorderConfig,
    clock: LiveClock,
    writer: TruthWriter,
    consumer: Consumer<TruthRow>,
    inbox: mpsc::Receiver<Event>,
    shared: Arc<Shared>,
    /// The open part.
    open: Vec<TruthRow>,
    part_begun: Ticks,
    dropped_told: u64,
    unwritable_told: u64,
}

impl Work {
    /// Until it is told to stop; gives the end as written, or `None` if there was to be none.
    fn run(mut self) -> Result<Option<TruthEnd>, RecordError> {
        loop {
            // Acquire pairs with the Release in `TruthRecorder::stop`. Read before the drain, so that what was pushed
            // before the stop is drained.
            let stopping = self.shared.stop.load(Ordering::Acquire);
            let open = &mut self.open;
            self.consumer.drain(|row| open.push(*row));
            self.inbox.try_iter().for_each(|event| self.writer.event(event));
            let age = self.clock.nanos_in(self.clock.now().0.saturating_sub(self.part_begun.0));
            if stopping || age >= self.config.part_interval || self.open.len() >= ROWS_MAX / 2 {
                self.close_part();
            }
            if stopping {
                return self.end();
            }
            clock::pause(self.config.drain_interval);
        }
    }

    fn close_part(&mut self) {
        let began = std::mem::replace(&mut self.part_begun, self.clock.now());
        self.writer.anchor(store_anchor(&self.clock));
        let dropped = self.consumer.dropped();
        let new = dropped - std::mem::replace(&mut self.dropped_told, dropped);
        if new > 0 {
            self.tell(began, "ring", format!("{new} rows found the ring full"));
        }
        // In the order of the requests instead of the answers: neighbours differ less, so files are smaller.
        self.open.sort_by_key(|row| row.seq);
        let written = self.writer.write_rows(&self.open).and(self.writer.close_part());
        self.open.clear();
        if written.is_err() {
            self.tell_trouble(began);
        }
    }

    fn tell_trouble(&mut self, began: Ticks) {
        let unwritable = self.writer.unwritable();
        let new = unwritable - std::mem::replace(&mut self.unwritable_told, unwritable);
        let trouble = self.writer.trouble().unwrap_or("the disk refused a part").to_owned();
        self.tell(began, "disk", format!("{new} rows could not be written: {trouble}"));
        lock(&self.shared.trouble).get_or_insert(trouble);
    }

    fn tell(&mut self, began: Ticks, subject: &str, detail: String) {
        let at = |ticks: Ticks| Instant(self.clock.nanos_in(ticks.0).0);
        let (begin, end) = (at(began), at(self.clock.now()));
        let kind = EventKind::Recorder;
        self.writer.event(Event { kind, begin, end, subject: subject.to_owned(), detail });
    }

    fn end(self) -> Result<Option<TruthEnd>, RecordError> {
        let Some(mut end) = lock(&self.shared.end).take() else { return Ok(None) };
        end.dropped = end.dropped.saturating_add(self.consumer.dropped());
        self.writer.finish(end).map(Some)
    }
}
