//! `truetail store`: the simulated store, until it is interrupted.

use crate::{Ended as CommandEnded, interrupt, output};
use anyhow::bail;
use serde_json::json;
use stats::{LogHistogram, Ranks};
use std::net::SocketAddr;
use store::server::{Limits, Standstill};
use units::{Nanos, Quantile, format_count, format_nanos};

mod arguments;
mod log;
mod running;

pub(crate) use arguments::{ListenAt, StoreArguments};
pub(crate) use running::{Ended, Plan, Running};

/// How often the command looks whether it is to end.
const LOOK: Nanos = Nanos::from_millis(50);

/// Runs a store until it is interrupted or its time is over.
pub(crate) fn run(arguments: &StoreArguments, json: bool) -> anyhow::Result<CommandEnded> {
    let duration = arguments.duration()?;
    let plan = plan(arguments)?;
    let settings = plan.settings.describe();
    if plan.resp.is_none() && plan.postgres.is_none() {
        bail!("--resp none --postgres none: the store would listen nowhere; name an address for one of them");
    }
    let stop = interrupt::flag();
    let running = Running::start(plan)?;
    let places = Places { resp: &running.resp, postgres: &running.postgres };
    if json {
        // One line each: whoever started it waits for the first, and gets the second at the end.
        output::result(&places.document(&settings).to_string())?;
    } else {
        output::result(&places.text(&settings, arguments))?;
    }
    let clock = clock::calibrate(clock::ClockChoice::Monotonic)?.start();
    let over = |limit: Nanos| clock.nanos_in(clock::Clock::now(&clock).0) >= limit;
    while !stop.load(std::sync::atomic::Ordering::Relaxed)
        && !duration.is_some_and(over)
        && !running.has_ended()
    {
        clock::pause(LOOK);
    }
    let ended = running.end()?;
    if json {
        output::result(&document(&ended).to_string())?;
    }
    output::note(&summary(&ended));
    Ok(CommandEnded::Well)
}

/// What the flags ask for.
fn plan(arguments: &StoreArguments) -> anyhow::Result<Plan> {
    let mut limits = Limits::default();
    if let Some(connections) = arguments.max_connections {
        if connections == 0 {
            bail!("--max-connections 0: nobody could connect; expected a number from 1 on");
        }
        limits.connections = connections;
    }
    Ok(Plan {
        settings: arguments.settings()?,
        resp: arguments.listen_resp()?,
        postgres: arguments.listen_postgres()?,
        node_ports: arguments.node_ports,
        password: arguments.password.clone(),
        truth: arguments.truth.clone(),
        limits,
        cpu: arguments.cpu,
        command: command_line(),
    })
}

/// The command line without the password.
fn command_line() -> String {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    for index in 0..words.len() {
        if words[index].starts_with("--password=") {
            words[index] = "--password=…".to_owned();
        } else if words[index] == "--password" && index + 1 < words.len() {
            words[index + 1] = "…".to_owned();
        }
    }
    format!("truetail {}", words.join(" "))
}

fn shown(addresses: &[SocketAddr]) -> Vec<String> {
    addresses.iter().map(SocketAddr::to_string).collect()
}

/// Where the store listens.
struct Places<'a> {
    resp: &'a [SocketAddr],
    postgres: &'a [SocketAddr],
}

