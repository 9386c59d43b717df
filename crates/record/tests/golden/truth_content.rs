//! What the golden truth log of format 1 holds; shared by the example that made it and the tests that read it.

use clock::Anchor;
use record::{Event, EventKind, TruthHeader, TruthRow, TruthStaleness, key_hash};
use units::{Instant, Nanos, Ticks};

pub fn header() -> TruthHeader {
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    TruthHeader {
        tool_version: "0.1.0".into(),
        command: "truetail store --capacity 1111/s --hiccup 1s@30s".into(),
        epoch_wall_ns: 1_790_000_000_123_456_789,
        seed: 0xFEDC_BA98_7654_3210,
        operations: ["ping", "read", "update \"hot\" rows"].map(str::to_owned).to_vec(),
        rules: ["queued", "hiccup", "slow key"].map(str::to_owned).to_vec(),
        settings: vec![pair("capacity", "1111/s"), pair("hiccup", "1s@30s")],
    }
}

/// 300 requests over 4 connections: ordinary ones, stale reads, one without an answer, one that was answered early.
pub fn rows() -> Vec<TruthRow> {
    (0..300u64)
        .map(|seq| {
            let arrived = seq * 10_000_000 + seq * seq % 977;
            let begun = arrived + if seq % 40 == 7 { 250_000 } else { 0 };
            let due = begun + 900_090;
            let reads = seq % 3 == 1;
            let ordinary = TruthRow {
                arrived: Instant(arrived),
                begun: Instant(begun),
                due: Instant(due),
                written: Instant(due + 1_300 + seq * seq % 211),
                seq,
                connection: (seq % 4) as u32,
                number: (seq / 4) as u32,
                rules: u16::from(begun > arrived) | u16::from(seq == 33) << 15,
                operation: (seq % 3) as u8,
                node: (seq % 5) as u8,
                stamped: seq % 7 > 0,
                staleness: reads.then(|| TruthStaleness {
                    versions: (seq % 6) as u32,
                    time: Nanos(seq % 6 * 100_003),
                    age: Nanos(seq * 1_000_003),
                }),
                key: (seq % 3 > 0).then(|| key_hash(b"", format!("user{}", seq % 90).as_bytes())),
            };
            match seq {
                150 => TruthRow { written: Instant::NONE, ..ordinary },
                200 => TruthRow { connection: u32::MAX, number: u32::MAX, ..ordinary },
                250 => TruthRow { written: Instant(due - 40), ..ordinary },
                _ => ordinary,
            }
        })
        .collect()
}

pub fn events() -> Vec<Event> {
    let event = |begin, end, subject: &str, detail: &str| Event {
        kind: EventKind::Fault,
        begin: Instant(begin),
        end: Instant(end),
        subject: subject.into(),
        detail: detail.into(),
    };
    vec![
        event(30_000_000, 1_030_000_000, "hiccup", "1 s"),
        event(2_000_000_000, u64::MAX, "fault delay:800ms@next", "by a command\nover the wire"),
    ]
}

/// A store's clock that is 7 ppm fast, and a wall clock that is slewed by 20 ppm.
pub fn anchors() -> Vec<Anchor> {
    (0..7u64)
        .map(|n| n * 500_000_000)
        .map(|ns| Anchor {
            ticks: Ticks(ns + ns * 7 / 1_000_000),
            monotonic_ns: 77_000_000_000 + ns,
            realtime_ns: header().epoch_wall_ns + ns - ns / 50_000,
            slewed_ns: None,
            width_ticks: 60,
        })
        .collect()
}

pub fn facts() -> Vec<(String, String)> {
    vec![("connections".into(), "4".into())]
}
