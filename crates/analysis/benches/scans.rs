//! What attribution costs: the second scan of a recording on disk, and what follows from it, beside the first.
//!
//! ```text
//! cargo run --release -p record --example synthetic -- /tmp/big 10000000
//! cargo bench -p analysis --bench scans -- /tmp/big
//! ```
//!
//! Without a directory it reads a recording of a few samples, so that it can't rot. Each is analysed five times, without
//! causes and with 20,000 pauses of a JVM; shown are the median and, in brackets, the least and the most.

use analysis::{Analysis, LaidOver, Options, analyse};
use clock::{Clock, ClockChoice, LiveClock};
use record::{Event, EventKind, Recording};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use units::{Instant, Nanos, Seed, Ticks};

const ROUNDS: usize = 5;
const PAUSES: u64 = 20_000;

static CLOCK: OnceLock<LiveClock> = OnceLock::new();
/// When each scan was over, in ticks; 0 while it goes on.
static SCANNED: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

fn now() -> Ticks {
    CLOCK.get_or_init(|| clock::calibrate(ClockChoice::Auto).expect("automatic choice").start()).now()
}

/// The analysis counts each sample once in each scan.
fn progress(done: u64, total: u64) {
    for (scan, scanned) in SCANNED.iter().enumerate() {
        if done * 2 >= total * (scan as u64 + 1) {
            // Whoever comes first; the others have nothing to add.
            let _ = scanned.compare_exchange(0, now().0, Ordering::Relaxed, Ordering::Relaxed);
        }
    }
}

/// Pauses of 1 ms, anywhere.
fn pauses(end: u64) -> Vec<Event> {
    let mut rng = Seed(7).derive("pauses").rng();
    let pause = |begin: u64| Event {
        kind: EventKind::JvmPause,
        begin: Instant(begin),
        end: Instant(begin + 1_000_000),
        subject: "server JVM".to_owned(),
        detail: "all threads: G1".to_owned(),
    };
    (0..PAUSES).map(|_| pause(rng.below(end))).collect()
}

/// The parts of one analysis, seconds: both scans, and what follows from them.
fn once(recordings: &[Recording], events: &[Event]) -> ([f64; 3], Analysis) {
    let laid_over = vec![LaidOver { events: events.to_vec(), ..LaidOver::default() }];
    let options = Options { laid_over, progress: Some(progress), ..Options::default() };
    SCANNED.iter().for_each(|scanned| scanned.store(0, Ordering::Relaxed));
    let begin = now().0;
    let analysis = analyse(recordings, &options).expect("a recording");
    let end = now().0;
    let [first, second] = [0, 1].map(|scan| SCANNED[scan].load(Ordering::Relaxed).clamp(begin, end));
    let seconds =
        |from: u64, to: u64| CLOCK.get().map_or(Nanos::ZERO, |c| c.nanos_in(to - from)).as_secs_f64();
    ([seconds(begin, first), seconds(first, second.max(first)), seconds(second.max(first), end)], analysis)
}

fn spread(mut values: Vec<f64>) -> String {
    values.sort_by(f64::total_cmp);
    format!("{:.3} [{:.3}, {:.3}] s", values[values.len() / 2], values[0], values[values.len() - 1])
}

fn main() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../record/tests/golden/v1");
    let asked = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).map(PathBuf::from);
    let directory = asked.filter(|path| path.is_dir()).unwrap_or(golden);
    let recordings = [Recording::open(&directory).expect("a recording")];
    let end = recordings[0].header().phases.iter().filter_map(|phase| phase.end.get()).max();
    let end = end.map_or(1, |end| end.0.max(1));
    for (name, events) in [("no causes", Vec::new()), ("20,000 pauses", pauses(end))] {
        let mut rounds = Vec::new();
        for _ in 0..ROUNDS {
            let (times, analysis) = once(&recordings, &events);
            let slow = analysis.attribution.as_ref().map_or(0, |found| found.slow);
            rounds.push((times, analysis.total.counts.total, slow));
        }
        let (_, samples, slow) = rounds[0];
        let part = |index: usize| spread(rounds.iter().map(|(parts, ..)| parts[index]).collect());
        let more = rounds.iter().map(|([first, second, rest], ..)| 100.0 * (second + rest) / first).collect();
        println!(
            "{name}: {samples} samples, {slow} slow; first scan {}, second {}, the rest {}: {} more",
            part(0),
            part(1),
            part(2),
            spread(more).replace(" s", " %"),
        );
    }
}
