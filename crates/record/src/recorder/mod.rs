//! The recorder of a live run.
//!
//! One low-priority thread drains the workers' rings, reads all clocks together ten times a second, turns
//! ticks into instants, and closes a part file each half second. It is off the hot path in every sense: workers
//! share nothing with it but their ring, and a disk that is slow, full or gone costs samples that are
//! counted, never a wait.

mod sink;
mod statements;
mod thread;
mod timeline;

use crate::live::live_measure;
use crate::{Consumer, EndOfRun, Live, RawStatement, RecordError, RecordingWriter, RunHeader, Sample};
use clock::{Anchor, LiveClock};
use sink::{Message, Sources};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;
use units::{Nanos, Ticks};

pub use sink::{EventSink, NoiseSink};
pub use statements::STATEMENTS_DROPPED;
pub use thread::lower_priority;

/// What a recorder needs to know.
#[derive(Clone, Debug)]
pub struct RecorderConfig {
    /// The recording's directory; made if it is not there.
    pub dir: PathBuf,
    /// The header; the recorder itself sets `epoch_wall_ns`.
    pub header: RunHeader,
    /// How often a part file is closed. A killed run loses what completed since the last one was begun: this
    /// long, and besides a drain interval and the time that a part takes to be written.
    pub part_interval: Nanos,
    /// How often the rings are drained.
    pub drain_interval: Nanos,
    /// How often all clocks are read together, at least.
    pub anchor_interval: Nanos,
    /// Set at the first write error, for producers that would rather end than go on into nothing.
    pub on_trouble: Option<&'static AtomicBool>,
    /// Gets each sample as it is converted, for views of the caller's own; off the hot path.
    pub tap: Option<mpsc::Sender<Sample>>,
}

impl RecorderConfig {
    /// A part each half second, so that a killed run loses less than a second even where a part takes several
    /// hundred milliseconds to be written; a drain each 20 ms, an anchor each 100 ms.
    pub fn new(dir: impl Into<PathBuf>, header: RunHeader) -> RecorderConfig {
        RecorderConfig {
            dir: dir.into(),
            header,
            part_interval: Nanos::from_millis(500),
            drain_interval: Nanos::from_millis(20),
            anchor_interval: Nanos::from_millis(100),
            on_trouble: None,
            tap: None,
        }
    }
}

/// The ends of the rings that a recorder drains.
pub struct Consumers {
    /// Of requests.
    pub samples: Vec<Consumer>,
    /// Of the exchanges inside of them; none where they are not timed.
    pub statements: Vec<Consumer<RawStatement>>,
}

impl From<Vec<Consumer>> for Consumers {
    fn from(samples: Vec<Consumer>) -> Consumers {
        Consumers { samples, statements: Vec::new() }
    }
}

/// What is on disk after a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Finished {
    /// The recording's directory.
    pub path: PathBuf,
    /// Its last section as written: samples, dropped, unwritable, trouble.
    pub end: EndOfRun,
}

/// The recorder of a live run. Dropped without [`Recorder::finish`], it writes what it has and leaves a
/// recording that was cut short.
pub struct Recorder {
    dir: PathBuf,
    shared: Arc<Shared>,
    messages: mpsc::Sender<Message>,
    thread: Option<JoinHandle<Result<Option<EndOfRun>, RecordError>>>,
}

/// What the recorder's thread and its handles share.
struct Shared {
    stop: AtomicBool,
    /// How to end; none on a drop. Set before `stop`.
    end: Mutex<Option<EndOfRun>>,
    live: Arc<Live>,
    sources: Arc<Mutex<Sources>>,
    trouble: Mutex<Option<String>>,
}

