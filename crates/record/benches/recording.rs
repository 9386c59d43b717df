//! What it costs to convert, write and read samples. Under `cargo test` it runs tiny, so that it cannot rot.

#[path = "../tests/fixture/mod.rs"]
mod fixture;

use clock::{Clock, ClockChoice, LiveClock};
use fixture::{Scratch, bytes_on_disk, header, raw, realistic};
use record::{
    Columns, EndOfRun, Ending, Provenance, RawSample, Recorder, RecorderConfig, Recording, RecordingWriter,
    SampleBatch, ring,
};
use units::{Nanos, Ticks};

fn main() {
    // Cargo passes `--bench` to a real bench run only.
    let rows: usize = if std::env::args().any(|arg| arg == "--bench") { 4 << 20 } else { 20_000 };
    let clock = clock::calibrate(ClockChoice::Auto).expect("a clock").start();
    let scratch = Scratch::new("bench");
    write(rows, &clock, &scratch);
    read(rows, &clock, &scratch);
    record(rows, &clock);
}

fn report(what: &str, rows: usize, took: Nanos) {
    let millions = rows as f64 / took.as_secs_f64() / 1e6;
    let each = took.0 as f64 / rows as f64;
    println!("{what:44} {millions:8.1} million samples/s {each:8.1} ns each");
}

fn timed<T>(clock: &LiveClock, work: impl FnOnce() -> T) -> (T, Nanos) {
    let begin = clock.now();
    let result = work();
    (result, clock.nanos_in(clock.now().0 - begin.0))
}

fn write(rows: usize, clock: &LiveClock, scratch: &Scratch) {
    let samples = realistic(rows, 50_000.0, 1);
    let mut writer =
        RecordingWriter::create(scratch.path(), &header(Provenance::Simulated)).expect("a recording");
    let ((), took) = timed(clock, || {
        for part in samples.chunks(50_000) {
            writer.write_samples(part).expect("room on the disk");
            writer.close_part().expect("room on the disk");
        }
    });
    report("write parts of one second, one thread", rows, took);
    let (_, took) =
        timed(clock, || writer.finish(EndOfRun::new(Ending::Completed)).expect("room on the disk"));
    report("merge them, all cores", rows, took);
    let bytes = bytes_on_disk(&scratch.path().join("samples"));
    println!("{:44} {:8.2} bytes per sample", "on disk", bytes as f64 / rows as f64);
}

fn read(rows: usize, clock: &LiveClock, scratch: &Scratch) {
    let recording = Recording::open(scratch.path()).expect("it was just written");
    let few = Columns::INTENDED | Columns::COMPLETED | Columns::OP | Columns::PHASE | Columns::OUTCOME;
    for (name, columns) in [("all columns", Columns::ALL), ("response time by phase, op, outcome", few)] {
        for threads in [1, 2] {
            let sum = |sum: &mut u64, batch: &SampleBatch| {
                let pairs = batch.completed.iter().zip(&batch.intended);
                *sum = pairs.fold(*sum, |sum, (c, i)| sum.wrapping_add(c.wrapping_sub(*i)));
            };
            let scan = || recording.scan_columns(columns, threads, || 0u64, sum).expect("it can be scanned");
            let (sums, took) = timed(clock, scan);
            report(&format!("scan, {threads} threads, {name}"), rows, took);
            println!(
                "{:44} {:8x}",
                "  hash of the work",
                sums.iter().fold(0, |a: u64, b| a.wrapping_add(*b))
            );
        }
    }
}

/// The recorder's whole cost: how long its thread takes over a full ring.
fn record(rows: usize, clock: &LiveClock) {
    let rows = rows.min(1 << 20);
    let scratch = Scratch::new("bench-recorder");
    let (mut producer, consumer) = ring(rows);
    for seq in 0..rows as u64 {
        let now = clock.now();
        let realtime = clock::wall_time_ns();
        producer.push(RawSample {
            sent: Ticks(now.0 + 300),
            arrived_realtime_ns: realtime + 90_000,
            session: (seq % 16) as u16,
            ..raw(now, Ticks(now.0 + 300_000), seq)
        });
    }
    let (_, took) = timed(clock, || {
        let config = RecorderConfig::new(scratch.path(), header(Provenance::Live));
        let recorder = Recorder::start(config, vec![consumer], *clock).expect("a recording");
        recorder.finish(EndOfRun::new(Ending::Completed)).expect("room on the disk")
    });
    report("drain, convert, write: the recorder's thread", rows, took);
}
