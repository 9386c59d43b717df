//! Configuration files that nobody would write, and loads that nobody would ask for.
//!
//! `cargo xtask soak --fuzz` does the same for as long as it is told.

use super::*;
use testkit::fuzz::Fuzz;
use workload::Operation;

const KNOWN: [&str; 4] = [
    "target = \"postgres://u@h/d\"\nrate = \"5/s\"\nseed = 3\nparam = [\"a=1\"]\n",
    "closed = true\nthink = \"exp:5ms\"\nsessions = 8\nthreads = 2\nduration = \"10s\"\nwarmup = \"1s\"\n",
    "phases = \"1s@5/s, 2s@5..10/s sessions=3 mix=ReadRecord=1\"\nmix = \"ReadRecord=90,UpdateRecord=10\"\n",
    "visit = 3.0\nrequests = 7\ntimeout = \"1s\"\npacing = \"spin\"\ncpus = \"0-1\"\narrivals = \"gamma:2\"\n",
];
const WORDS: [&str; 20] = [
    "[",
    "]",
    "\"",
    "'''",
    "= ",
    "\n",
    "\\u0000",
    "-1",
    "nan",
    "inf",
    "1e308",
    "18446744073709551615",
    "0-4294967295",
    "99999999h",
    "1e9/s",
    "[[a]]",
    "{a=1}",
    "1979-05-27",
    "0x",
    "\u{feff}",
];

#[test]
fn fuzz_configuration_files() {
    let operations =
        [("ReadRecord", 90.0), ("UpdateRecord", 10.0)].map(|(name, weight)| Operation { name, weight });
    Fuzz::new("configuration").from(KNOWN).words(WORDS).run(5_000, |input| {
        let text = String::from_utf8_lossy(input);
        let options = match RunOptions::from_toml(&text) {
            Ok(options) => options,
            Err(reason) => return assert!(!reason.is_empty() && !reason.contains('\n'), "{reason:?}"),
        };
        // A trace file is another target's input; this one must not open what a mutation names.
        if options.arrivals.as_deref().is_some_and(|arrivals| arrivals.starts_with("trace")) {
            return;
        }
        match options.effective(driver::Execution::Polled).load_spec(&operations) {
            Ok(spec) => assert!(spec.sessions >= 1 && spec.duration() > Nanos::ZERO, "{text}"),
            Err(error) => {
                let line = crate::output::one_line(&error);
                assert!(!line.is_empty() && !line.contains('\n'), "{line:?}");
            }
        }
    });
}
