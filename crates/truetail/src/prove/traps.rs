//! What drivers do behind one's back: each driver that speaks over a network is run against three planted faults, and the
//! recording must show just those.
//!
//! Libraries retry, reconnect, and give up on slow answers unasked; each of these falsifies a tail. The store answers one
//! request late, one with an error that invites a retry, and closes one connection instead of an answer.

use super::bench::{Behaviour, Bench};
use super::foreign::whole;
use super::process;
use crate::registry::TARGETS;
use crate::{Ended, output};
use anyhow::Context;
use prove::invocations::Protocol;
use record::{Recording, Sample, TruthLog};
use serde_json::json;
use std::collections::BTreeSet;
use std::path::Path;
use store::{Model, Operation};
use units::{Nanos, Outcome, Seed, format_nanos};

/// How late the late answer is: beyond the limit of 500 ms that some libraries have.
const LATE: Nanos = Nanos::from_millis(800);
/// By how much more than that it may be recorded as late: the network and the host.
const MORE: Nanos = Nanos::from_millis(150);
const SECONDS: u64 = 4;
const RATE: u64 = 200;
const SESSIONS: u64 = 8;
/// One for each session, one for questions about the server, and one in place of that which is closed.
const CONNECTIONS: u64 = SESSIONS + 2;
/// How long a request may wait to be sent: there are other sessions than that whose answer is late and that whose
/// connection is made anew.
const WAIT: Nanos = Nanos::from_millis(400);

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
    // The store does not begin anew with the load: what is asked besides it is counted, too.
    process::truetail(&words, &[], process::limit(Nanos::from_secs(SECONDS)), &recording, || {})?;
    let truth = bench.truth.clone();
    bench.end()?;
    let recording = Recording::open(&recording)?;
    let log = TruthLog::open(&truth)?;
    let samples = samples(&recording)?;
    Ok(judge(&samples, &reached(&log)?, asked_besides(spoken)))
}

/// What the store saw of a driver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Reached {
    /// Requests of the load's kind.
    requests: u64,
    /// Connections that asked anything.
    connections: u64,
}

/// All of it: also what lies outside of the recorded requests, such as a retry over a connection of its own.
fn reached(log: &TruthLog) -> anyhow::Result<Reached> {
    let mut requests = 0;
    let mut connections = BTreeSet::new();
    log.scan(|rows| {
        requests += rows.iter().filter(|row| row.operation == Operation::Ping as u8).count() as u64;
        connections.extend(rows.iter().map(|row| row.connection));
    });
    whole(log)?;
    Ok(Reached { requests, connections: connections.len() as u64 })
}

/// How many requests of the load's kind are made besides the load. Redis's driver asks on each connection whether it is let
/// in, which also tells a server that is still loading; what PostgreSQL's asks about the server is of another kind.
fn asked_besides(spoken: Protocol) -> u64 {
    match spoken {
        Protocol::Resp => CONNECTIONS,
        Protocol::Postgres => 0,
    }
}

fn samples(recording: &Recording) -> anyhow::Result<Vec<Sample>> {
    let parts = recording.scan(1, Vec::new, |samples, batch| samples.extend(batch.iter()))?;
    Ok(parts.into_iter().flatten().collect())
}

/// Whether the recording shows what was planted, and nothing else.
fn judge(samples: &[Sample], reached: &Reached, besides: u64) -> Vec<Check> {
    let planned = SECONDS * RATE;
    let asked = planned + besides;
    let wait = samples.iter().filter_map(|s| s.sent.since(s.intended).or(s.pool_wait())).max();
    let wait = wait.unwrap_or(Nanos::ZERO);
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
            samples.len() as u64 == planned && reached.requests == asked,
            format!(
                "{planned} planned, {} recorded, {} at the store, where {besides} are expected besides",
                samples.len(),
                reached.requests
            ),
        ),
        check(
            "no connection is made but one for each session, and one in place of the closed one",
            reached.connections == CONNECTIONS,
            format!("{} connections, {CONNECTIONS} expected", reached.connections),
        ),
        check(
            "nothing waits on the closed connection",
            wait < WAIT,
            format!("at most {} from the intended start to the sending", format_nanos(wait)),
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

    const ALL: Reached = Reached { requests: SECONDS * RATE + CONNECTIONS, connections: CONNECTIONS };

    fn failed(samples: &[Sample], reached: Reached) -> Vec<&'static str> {
        judge(samples, &reached, CONNECTIONS).into_iter().filter(|c| !c.passed).map(|c| c.what).collect()
    }

    #[test]
    fn a_driver_without_tricks_passes() {
        assert_eq!(failed(&honest(), ALL), Vec::<&str>::new());
    }

    #[test]
    fn the_document_is_described() {
        let schema = testkit::documented::Schema::new("truetail.driver-traps/1");
        let drivers = [("redis", judge(&honest(), &ALL, CONNECTIONS))];
        assert_eq!(schema.differences(&[document(&drivers)]), Vec::<String>::new());
    }

    #[test]
    fn each_trick_is_seen() {
        let with = |change: &dyn Fn(&mut Vec<Sample>)| {
            let mut samples = honest();
            change(&mut samples);
            failed(&samples, ALL)
        };
        // A limit of 500 ms on answers.
        let gave_up = with(&|s| s[199].outcome = Outcome::Timeout);
        assert!(gave_up.len() == 2 && gave_up[0].contains("800 ms late"), "{gave_up:?}");
        // A retry, hidden or counted.
        assert!(with(&|s| s[399].outcome = Outcome::Ok)[0].contains("invites a retry"));
        assert!(with(&|s| s[399].retries = 1)[0].contains("nothing was retried"));
        let more = |requests, connections| Reached {
            requests: ALL.requests + requests,
            connections: ALL.connections + connections,
        };
        assert!(failed(&honest(), more(1, 0))[0].contains("reached the store once"));
        // Over a connection of its own, asked about first or not.
        for over_another in [more(1, 1), more(2, 1)] {
            let seen = failed(&honest(), over_another);
            assert!(seen.len() == 2 && seen[1].contains("no connection is made but"), "{seen:?}");
        }
        // A back-off before the connection is made anew, and one before the request is sent.
        let backed_off = |s: &mut Vec<Sample>, ready: u64| {
            let intended = s[600].intended;
            s[600].ready = intended + Nanos::from_millis(ready);
            s[600].sent = intended + Nanos::from_millis(400);
            s[600].completed = intended + Nanos::from_millis(401);
        };
        assert_eq!(with(&|s| backed_off(s, 400)), ["nothing waits on the closed connection"]);
        assert_eq!(with(&|s| backed_off(s, 0)), ["nothing waits on the closed connection"]);
        // A reconnect that nobody was told of.
        assert!(with(&|s| s[599].outcome = Outcome::Ok)[0].contains("lost one"));
        // Censoring, and waiting longer than it took.
        assert!(with(&|s| s.retain(|sample| sample.seq != 10))[0].contains("reached the store once"));
        assert!(with(&|s| s[199].completed = Instant(3_000_000_000))[0].contains("800 ms late"));
    }
}
