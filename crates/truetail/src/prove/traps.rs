//! What drivers do behind one's back: each driver that speaks over a network is run against three planted faults, and the
//! recording must show just those.
//!
//! Libraries retry, reconnect, and give up on slow answers unasked; each of these falsifies a tail. The store answers one
//! request late, one with an error that invites a retry, and closes one connection instead of an answer.

use super::bench::{Behaviour, Bench};
use super::process;
use crate::registry::TARGETS;
use crate::{Ended, output};
use analysis::overlay::{OverlayOptions, overlay};
use anyhow::Context;
use prove::invocations::Protocol;
use record::{Recording, Sample, TruthLog};
use serde_json::json;
use std::path::Path;
use store::Model;
use units::{Nanos, Outcome, Seed, format_nanos};

/// How late the late answer is: beyond the limit of 500 ms that some libraries have.
const LATE: Nanos = Nanos::from_millis(800);
/// By how much more than that it may be recorded as late: the network and the host.
const MORE: Nanos = Nanos::from_millis(150);
const SECONDS: u64 = 4;
const RATE: u64 = 200;
const SESSIONS: u64 = 8;

/// One thing that was planted or must not be there.
#[derive(Clone, PartialEq, Debug)]
struct Check {
    what: &'static str,
    passed: bool,
    found: String,
}

/// Runs all drivers that have a protocol of the store's.
pub(super) fn run(directory: &Path, json: bool) -> anyhow::Result<Ended> {
    let mut drivers = Vec::new();
    for (scheme, spoken) in TARGETS.iter().filter_map(|t| Some((t.schemes[0], t.speaks?))) {
        output::note(&format!("driver {scheme}: {SECONDS} s with three faults"));
        drivers.push((scheme, checks_of(spoken, &directory.join(scheme))?));
    }
    let passed = drivers.iter().flat_map(|(_, checks)| checks).all(|check| check.passed);
    if json {
        output::json(&document(&drivers))?;
    } else {
        output::result(&page(&drivers))?;
    }
    Ok(if passed { Ended::Well } else { Ended::LimitBroken })
}

fn checks_of(spoken: Protocol, directory: &Path) -> anyhow::Result<Vec<Check>> {
    let faults = ["delay:800ms@request=200", "error:retryable@request=400", "drop:before@request=600"];
    let faults = faults.into_iter().map(str::parse).collect::<Result<Vec<store::Fault>, _>>()?;
    std::fs::create_dir_all(directory).with_context(|| format!("can't create {}", directory.display()))?;
    let behaviour = Behaviour { model: Model::default(), faults, seed: Seed(1) };
    let bench = Bench::start(behaviour, spoken, &directory.join("truth"))?;
    let recording = directory.join("run");
    let words = format!(
        "run {} -w noop -p mode={} -r {RATE}/s --arrivals constant -d {SECONDS}s --warmup 0s -c {SESSIONS} --json --out",
        bench.url(),
        if spoken == Protocol::Resp { "ping" } else { "select1" },
    );
    let mut words: Vec<String> = words.split(' ').map(str::to_owned).collect();
    words.push(recording.to_str().context("the directory's name is not UTF-8")?.to_owned());
    process::truetail(&words, process::limit(Nanos::from_secs(SECONDS)))?;
    let truth = bench.truth.clone();
    bench.end()?;
    let recording = Recording::open(&recording)?;
    let log = TruthLog::open(&truth)?;
    let samples = samples(&recording)?;
    // Rows outside of all requests are what a driver asks when it connects.
    let overlay = overlay(&[recording], &log, &OverlayOptions::default())?;
    Ok(judge(&samples, overlay.rows.matched + overlay.rows.ambiguous))
}

fn samples(recording: &Recording) -> anyhow::Result<Vec<Sample>> {
    let parts = recording.scan(1, Vec::new, |samples, batch| samples.extend(batch.iter()))?;
    Ok(parts.into_iter().flatten().collect())
}

