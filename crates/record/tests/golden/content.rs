//! What the golden recording of format 1 holds; shared by the example that made it and the test that reads it.

use record::{
    EndOfRun, Ending, Event, EventKind, HostFacts, LoadFacts, LoadModel, NO_SESSION, NoiseObservation,
    NoiseSourceFacts, PhaseFacts, PhaseKind, Provenance, RunHeader, Sample,
};
use units::{Instant, Nanos, Outcome, PerSecond};

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
}

fn phase(name: &str, kind: PhaseKind, begin: u64, end: u64, offered: Option<f64>) -> PhaseFacts {
    let rate = offered.and_then(PerSecond::new);
    let (begin, end) = (Instant(begin * 1_000_000_000), Instant(end * 1_000_000_000));
    PhaseFacts {
        name: name.into(),
        kind,
        begin,
        end,
        offered: rate.zip(rate),
        sessions: 4,
        mix: vec![0.95, 0.05],
    }
}

pub fn header() -> RunHeader {
    RunHeader {
        tool_version: "0.1.0".into(),
        command: "truetail run postgres://bench@db/ycsb --rate 100/s".into(),
        client: 2,
        epoch_wall_ns: 1_790_000_000_123_456_789,
        provenance: Provenance::Imported { tool: "golden".into() },
        load: LoadFacts {
            model: LoadModel::PartlyOpen,
            arrivals: "poisson, think exp:100ms".into(),
            sessions: 4,
            workers: 2,
            timeout: Some(Nanos(2_000_000_000)),
            pacing: "sleep then spin".into(),
            seed: 0xFEDC_BA98_7654_3210,
        },
        phases: vec![
            phase("warm-up", PhaseKind::WarmUp, 0, 1, Some(100.0)),
            phase("2s@100/s", PhaseKind::Measured, 1, 3, Some(100.0)),
        ],
        operations: vec!["read".into(), "update \"hot\" rows".into()],
        statements: None,
        workload: "ycsb-b".into(),
        workload_facts: pairs(&[("records", "1000"), ("distribution", "zipfian")]),
        target: "postgres://bench@db/ycsb".into(),
        target_facts: pairs(&[("version", "15.4"), ("synchronous_commit", "on")]),
        host: HostFacts {
            name: "reference".into(),
            cpu: "AMD EPYC".into(),
            cpus: 2,
            memory_bytes: 8 << 30,
            kernel: "6.18.0".into(),
            system: "Debian 12".into(),
            virtualisation: "kvm".into(),
            more: pairs(&[("governor", "performance")]),
        },
        clock_facts: pairs(&[("kind", "tsc"), ("cost", "10 ns")]),
        capabilities: pairs(&[("pin 0-1", "granted"), ("SCHED_FIFO", "refused: no permission")]),
        config: "rate = \"100/s\"\n[target]\nurl = \"postgres://bench@db/ycsb\"\n".into(),
    }
}

/// 300 requests of all sorts: ordinary ones, one without a stamp, one never sent, one with an odd order.
pub fn samples() -> Vec<Sample> {
    (0..300u64)
        .map(|seq| {
            let intended = seq * 10_000_000 + seq * seq % 977;
            let ready = intended + if seq % 40 == 7 { 250_000 } else { 0 };
            let sent = ready + 180 + seq % 31;
            let completed = sent + 150_000 + seq * seq * 7_919 % 90_001;
            let ordinary = Sample {
                intended: Instant(intended),
                ready: Instant(ready),
                sent: Instant(sent),
                arrived: Instant(completed - 2_500 - seq % 13),
                completed: Instant(completed),
                seq,
                client: 2,
                session: (seq % 4) as u16,
                op: u8::from(seq % 20 == 0),
                phase: u8::from(seq >= 100),
                outcome: Outcome::ALL[if seq % 25 == 24 { (seq / 25) as usize } else { 0 }],
                retries: u8::from(seq % 50 == 3),
                flags: u8::from(seq % 3 == 0),
            };
            match seq {
                150 => Sample { arrived: Instant::NONE, ..ordinary },
                200 => Sample {
                    ready: Instant::NONE,
                    sent: Instant::NONE,
                    arrived: Instant::NONE,
                    session: NO_SESSION,
                    outcome: Outcome::Unfinished,
                    ..ordinary
                },
                250 => Sample { arrived: Instant(completed + 40), ..ordinary },
                _ => ordinary,
            }
        })
        .collect()
}

pub fn events() -> Vec<Event> {
    let event = |kind, begin, end, subject: &str, detail: &str| Event {
        kind,
        begin: Instant(begin),
        end,
        subject: subject.into(),
        detail: detail.into(),
    };
    vec![
        event(EventKind::Phase, 0, Instant(1_000_000_000), "warm-up", ""),
        event(
            EventKind::FirstError,
            240_000_000,
            Instant(240_000_000),
            "read",
            "ERROR: déjà vu (SQLSTATE 40001)",
        ),
        event(EventKind::Outage, 2_500_000_000, Instant::NONE, "target", "no session is left"),
    ]
}

pub fn noise_sources() -> Vec<NoiseSourceFacts> {
    let source = |name: &str, unit: &str, available| NoiseSourceFacts {
        name: name.into(),
        unit: unit.into(),
        available,
    };
    vec![source("steal", "ns", Ok(410)), source("osnoise", "ns", Err("tracefs is not mounted".into()))]
}

pub fn noise() -> Vec<NoiseObservation> {
    (0..30)
        .map(|n| NoiseObservation {
            source: 0,
            value: f64::from(n) * 1e4 / 3.0,
            begin: Instant(u64::from(n as u32) * 100_000_000),
            end: Instant(u64::from(n as u32 + 1) * 100_000_000),
        })
        .collect()
}

pub fn end() -> EndOfRun {
    EndOfRun {
        dropped: 3,
        facts: pairs(&[("invariants", "hold")]),
        ..EndOfRun::new(Ending::Interrupted("^C".into()))
    }
}

pub const SUMMARY: &str = "{\"golden\": true}\n";
