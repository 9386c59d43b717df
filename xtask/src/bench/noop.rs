//! The cheapest request to PostgreSQL, closed loop: what each client costs.
//!
//! Everybody has the same number of sessions, and one thread that serves them all: `truetail --threads 1`, `pgbench
//! -j 1`. sysbench can't: it has a thread for each session.
//!
//! CPU time is shown in three ways, the first two from glances at `/proc` while the load runs, the same for truetail and
//! pgbench:
//!
//! - **thread**: the thread that does what pgbench's only thread does, in the steady part;
//! - **process**: all threads, in the steady part: truetail's recorder and its observers of the host are in it;
//! - **in all**: the whole process from start to exit: connecting is in it, and truetail's analysis and pages.

use super::Effort;
use super::builds::Builds;
use super::child::Cost;
use super::figures::Figures;
use super::glances::{self, Used};
use super::peers::{Ground, Transport, number_after, number_at};
use anyhow::Context;
use serde_json::Value;

const SESSIONS: [u32; 2] = [1, 8];
/// The number of sessions that the targets are for.
const TARGETED: u32 = 8;
/// A shorter load would show more of its start and its end than of itself.
const SECONDS_MIN: u32 = 10;
/// Seconds left out of the steady part, at its begin (the warm-up is 1 s) and at its end.
const EDGES: (f64, f64) = (1.5, 0.5);
/// User CPU time of truetail's own for each request, µs.
const USER: f64 = 1.0;

pub(crate) fn run(builds: &Builds, effort: &Effort, figures: &mut Figures) -> anyhow::Result<()> {
    let ground = Ground::new(builds)?;
    let seconds = effort.seconds.max(SECONDS_MIN);
    for _ in 0..effort.rounds {
        for transport in Transport::ALL {
            for sessions in SESSIONS {
                round(&ground, seconds, transport, sessions, figures)?;
            }
        }
    }
    Transport::ALL.into_iter().for_each(|transport| targets(&case(transport, TARGETED), figures));
    figures.note(format!("loads of {seconds} s; truetail and pgbench serve all sessions with one thread,"));
    figures.note(
        "sysbench has a thread for each. CPU a request: of that thread, and of the whole process, in the",
    );
    figures
        .note("steady part; `in all` has start and end in it, too, for truetail the analysis and the pages");
    Ok(())
}

fn case(transport: Transport, sessions: u32) -> String {
    format!("{} {sessions}", transport.name())
}

/// What is hoped for, by the thread alone and by the process as a whole.
fn targets(case: &str, figures: &mut Figures) {
    let of = |who: &str, what: &str| format!("{case}  {who}, {what}");
    figures.at_least_of(&of("truetail", "requests"), 1.0, &of("pgbench", "requests"));
    for part in ["thread", "process"] {
        figures.at_most(&of("truetail", &format!("{part}, user")), USER);
        let total = format!("{part}, user + system");
        figures.at_most_of(&of("truetail", &total), 1.0, &of("pgbench", &total));
    }
    figures.at_most_of(
        &of("truetail", "in all, user + system"),
        1.0,
        &of("pgbench", "in all, user + system"),
    );
}

fn round(
    ground: &Ground<'_>,
    seconds: u32,
    transport: Transport,
    sessions: u32,
    figures: &mut Figures,
) -> anyhow::Result<()> {
    let (clients, time, case) = (sessions.to_string(), seconds.to_string(), case(transport, sessions));
    let duration = format!("{seconds}s");
    let words = ["--closed", "-c", &clients, "--threads", "1", "-d", &duration, "--warmup", "1s"];
    let (cost, document) = ground.truetail(transport, &words)?;
    let (count, rate) = (all_requests(&document)?, number_at(&document, "/load/achieved_per_second")?);
    let mut truetail = Contender { case: &case, who: "truetail", figures };
    truetail.requests(rate);
    truetail.steady(&cost, rate)?;
    truetail.in_all(&cost, count);

    let cost = ground.pgbench(transport, &["-c", &clients, "-T", &time])?;
    let count = number_after(&cost.stdout, "number of transactions actually processed:")?;
    let rate = number_after(&cost.stdout, "tps =")?;
    let mut pgbench = Contender { case: &case, who: "pgbench", figures };
    pgbench.requests(rate);
    pgbench.steady(&cost, rate)?;
    pgbench.in_all(&cost, count);

    if let Some(cost) = ground.sysbench(transport, sessions, seconds)? {
        let count = number_after(&cost.stdout, "total number of events:")?;
        let mut sysbench = Contender { case: &case, who: "sysbench", figures };
        sysbench.requests(count / f64::from(seconds));
        sysbench.in_all(&cost, count);
    }
    Ok(())
}

/// Where one contender's figures go.
struct Contender<'a> {
    case: &'a str,
    who: &'static str,
    figures: &'a mut Figures,
}

impl Contender<'_> {
    fn requests(&mut self, rate: f64) {
        self.add("requests", "/s", rate);
    }

    fn steady(&mut self, cost: &Cost, rate: f64) -> anyhow::Result<()> {
        let steady = glances::steady(&cost.glances, EDGES)
            .with_context(|| format!("{}: too short for a steady part", self.who))?;
        self.cpu("thread", steady.threads, rate);
        self.cpu("process", steady.process, rate);
        Ok(())
    }

    fn in_all(&mut self, cost: &Cost, count: f64) {
        self.cpu("in all", Used { user: cost.user_s, system: cost.system_s }, count);
    }

    /// CPU time over requests, both of the same stretch of time.
    fn cpu(&mut self, part: &str, used: Used, requests: f64) {
        self.add(&format!("{part}, user"), "µs", used.user * 1e6 / requests);
        self.add(&format!("{part}, user + system"), "µs", used.total() * 1e6 / requests);
    }

    fn add(&mut self, what: &str, unit: &'static str, value: f64) {
        self.figures.add(&format!("{}  {}, {what}", self.case, self.who), unit, value);
    }
}

/// Requests of all phases: the warm-up's cost CPU time, too.
fn all_requests(document: &Value) -> anyhow::Result<f64> {
    let phases = document["phases"].as_array().map(Vec::as_slice).unwrap_or_default();
    phases.iter().map(|phase| number_at(phase, "/samples")).sum()
}
