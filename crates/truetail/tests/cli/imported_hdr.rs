//! HdrHistogram's logs of runs as long as runs are.

use crate::program::Scratch;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2Serializer};
use std::fmt::Write as _;

/// An interval of each second, in which a request took each number of microseconds up to 300.
fn log(seconds: u32) -> String {
    let mut histogram: Histogram<u64> = Histogram::new_with_bounds(1, 3_600_000_000, 3).expect("bounds");
    (1..=300_u64).for_each(|us| histogram.record(us).expect("in its bounds"));
    let mut bytes = Vec::new();
    V2Serializer::new().serialize(&histogram, &mut bytes).expect("serialized");
    let payload = testkit::base64::encode(&bytes);
    let mut text = "#[Logging for: READ]\n#[StartTime: 1795247146.000 (seconds since epoch), x]\n".to_owned();
    for second in 0..seconds {
        let _ = writeln!(text, "{second}.000,1.000,300.0,{payload}");
    }
    text
}

/// With all of its counts, an hour of it is more than a recording has room for.
#[test]
fn an_hour_of_intervals_is_imported_and_each_has_its_quantiles() {
    let scratch = Scratch::new("import-hdr");
    scratch.write("READ.hdr", &log(3_600));
    let report = scratch.truetail(&["import", "READ.hdr", "-o", "r", "--json"]).judged().json();
    for unknown in ["offered_per_second", "achieved_per_second", "goodput_per_second"] {
        assert_eq!(report["load"].get(unknown), Some(&serde_json::Value::Null), "{unknown}");
    }
    assert_eq!(report["load"]["measured_seconds"], 3_600.0, "the time that its intervals span");
    let stated = report["stated"].as_array().expect("statements");
    assert_eq!(stated.len(), 3_601);
    assert_eq!(stated[0]["count"], 3_600 * 300);
    for one in [&stated[1], &stated[3_600]] {
        assert_eq!((&one["count"], &one["max"]), (&300.into(), &300_000.into()));
        assert_eq!(one["quantiles"]["p99"], stated[0]["quantiles"]["p99"]);
        assert_eq!(one["quantiles"]["p99"]["at_most"], 297_000);
    }
}
