//! Cost of a sample in the analysis: one thread, samples in memory.
//!
//! `cargo bench -p analysis -- 20000000` sets the number of samples; `cargo test --benches` runs it tiny. Prints
//! the mean of the result, so that the work can't be optimised away or change unnoticed.

use analysis::{Input, Options, RecordingInfo, analyse_batches};
use clock::{Clock, ClockChoice};
use record::{
    Ending, HostFacts, LoadFacts, LoadModel, PhaseFacts, PhaseKind, Provenance, RunHeader, SampleBatch,
};
use units::{Instant, PerSecond, Seed};

fn input(seconds: u64) -> Input {
    let phase = |name: &str, kind, begin: u64, end: u64| PhaseFacts {
        name: name.to_owned(),
        kind,
        begin: Instant(begin * 1_000_000_000),
        end: Instant(end * 1_000_000_000),
        offered: PerSecond::new(100_000.0).map(|r| (r, r)),
        sessions: 100,
        mix: vec![1.0; 6],
    };
    let header = RunHeader {
        tool_version: String::new(),
        command: String::new(),
        client: 0,
        epoch_wall_ns: 0,
        provenance: Provenance::Simulated,
        load: LoadFacts {
            model: LoadModel::Open,
            arrivals: "poisson".to_owned(),
            sessions: 100,
            workers: 1,
            timeout: None,
            pacing: String::new(),
            seed: 1,
        },
        phases: vec![
            phase("warm-up", PhaseKind::WarmUp, 0, seconds / 10),
            phase("measured", PhaseKind::Measured, seconds / 10, seconds.max(1)),
        ],
        operations: (0..6).map(|i| format!("op{i}")).collect(),
        statements: None,
        workload: String::new(),
        workload_facts: Vec::new(),
        target: String::new(),
        target_facts: Vec::new(),
        host: HostFacts::default(),
        clock_facts: Vec::new(),
        capabilities: Vec::new(),
        config: String::new(),
    };
    let info =
        RecordingInfo { name: String::new(), header, complete: true, unreadable: Vec::new(), dropped: 0 };
    Input {
        info,
        ending: Some(Ending::Completed),
        unwritable: 0,
        facts: Vec::new(),
        events: Vec::new(),
        repeated: Vec::new(),
        jvm_logs: Vec::new(),
        server_logs: Vec::new(),
        noise_sources: Vec::new(),
        noise: Vec::new(),
        stated: Vec::new(),
    }
}

/// 65,536 samples of a log-normal service time, a little lag and pick-up, and pool wait now and then.
fn template() -> SampleBatch {
    let mut rng = Seed(1).rng();
    let mut batch = SampleBatch::default();
    for i in 0..65_536u64 {
        let intended = i * 10_000;
        let ready = intended + if i.is_multiple_of(8) { rng.below(1_000_000) } else { 0 };
        let sent = ready + rng.below(3_000);
        let arrived = sent + (150_000.0 * (0.8 * rng.normal()).exp()) as u64;
        batch.intended.push(intended);
        batch.ready.push(ready);
        batch.sent.push(sent);
        batch.arrived.push(arrived);
        batch.completed.push(arrived + 2_000 + rng.below(5_000));
        batch.seq.push(i);
        batch.session.push((i % 100) as u16);
        batch.op.push(rng.below(6) as u8);
        batch.phase.push(1);
        batch.outcome.push(0);
        batch.retries.push(0);
        batch.flags.push(0);
    }
    batch
}

fn main() {
    let asked = std::env::args().skip(1).find_map(|a| a.parse::<u64>().ok());
    let is_bench = std::env::args().any(|a| a == "--bench");
    let count = asked.unwrap_or(if is_bench { 10_000_000 } else { 100_000 });
    let rounds = count.div_ceil(65_536);
    let seconds = (rounds * 65_536 / 100_000).max(1);
    let mut batch = template();
    let step = 65_536 * 10_000;
    let clock = clock::calibrate(ClockChoice::Auto).expect("automatic choice").start();
    let begin = clock.now().0;
    // One batch in memory at a time, moved on in time for each round.
    let mut collected = Vec::new();
    for round in 0..rounds {
        if round > 0 {
            for column in [
                &mut batch.intended,
                &mut batch.ready,
                &mut batch.sent,
                &mut batch.arrived,
                &mut batch.completed,
            ] {
                column.iter_mut().for_each(|t| *t += step);
            }
            batch.seq.iter_mut().for_each(|s| *s += 65_536);
        }
        collected.push(batch.clone());
    }
    let made = clock.now().0;
    let analysis =
        analyse_batches(vec![input(seconds)], collected.iter().map(|b| (0, b)), &Options::default());
    let end = clock.now().0;
    let analysis = analysis.expect("one input");
    let nanos = clock.nanos_in(end - made).0;
    let mean = analysis.total.whole().map_or(0.0, |w| w.mean.point);
    println!(
        "{} samples: {:.1} ns each ({:.3} s, made in {:.3} s); mean {mean:.3}",
        rounds * 65_536,
        nanos as f64 / (rounds * 65_536) as f64,
        nanos as f64 / 1e9,
        clock.nanos_in(made - begin).0 as f64 / 1e9,
    );
}
