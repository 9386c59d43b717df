//! The cheapest request to PostgreSQL, closed loop: what each client costs.
//!
//! CPU time is of the whole client process: for truetail with the recording, the analysis and the pages at the end. What
//! its worker takes, the thread that does what a peer does, is shown apart.

use super::Effort;
use super::builds::Builds;
use super::child::Cost;
use super::figures::Figures;
use super::peers::{Ground, Transport, number_after, number_at};
use serde_json::Value;

const SESSIONS: [u32; 2] = [1, 8];

pub(crate) fn run(builds: &Builds, effort: &Effort, figures: &mut Figures) -> anyhow::Result<()> {
    let ground = Ground::new(builds)?;
    for _ in 0..effort.rounds {
        for transport in Transport::ALL {
            for sessions in SESSIONS {
                round(&ground, effort, transport, sessions, figures)?;
            }
        }
    }
    figures.note(
        "CPU: of the whole client process, by user and system time; truetail's has recording and pages in it",
    );
    Ok(())
}

fn round(
    ground: &Ground<'_>,
    effort: &Effort,
    transport: Transport,
    sessions: u32,
    figures: &mut Figures,
) -> anyhow::Result<()> {
    let (clients, seconds) = (sessions.to_string(), effort.seconds.to_string());
    let case = format!("{} {sessions}", transport.name());
    let duration = format!("{seconds}s");
    let (cost, document) =
        ground.truetail(transport, &["--closed", "-c", &clients, "-d", &duration, "--warmup", "1s"])?;
    let count = all_requests(&document)?;
    add(figures, &case, "truetail", count, measured(&document)?, &cost);
    figures.add(&format!("{case}  truetail, of it in its worker"), "µs", cost.watched_s * 1e6 / count);
    let cost = ground.pgbench(transport, &["-c", &clients, "-T", &seconds])?;
    let count = number_after(&cost.stdout, "number of transactions actually processed:")?;
    let rate = number_after(&cost.stdout, "tps =")?;
    add(figures, &case, "pgbench", count, rate, &cost);
    if let Some(cost) = ground.sysbench(transport, sessions, effort.seconds)? {
        let count = number_after(&cost.stdout, "total number of events:")?;
        add(figures, &case, "sysbench", count, count / f64::from(effort.seconds), &cost);
    }
    Ok(())
}

fn add(figures: &mut Figures, case: &str, who: &str, count: f64, rate: f64, cost: &Cost) {
    figures.add(&format!("{case}  {who}, requests"), "/s", rate);
    figures.add(&format!("{case}  {who}, CPU a request, user"), "µs", cost.user_s * 1e6 / count);
    figures.add(&format!("{case}  {who}, CPU a request, system"), "µs", cost.system_s * 1e6 / count);
}

/// Requests of all phases: the warm-up's cost CPU time, too.
fn all_requests(document: &Value) -> anyhow::Result<f64> {
    let phases = document["phases"].as_array().map(Vec::as_slice).unwrap_or_default();
    phases.iter().map(|phase| number_at(phase, "/samples")).sum()
}

fn measured(document: &Value) -> anyhow::Result<f64> {
    number_at(document, "/load/achieved_per_second")
}