/// Whether the recording shows what was planted, and nothing else.
fn judge(samples: &[Sample], reached: u64) -> Vec<Check> {
    let planned = SECONDS * RATE;
    let with = |outcome: Outcome| samples.iter().filter(|s| s.outcome == outcome).count();
    let late: Vec<Nanos> = samples
        .iter()
        .filter(|s| s.outcome == Outcome::Ok)
        .filter_map(Sample::service)
        .filter(|service| *service >= Nanos(LATE.0 / 2))
        .collect();
    let shown: Vec<String> = late.iter().map(|service| format_nanos(*service)).collect();
    let retried: u64 = samples.iter().map(|s| u64::from(s.retries)).sum();
    let others = samples
        .iter()
        .filter(|s| !matches!(s.outcome, Outcome::Ok | Outcome::Unavailable | Outcome::ConnectionLost))
        .count();
    let check = |what, passed, found| Check { what, passed, found };
    vec![
        check(
            "the answer that is 800 ms late is waited for, and recorded as that late",
            matches!(late[..], [one] if one >= LATE && one <= LATE + MORE),
            if shown.is_empty() { "no late answer".to_owned() } else { shown.join(", ") },
        ),
        check(
            "the error that invites a retry is recorded as an error, once",
            with(Outcome::Unavailable) == 1,
            format!("{} such errors", with(Outcome::Unavailable)),
        ),
        check(
            "the closed connection is recorded as a lost one, once",
            with(Outcome::ConnectionLost) == 1,
            format!("{} lost connections", with(Outcome::ConnectionLost)),
        ),
        check("nothing else failed", others == 0, format!("{others} other failures")),
        check("nothing was retried", retried == 0, format!("{retried} retries")),
        check(
            "each request reached the store once",
            samples.len() as u64 == planned && reached == planned,
            format!("{planned} planned, {} recorded, {reached} at the store", samples.len()),
        ),
    ]
}

fn page(drivers: &[(&str, Vec<Check>)]) -> String {
    let mut text = String::new();
    for (driver, checks) in drivers {
        text += &format!("driver {driver}\n");
        for Check { what, passed, found } in checks {
            text += &format!("  {}  {what}: {found}\n", if *passed { "ok    " } else { "FAILED" });
        }
    }
    text
}

fn document(drivers: &[(&str, Vec<Check>)]) -> serde_json::Value {
    let check = |check: &Check| json!({"what": check.what, "passed": check.passed, "found": check.found});
    let driver = |(name, checks): &(&str, Vec<Check>)| json!({"driver": name, "checks": checks.iter().map(check).collect::<Vec<_>>()});
    json!({"schema": "truetail.driver-traps/1", "drivers": drivers.iter().map(driver).collect::<Vec<_>>()})
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Instant;

    /// What a driver without tricks records.
    fn honest() -> Vec<Sample> {
        let at = |ms: u64| Instant(ms * 1_000_000);
        let mut samples: Vec<Sample> = (0..SECONDS * RATE)
            .map(|seq| Sample {
                intended: at(seq * 5),
                ready: at(seq * 5),
                sent: at(seq * 5),
                arrived: Instant::NONE,
                completed: at(seq * 5 + 1),
                seq,
                client: 0,
                session: 0,
                op: 0,
                phase: 0,
                outcome: Outcome::Ok,
                retries: 0,
                flags: 0,
            })
            .collect();
        samples[199].completed = at(199 * 5 + 801);
        samples[399].outcome = Outcome::Unavailable;
        samples[599].outcome = Outcome::ConnectionLost;
        samples
    }

    fn failed(samples: &[Sample], reached: u64) -> Vec<&'static str> {
        judge(samples, reached).into_iter().filter(|c| !c.passed).map(|c| c.what).collect()
    }

    #[test]
    fn a_driver_without_tricks_passes() {
        assert_eq!(failed(&honest(), SECONDS * RATE), Vec::<&str>::new());
    }

    #[test]
    fn the_document_is_described() {
        let schema = testkit::documented::Schema::new("truetail.driver-traps/1");
        let drivers = [("redis", judge(&honest(), SECONDS * RATE))];
        assert_eq!(schema.differences(&[document(&drivers)]), Vec::<String>::new());
    }

    #[test]
    fn each_trick_is_seen() {
        let with = |change: &dyn Fn(&mut Vec<Sample>)| {
            let mut samples = honest();
            change(&mut samples);
            failed(&samples, SECONDS * RATE)
        };
        // A limit of 500 ms on answers.
        let gave_up = with(&|s| s[199].outcome = Outcome::Timeout);
        assert!(gave_up.len() == 2 && gave_up[0].contains("800 ms late"), "{gave_up:?}");
        // A retry, hidden or counted.
        assert!(with(&|s| s[399].outcome = Outcome::Ok)[0].contains("invites a retry"));
        assert!(with(&|s| s[399].retries = 1)[0].contains("nothing was retried"));
        assert!(failed(&honest(), SECONDS * RATE + 1)[0].contains("reached the store once"));
        // A reconnect that nobody was told of.
        assert!(with(&|s| s[599].outcome = Outcome::Ok)[0].contains("lost one"));
        // Censoring, and waiting longer than it took.
        assert!(with(&|s| s.retain(|sample| sample.seq != 10))[0].contains("reached the store once"));
        assert!(with(&|s| s[199].completed = Instant(3_000_000_000))[0].contains("800 ms late"));
    }
}