impl Recorder {
    /// Makes the recording and starts the thread. Start it before the workers: samples can be converted from
    /// the second anchor on, and the first is taken here.
    ///
    /// # Errors
    /// Those of [`RecordingWriter::create`], and [`RecordError::Io`] if there can be no thread.
    pub fn start(
        config: RecorderConfig,
        rings: impl Into<Consumers>,
        clock: LiveClock,
    ) -> Result<Recorder, RecordError> {
        let rings = rings.into();
        let first_anchor = clock.anchor();
        let mut header = config.header.clone();
        header.epoch_wall_ns = timeline::epoch_wall_ns(&clock, &first_anchor);
        let writer = RecordingWriter::create(&config.dir, &header)?;
        let dir = config.dir.clone();
        let shared = Arc::new(Shared {
            stop: AtomicBool::new(false),
            end: Mutex::new(None),
            live: Arc::new(Live::new(live_measure(header.load.model))),
            sources: Arc::default(),
            trouble: Mutex::new(None),
        });
        let (messages, inbox) = mpsc::channel();
        let for_thread = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("recorder".to_owned())
            .spawn(move || {
                thread::lower_priority();
                thread::Work::new(config, rings, clock, first_anchor, writer, inbox, for_thread).run()
            })
            .map_err(RecordError::io("start the recorder's thread for", &dir))?;
        Ok(Recorder { dir, shared, messages, thread: Some(thread) })
    }

    /// Takes events from any thread but the hot path.
    pub fn events(&self) -> EventSink {
        EventSink::new(self.messages.clone())
    }

    /// Takes noise sources and observations from any thread but the hot path.
    pub fn noise(&self) -> NoiseSink {
        NoiseSink::new(self.messages.clone(), Arc::clone(&self.shared.sources))
    }

    /// What a live view shows; updated four times a second.
    pub fn live(&self) -> Arc<Live> {
        Arc::clone(&self.shared.live)
    }

    /// The first write error so far, in words; the run goes on regardless.
    pub fn trouble(&self) -> Option<String> {
        lock(&self.shared.trouble).clone()
    }

    /// What the host's clocks showed at moments of the run so far, thinned where the run is long: an anchor's ticks are
    /// nanoseconds since the run's epoch. Waits for the recorder's thread, ≈ 0.1 s; empty if it is gone.
    pub fn anchors(&self) -> Vec<Anchor> {
        let (answer, answered) = mpsc::channel();
        self.send(Message::Anchors(answer));
        answered.recv().unwrap_or_default()
    }

    /// Replaces the header, but for `epoch_wall_ns`, within the next part interval.
    pub fn update_header(&self, header: RunHeader) {
        self.send(Message::Header(Box::new(header)));
    }

    /// Sets begin and end of phase `index` in the header, within the next part interval. For producers that
    /// know ticks, while headers have instants; an index that the header does not have is ignored.
    pub fn phase_span(&self, index: u8, begin: Ticks, end: Ticks) {
        self.send(Message::PhaseSpan { index, begin, end });
    }

    /// Drains the rings for the last time, writes what is left, and closes the recording. Stop the workers
    /// first: what they push afterwards is lost. The counts of `end` are filled in.
    ///
    /// # Errors
    /// When `run.toml` can't be closed. Parts that could not be written are no error here: see
    /// [`EndOfRun::unwritable`] and [`EndOfRun::trouble`].
    pub fn finish(mut self, end: EndOfRun) -> Result<Finished, RecordError> {
        *lock(&self.shared.end) = Some(end);
        match self.stop() {
            Some(Ok(Some(end))) => Ok(Finished { path: self.dir.clone(), end }),
            Some(Err(error)) => Err(error),
            Some(Ok(None)) | None => Err(RecordError::Io {
                doing: "finish",
                path: self.dir.clone(),
                cause: std::io::Error::other("the recorder's thread is gone"),
            }),
        }
    }

    fn stop(&mut self) -> Option<Result<Option<EndOfRun>, RecordError>> {
        // Release pairs with the thread's Acquire: `end` is visible before the stop.
        self.shared.stop.store(true, Ordering::Release);
        self.thread.take()?.join().ok()
    }

    fn send(&self, message: Message) {
        // Fails only when the thread is gone, and then `finish` says so.
        let _ = self.messages.send(message);
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.stop();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
