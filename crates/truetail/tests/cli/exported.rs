//! Recordings in other formats.

use crate::program::{COLUMNS, Scratch};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use record::PhaseKind;

fn recorded(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.truetail(&["run", "-r", "500/s", "-d", "2s", "--warmup", "500ms", "-o", "open"]).judged();
    scratch
}

#[test]
fn csv_has_a_row_for_each_request() {
    let scratch = recorded("csv");
    let csv = scratch.truetail(&["export", "open"]).well().stdout;
    assert_eq!(csv.lines().next(), Some(COLUMNS));
    let rows = scratch.rows("open");
    let recording = scratch.recording("open");
    assert_eq!(rows.len() as u64, recording.rows());
    assert_eq!(csv.lines().count(), rows.len() + 1);
    for row in &rows {
        assert_eq!(row.outcome, "ok", "{row:?}");
        let (sent, completed) = (row.sent.expect("sent"), row.completed.expect("completed"));
        assert_eq!(row.service, Some(completed - sent), "{row:?}");
        assert_eq!(row.response, Some(completed - row.intended.expect("intended")), "{row:?}");
        assert!(row.session.is_some() && row.client == 0, "{row:?}");
        let begin = recording.header().phases[1].begin.0;
        let measured = row.intended.expect("intended") >= begin;
        assert_eq!(row.phase != "warm-up", measured, "{row:?} but the phase begins at {begin}");
    }
    // To a file: the same bytes, and nothing on stdout.
    let ended = scratch.truetail(&["export", "open", "-o", "open.csv"]).well();
    assert_eq!(ended.stdout, "");
    assert_eq!(std::fs::read_to_string(scratch.path("open.csv")).expect("a file"), csv);
    // What is there is replaced only when that is said.
    scratch.write("open.csv", "precious");
    scratch
        .truetail(&["export", "open", "-o", "open.csv"])
        .refused(&["open.csv is there already", "--force"]);
    assert_eq!(std::fs::read_to_string(scratch.path("open.csv")).expect("a file"), "precious");
    scratch.truetail(&["export", "open", "-o", "open.csv", "--force"]).well();
    assert_eq!(std::fs::read_to_string(scratch.path("open.csv")).expect("a file"), csv);
    scratch.truetail(&["export", "open", "-o", "/dev/null"]).well();
}

#[test]
fn what_does_not_exist_is_empty() {
    let scratch = Scratch::new("csv-none");
    let closed = ["run", "null:", "--closed", "--requests", "300", "--warmup", "0s", "-o", "closed"];
    scratch.truetail(&closed).judged();
    let rows = scratch.rows("closed");
    assert_eq!(rows.len(), 300);
    assert!(rows.iter().all(|r| r.intended.is_none() && r.response.is_none() && r.service.is_some()));
}

#[test]
fn hdr_can_be_read_back() {
    let scratch = recorded("hdr");
    for (measure, of) in [("response", 0), ("service", 1)] {
        let log =
            scratch.truetail(&["export", "open", "--format", "hdr", "--measure", measure]).well().stdout;
        let mut deserializer = Deserializer::new();
        let (mut count, mut low, mut high) = (0, u64::MAX, 0);
        for entry in IntervalLogIterator::new(log.as_bytes()) {
            let Ok(LogEntry::Interval(interval)) = entry else { continue };
            let bytes = decoded(interval.encoded_histogram());
            let histogram: Histogram<u64> = deserializer.deserialize(&mut &bytes[..]).expect("a histogram");
            assert!(interval.tag().is_some(), "no operation");
            count += histogram.len();
            low = low.min(histogram.min_nz());
            high = high.max(histogram.max());
        }
        let rows = scratch.rows("open");
        let values: Vec<u64> =
            rows.iter().filter_map(|r| if of == 0 { r.response } else { r.service }).collect();
        assert_eq!(count as usize, values.len(), "{measure}");
        // Three digits: what is read is within 0.1 % of what was.
        let near = |read: u64, truth: u64| (read as f64 / truth as f64 - 1.0).abs() < 2e-3;
        let (least, most) = (*values.iter().min().expect("values"), *values.iter().max().expect("values"));
        assert!(near(low, least) && near(high, most), "{measure}: [{low}, {high}] is not [{least}, {most}]");
    }
}

