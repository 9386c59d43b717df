//! From a recording on disk, with any number of threads, comes the same as from memory.

mod made;

use analysis::{Analysis, Options, Severity, analyse};
use made::{MS, Run, Scratch, took};
use record::{EndOfRun, Ending, LoadModel, Recording, RecordingWriter, Sample};
use units::{Nanos, Outcome, Seed};

fn run() -> Run {
    let rare = |i: u64| if i % 1_000 == 7 { 40 * MS } else { 0 };
    Run::new(LoadModel::Open, 60).each_ms(60_000, move |i, s| {
        let outcome = if i.is_multiple_of(997) { Outcome::Timeout } else { Outcome::Ok };
        let lag = Seed(3).at(i).below(10_000);
        let sent = s.intended + Nanos(lag);
        let s = Sample { sent, op: (i % 2) as u8, outcome, ..s };
        took(s, (Seed(2).at(i).exponential() * 3e5) as u64 + 1 + rare(i))
    })
}

fn without_names(mut analysis: Analysis) -> Analysis {
    analysis.recordings[0].name = String::new();
    analysis
}

fn options(threads: usize) -> Options {
    Options { threads, ..Options::default() }
}

#[test]
fn threads_and_the_disk_change_nothing() {
    let run = run();
    let scratch = Scratch::new("threads");
    let mut writer = RecordingWriter::create(&scratch.0, &run.input.info.header).expect("a new directory");
    for part in run.samples.chunks(5_000) {
        writer.write_samples(part).expect("written");
        writer.close_part().expect("closed");
    }
    writer.finish(EndOfRun::new(Ending::Completed)).expect("finished");
    let memory = without_names(run.analyse());
    for threads in [1, 2, 5] {
        let recording = Recording::open(&scratch.0).expect("readable");
        let disk = analyse(&[recording], &options(threads)).expect("analysed");
        assert!(without_names(disk) == memory, "{threads} threads give something else");
    }
}

#[test]
fn a_killed_run_is_analysed_as_far_as_it_goes() {
    let run = run();
    let scratch = Scratch::new("killed");
    let mut writer = RecordingWriter::create(&scratch.0, &run.input.info.header).expect("a new directory");
    writer.write_samples(&run.samples[..30_000]).expect("written");
    writer.close_part().expect("closed");
    drop(writer);
    let recording = Recording::open(&scratch.0).expect("readable");
    let found = analyse(&[recording], &options(2)).expect("analysed");
    assert_eq!(found.total.counts.total, 30_000);
    assert!(
        found.verdict.reasons.iter().any(|r| r.severity == Severity::Suspect && r.text.contains("cut short"))
    );
    // Half of the planned time was measured: the rate is that of this half.
    let offered = found.offered.expect("an open load").get();
    assert!((offered - 1000.0).abs() < 5.0, "{offered}");
}
