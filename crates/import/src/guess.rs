//! Which format a text is of, where its content leaves no doubt.

use crate::Format;
use crate::csv::Columns;
use crate::format::without_mark;
use crate::requests::is_benchbase_header;

/// A format that a text is of, and by what it is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FormatGuess {
    /// The format.
    pub format: Format,
    /// By what: `its first line …`.
    pub by: &'static str,
}

/// The formats that the beginning of a text may be of: none, one, or several. `hdr` is guessed for YCSB's logs and truetail's own
/// alone, since others do not state their unit.
pub fn guess(text: &str) -> Vec<FormatGuess> {
    let text = without_mark(text);
    let first = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let has = |words: &str| text.contains(words);
    let begins = |words: &str| text.lines().any(|line| line.starts_with(words));
    let tests = [
        (is_benchbase_header(first), Format::BenchBase, "its first line names BenchBase's columns"),
        (
            begins("YCSB Client ")
                || begins("[OVERALL], ")
                || first.contains("latency raw data: op, timestamp(ms)"),
            Format::Ycsb,
            "it has YCSB's lines",
        ),
        (has("\"metric\"") && has("\"measurement\""), Format::Ycsb, "it has objects of YCSB's exporters"),
        (begins("#[Logging for: "), Format::Hdr(None), "it is an HdrHistogram log that YCSB wrote"),
        (
            crate::hdr::exported(first).is_some(),
            Format::Hdr(None),
            "its first line says that truetail exported it",
        ),
        (
            begins("transaction type: ") && has("latency average = "),
            Format::Pgbench,
            "it has the lines of pgbench's summary",
        ),
        (is_pgbench_log(first), Format::PgbenchLog, "its first line is one of pgbench's log"),
        (has("Latency (ms):") && has("total number of events:"), Format::Sysbench, "it has sysbench's lines"),
        (begins("ALL STATS") || has("\"ALL STATS\""), Format::Memtier, "it has memtier's table ALL STATS"),
        (
            has("requests per second") || first.starts_with("\"test\",\"rps\""),
            Format::RedisBenchmark,
            "it has redis-benchmark's lines",
        ),
        (
            !is_benchbase_header(first)
                && !first.contains("latency raw data")
                && matches!(Columns::of(first), Some(Ok(_))),
            Format::Csv,
            "its first line names columns of requests",
        ),
    ];
    let mut found: Vec<FormatGuess> = Vec::new();
    for (_, format, by) in tests.into_iter().filter(|(is, ..)| *is) {
        if !found.iter().any(|guess| guess.format == format) {
            found.push(FormatGuess { format, by });
        }
    }
    found
}

/// Six to fifteen fields, numbers but for a word in the place of the time, the moment among them.
fn is_pgbench_log(line: &str) -> bool {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let number = |text: &str| text.parse::<f64>().is_ok();
    let words = ["skipped", "failed", "serialization", "deadlock"];
    let is_moment = |text: &str| text.len() == 10 && text.bytes().all(|byte| byte.is_ascii_digit());
    let aggregated = fields.first().is_some_and(|first| is_moment(first)) && fields.len() >= 6;
    let logged = fields.len() >= 6 && fields.len() <= 8 && is_moment(fields[4]);
    let all = fields.iter().enumerate().all(|(at, text)| number(text) || (at == 2 && words.contains(text)));
    all && (aggregated || logged)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_leaves_no_doubt_is_guessed() {
        let formats =
            |text: &str| guess(text).into_iter().map(|guess| guess.format.name()).collect::<Vec<_>>();
        let cases: [(&str, &[&str]); 11] = [
            ("#truetail 0.4.0 (commit 5c24): response time in ns, open loop\n", &["hdr"]),
            ("#truetail 0.4.0: pool wait in ns, open loop\n", &[]),
            ("0 1 316 0 1795247165 882296 69\n", &["pgbench-log"]),
            ("1 2 skipped 0 1795247165 882296 0\n", &["pgbench-log"]),
            ("1795247173 77 10796 1587940 69 327 5130 366514 2 93 0 0 0 0 0\n", &["pgbench-log"]),
            ("READ latency raw data: op, timestamp(ms), latency(us)\n", &["ycsb"]),
            ("\nelapsed_us,ok\n1,1\n", &["csv"]),
            ("elapsed,ok\n1,1\n", &[]),
            ("1 2 3 4 5 6\n", &[]),
            ("", &[]),
            ("[OVERALL], x, 1\nLatency (ms):\ntotal number of events: 3\n", &["ycsb", "sysbench"]),
        ];
        for (text, expected) in cases {
            assert_eq!(formats(text), expected, "{text}");
        }
    }
}