#[test]
fn a_closed_loop_has_no_response_time_to_export() {
    let scratch = Scratch::new("hdr-closed");
    scratch
        .truetail(&["run", "null:", "--closed", "--requests", "300", "--warmup", "0s", "-o", "a"])
        .judged();
    scratch.truetail(&["export", "a", "--format", "hdr"]).well();
    let response = ["export", "a", "--format", "hdr", "--measure", "response"];
    scratch.truetail(&response).refused(&["--measure response", "closed loop", "--measure service"]);
    scratch
        .truetail(&["export", "a", "--format", "hdr", "--measure", "x"])
        .refused(&["--measure x", "response"]);
}

/// What truetail writes it reads: the same requests are measured, and the same moments meant.
#[test]
fn what_was_exported_comes_back_as_it_was() {
    let scratch = recorded("export-import");
    let original = scratch.truetail(&["report", "open", "--json"]).judged().json();
    scratch.truetail(&["export", "open", "-o", "o.csv"]).well();
    let csv = scratch.truetail(&["import", "o.csv", "-o", "c", "--json"]).judged().json();
    assert_eq!(csv["samples"], original["samples"], "the warm-up does not count");
    let header = scratch.recording("c").header().clone();
    let phases: Vec<(&str, PhaseKind)> =
        header.phases.iter().map(|phase| (phase.name.as_str(), phase.kind)).collect();
    assert_eq!(phases, [("warm-up", PhaseKind::WarmUp), ("measured", PhaseKind::Measured)]);
    assert_eq!(scratch.rows("c").len(), scratch.rows("open").len(), "it is there all the same");
    for measure in ["response_time", "service_time"] {
        for of in ["max", "min", "samples"] {
            assert_eq!(csv["measures"][measure][of], original["measures"][measure][of], "{measure} {of}");
        }
    }
    let rows = std::fs::read_to_string(scratch.path("o.csv")).expect("a file");
    let is_warm = |line: &&str| line.starts_with("seq,") || line.contains(",warm-up,");
    let warm: String = rows.lines().filter(is_warm).map(|line| line.to_owned() + "\n").collect();
    scratch.write("warm.csv", &warm);
    scratch
        .truetail(&["import", "csv", "warm.csv", "-o", "w"])
        .refused(&["all requests are of the warm-up phase"]);
    for (measure, from, model) in [("response", "schedule", "open loop"), ("service", "send", "closed loop")]
    {
        let (log, out) = (format!("{measure}.hlog"), format!("h-{measure}"));
        scratch.truetail(&["export", "open", "--format", "hdr", "--measure", measure, "-o", &log]).well();
        let back = scratch.truetail(&["import", &log, "-o", &out, "--json"]);
        assert!(back.stderr.contains("taken for hdr, as its first line says that truetail"), "{back:?}");
        let back = back.judged().json();
        let whole = back["stated"].as_array().expect("statements");
        let whole: Vec<_> = whole.iter().filter(|one| one["interval"].is_null()).collect();
        assert!(whole.iter().all(|one| one["counted_from"] == from), "{whole:?}");
        assert!(whole.iter().all(|one| one["measure"] == format!("{measure} time")), "{whole:?}");
        assert_eq!(back["load"]["model"], model);
        let most = whole.iter().filter_map(|one| one["max"].as_f64()).fold(0.0, f64::max);
        let all = scratch.rows("open");
        let of = |row: &crate::program::Row| if measure == "response" { row.response } else { row.service };
        let longest = all.iter().filter_map(of).max().expect("requests") as f64;
        assert!((most / longest - 1.0).abs() < 2e-3, "{most} is not {longest}");
    }
    for format in ["csv", "hdr"] {
        scratch.truetail(&["export", "h-response", "--format", format, "-o", "none"]).refused(&[
            "h-response holds a tool's statements and no request",
            "truetail report h-response --json",
        ]);
    }
    assert!(!scratch.path("none").exists());
}

/// Base64 with padding, as interval logs have it (RFC 4648).
fn decoded(text: &str) -> Vec<u8> {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::new();
    let (mut bits, mut held) = (0_u32, 0);
    for character in text.bytes().filter(|&c| c != b'=') {
        let value = ALPHABET.iter().position(|&a| a == character).expect("base64");
        bits = (bits << 6) | value as u32;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    bytes
}
