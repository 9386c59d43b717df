//! Logs of HdrHistogram with an interval each second for a long time.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2Serializer};
use import::{Format, Reported};
use std::fmt::Write as _;
use units::Quantile;

/// A log with an interval of each second, in which a request took each number of milliseconds up to 300.
fn log(seconds: u32) -> String {
    let mut histogram: Histogram<u64> = Histogram::new_with_bounds(1, 3_600_000_000, 3).expect("bounds");
    (1..=300_u64).for_each(|ms| histogram.record(ms * 1_000_000 / 1_000).expect("in its bounds"));
    let mut bytes = Vec::new();
    V2Serializer::new().serialize(&histogram, &mut bytes).expect("serialized");
    let payload = testkit::base64::encode(&bytes);
    let mut text = "#[StartTime: 1795247146.000 (seconds since epoch), x]\n".to_owned();
    for second in 0..seconds {
        let _ = writeln!(text, "{second}.000,1.000,300.0,{payload}");
    }
    text
}

#[test]
fn intervals_keep_what_pages_print_of_them() {
    let read = import::statements(Format::parse("hdr-us").expect("a format"), &log(10), &[]).expect("a log");
    let (whole, intervals): (Vec<&Reported>, Vec<&Reported>) =
        read.rows.iter().partition(|row| row.interval.is_none());
    assert_eq!((whole.len(), intervals.len()), (1, 10));
    assert_eq!((whole[0].cumulative.len(), whole[0].count), (300, Some(3_000)));
    for row in intervals {
        assert_eq!((row.count, row.min, row.max), (Some(300), whole[0].min, whole[0].max));
        assert!(row.cumulative.len() <= 15, "{:?}", row.cumulative);
        for q in Quantile::PRINTED {
            assert_eq!(row.quantile(q), whole[0].quantile(q), "{q}");
        }
    }
}