impl Places<'_> {
    /// The first document of `--json`.
    fn document(&self, settings: &[(&'static str, String)]) -> serde_json::Value {
        let setting = |(name, value): &(&str, String)| json!({"name": name, "value": value});
        json!({
            "schema": "truetail.store/1",
            "event": "listening",
            "resp": shown(self.resp),
            "postgres": shown(self.postgres),
            "settings": settings.iter().map(setting).collect::<Vec<_>>(),
        })
    }

    fn text(&self, settings: &[(&'static str, String)], arguments: &StoreArguments) -> String {
        let mut text = String::from("the simulated store listens; Ctrl-C ends it\n");
        let mut line = |name: &str, value: &str| text += &format!("{name:<10}{value}\n");
        for (node, address) in self.resp.iter().enumerate() {
            let which = if self.resp.len() > 1 { format!("   node {node}") } else { String::new() };
            line("RESP", &format!("redis://{address}{which}"));
        }
        for (node, address) in self.postgres.iter().enumerate() {
            let which = if self.postgres.len() > 1 { format!("   node {node}") } else { String::new() };
            line("PostgreSQL", &format!(" postgres://store@{address}/store{which}"));
        }
        for (name, value) in settings {
            text += &format!("{name}: {value}\n");
        }
        match &arguments.truth {
            Some(dir) => text += &format!("truth log: {}\n", dir.display()),
            None => text += "no truth log; --truth DIR writes one\n",
        }
        text
    }
}

/// How the store did, in a few lines.
fn summary(ended: &Ended) -> String {
    let totals = &ended.totals;
    let mut text = format!(
        "{} requests answered, {} not; {} connections, {} refused, {} closed for what they sent\n",
        format_count(totals.answered),
        format_count(totals.unanswered),
        format_count(totals.connections),
        format_count(totals.refused),
        format_count(totals.broken)
    );
    text += &lateness(&ended.lateness);
    text += &format!("\n{}", stood_still(&totals.standstill));
    if let Some(truth) = &ended.truth {
        text += &format!("\ntruth log: {} ({} rows)", truth.path.display(), format_count(truth.end.rows));
        if truth.end.dropped + truth.end.unwritable > 0 {
            text += &format!("; {} rows are missing", truth.end.dropped + truth.end.unwritable);
        }
        if let Some(trouble) = &truth.end.trouble {
            text += &format!("; {trouble}");
        }
    }
    text
}

/// The store's own lateness, so that nobody takes its noise for a client's.
pub(crate) fn lateness(histogram: &LogHistogram) -> String {
    let Some(times) = late(histogram) else {
        return "own lateness (written − due): nothing was answered".to_owned();
    };
    let shown = times.map(|(name, nanos)| format!("{name} {}", format_nanos(nanos)));
    format!("own lateness (written − due): {}", shown.join(", "))
}

/// What the host did to the store's thread.
fn stood_still(still: &Standstill) -> String {
    let Some(share) = still.share() else {
        return "the host was not watched: the store never spun".to_owned();
    };
    format!(
        "the host let the store stand still for {:.2} % of the time: {} times for {} or longer, at most {}",
        100.0 * share,
        format_count(still.count),
        format_nanos(Standstill::SHORTEST),
        format_nanos(still.longest)
    )
}

/// Quantiles by the upper ends of the histogram's buckets, which are 0.024 % wide; `None` where nothing was answered.
fn late(histogram: &LogHistogram) -> Option<[(&'static str, Nanos); 4]> {
    let (count, max) = (histogram.count(), histogram.max()?);
    let ranks = Ranks::new(histogram);
    let [p50, _, _, _, p99, p999, _] = Quantile::PRINTED
        .map(|quantile| Nanos(ranks.at(quantile.rank(count)).map_or(max, |(_, high)| high.min(max))));
    Some([("p50", p50), ("p99", p99), ("p99.9", p999), ("max", Nanos(max))])
}

/// The last document of `--json`.
fn document(ended: &Ended) -> serde_json::Value {
    let totals = &ended.totals;
    let late = late(&ended.lateness).map(|[p50, p99, p999, max]| {
        let quantiles = [p50, p99, p999].map(|(name, nanos)| (name.to_owned(), json!(nanos.0)));
        json!({"quantiles": serde_json::Map::from_iter(quantiles), "max": max.1.0})
    });
    json!({
        "schema": "truetail.store/1",
        "event": "ended",
        "requests": {"answered": totals.answered, "unanswered": totals.unanswered},
        "connections": {
            "accepted": totals.connections,
            "refused": totals.refused,
            "closed_for_what_they_sent": totals.broken,
        },
        "own_lateness": late,
        "host_standstill": {
            "share": totals.standstill.share(),
            "count": totals.standstill.count,
            "total": totals.standstill.total.0,
            "longest": totals.standstill.longest.0,
        },
        "truth": ended.truth.as_ref().map(|truth| json!({
            "path": truth.path.display().to_string(),
            "rows": truth.end.rows,
            "missing": truth.end.dropped + truth.end.unwritable,
        })),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::store::server::ServerTotals;
    use record::{TruthEnd, TruthFinished};

    fn ended() -> Ended {
        let mut lateness = LogHistogram::new();
        (1..=1000).for_each(|n| lateness.record(n * 1000));
        let (total, longest) = (Nanos::from_millis(40), Nanos::from_millis(3));
        let standstill = Standstill { count: 20, total, longest, watched: Nanos::from_secs(4) };
        Ended {
            totals: ServerTotals {
                connections: 3,
                refused: 1,
                broken: 2,
                answered: 1000,
                unanswered: 4,
                standstill,
            },
            lateness,
            truth: Some(TruthFinished { path: "truth".into(), end: TruthEnd::new(Vec::new()) }),
        }
    }

    #[test]
    fn the_documents_are_described() {
        let places = Places { resp: &["127.0.0.1:7379".parse().unwrap()], postgres: &[] };
        let listening = places.document(&[("capacity", "1000/s".to_owned())]);
        let schema = testkit::documented::Schema::new("truetail.store/1");
        assert_eq!(schema.differences(&[listening, document(&ended())]), Vec::<String>::new());
    }

    #[test]
    fn the_end_is_told_in_words() {
        let words = summary(&ended());
        assert!(
            words.starts_with("1,000 requests answered, 4 not; 3 connections, 1 refused, 2 closed"),
            "{words}"
        );
        assert!(words.contains("p50 500 µs, p99 990 µs"), "{words}");
        let still = "stand still for 1.00 % of the time: 20 times for 100 µs or longer, at most 3.00 ms";
        assert!(words.contains(still), "{words}");
        assert!(lateness(&LogHistogram::new()).ends_with("nothing was answered"));
    }
}
