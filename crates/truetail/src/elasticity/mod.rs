//! `truetail experiment elasticity`: a node joins a cluster under load, as in *Coordinated Omission in NoSQL Database Benchmarking*
//! (Friedrich et al., BTW 2017), and what a plain, an intended and an open measurement say of it.
//!
//! ```text
//!  for each loop: one fresh node ──► load ──► run, and the second node in the middle ──► recording, join's phases
//!                                                     experiment.toml ──► analysis::elasticity ◄──┘
//! ```

mod arguments;
mod cluster;
mod document;
mod size;

pub(crate) use arguments::ElasticityArguments;

use crate::{Ended, interrupt, output, process, run};
use analysis::{ElasticityRun, JoinPhase};
use anyhow::{Context, bail};
use cluster::{Cluster, carry_out};
use document::{Document, PhaseEntry, RunEntry};
use driver::TargetUrl;
use size::Size;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use units::{Instant, Nanos, format_nanos};

/// The loops, in the order in which they are run.
const LOOPS: [&str; 2] = ["open", "closed"];

/// Carries the experiment out, or looks at one again.
pub(crate) fn run(arguments: &ElasticityArguments, json: bool) -> anyhow::Result<Ended> {
    if let Some(directory) = &arguments.again {
        return look(directory, &Document::open(directory)?, json);
    }
    let size = Size::of(arguments)?;
    let loops = asked(arguments)?;
    let url = given(arguments)?;
    let each = size.time + size.loading();
    let expected = Nanos(each.0 * loops.len() as u64);
    if arguments.list {
        output::result(&listed(&loops, &size, expected))?;
        return Ok(Ended::Well);
    }
    let directory = arguments.out.clone().unwrap_or_else(|| {
        PathBuf::from("experiments").join(format!("{}-elasticity", run::timestamp(clock::wall_time_ns())))
    });
    record::require_vacant(&directory)?;
    std::fs::create_dir_all(&directory).with_context(|| {
        format!("can't create {}; name another directory with --out", directory.display())
    })?;
    interrupt::flag();
    output::note(&format!("about {} in all", format_nanos(expected)));
    let mut document = Document::new(&size);
    document.write(&directory)?;
    for (index, driven) in loops.iter().enumerate() {
        if interrupt::requested() {
            break;
        }
        process::announce(
            index + 1,
            loops.len(),
            &format!("{driven} loop"),
            Nanos(each.0 * (loops.len() - index) as u64),
        );
        if let Some(reset) = &arguments.reset {
            carry_out(reset).context("--reset")?;
        }
        let cluster = match (&url, &arguments.join) {
            (Some(url), Some(join)) => Cluster::Given { url: url.clone(), join: join.clone() },
            _ => Cluster::own()?,
        };
        document.runs.push(one_run(&cluster, driven, &size, &directory)?);
        document.write(&directory)?;
    }
    look(&directory, &document, json)
}

/// Which loops are wanted.
fn asked(arguments: &ElasticityArguments) -> anyhow::Result<Vec<&'static str>> {
    let loops = match &arguments.only {
        None => LOOPS.to_vec(),
        Some(name) => match LOOPS.iter().find(|one| *one == name) {
            Some(one) => vec![*one],
            None => bail!("--only {name}: there are open and closed"),
        },
    };
    if arguments.url.is_some() && arguments.reset.is_none() && loops.len() > 1 {
        bail!(
            "--url: the second run would find two nodes; give the command that makes it one fresh node again as --reset, or run \
             one loop with --only open"
        );
    }
    Ok(loops)
}

/// The user's cluster.
fn given(arguments: &ElasticityArguments) -> anyhow::Result<Option<TargetUrl>> {
    let Some(text) = &arguments.url else { return Ok(None) };
    let url = TargetUrl::parse(text)?;
    if url.scheme != "cql" {
        bail!("--url {url}: give the URL of a Cassandra, such as cql://db1/ycsb?replication=1");
    }
    if url.password.is_some() {
        bail!(
            "--url {url}: the runs are told of it by arguments, which everybody can read: use a cluster without a password"
        );
    }
    driver_cql::CqlTarget::from_url(&url)?;
    Ok(Some(url))
}

/// What would be run.
fn listed(loops: &[&str], size: &Size, expected: Nanos) -> String {
    let mut text = String::new();
    for driven in loops {
        text += &format!(
            "{driven} loop: {} on {} records at {} for {}, the second node started at {}\n",
            size.workload,
            size.records,
            size.rate,
            format_nanos(size.time),
            format_nanos(size.join_at)
        );
    }
    text + &format!("about {} in all\n", format_nanos(expected))
}

/// Data on one node, then the run in which the second one comes.
fn one_run(cluster: &Cluster, driven: &str, size: &Size, directory: &Path) -> anyhow::Result<RunEntry> {
    let url = cluster.url()?;
    let records = format!("recordcount={}", size.records);
    let words = |verb: &str| {
        [verb, &url.to_string(), "-w", &size.workload, "-p", &records].map(str::to_owned).to_vec()
    };
    let limit = Nanos(size.loading().0 * 20) + Nanos::from_secs(300);
    for verb in ["cleanup", "load"] {
        process::truetail(&words(verb), &[], limit, Path::new(""), || ())?;
    }
    let recording = directory.join(driven);
    let milliseconds = |time: Nanos| format!("{}ms", time.0 / 1_000_000);
    let mut arguments = words("run");
    let flags = [
        ("--rate", size.rate.clone()),
        ("--duration", milliseconds(size.time)),
        ("--warmup", "0s".to_owned()),
        ("--sessions", size.sessions.to_string()),
        ("--seed", size.seed.0.to_string()),
        ("--out", recording.display().to_string()),
    ];
    arguments.extend(flags.into_iter().flat_map(|(flag, value)| [flag.to_owned(), value]));
    match driven {
        "closed" => arguments.push("--closed".to_owned()),
        _ => arguments.extend(["--arrivals", "constant"].map(str::to_owned)),
    }
    let over = AtomicBool::new(false);
    let phases = std::thread::scope(|scope| {
        let mut growing = None;
        let loads = || growing = Some(scope.spawn(|| cluster.grow(size.join_at, &over)));
        let made = process::truetail(&arguments, &[], process::limit(size.time), &recording, loads);
        // Tells nothing but that it is over.
        over.store(true, Ordering::Relaxed);
        let grown = growing.map(|thread| thread.join().unwrap_or_else(|_| Ok(Vec::new())));
        made.and_then(|()| grown.unwrap_or_else(|| Ok(Vec::new())))
    })?;
    Ok(RunEntry { driven: driven.to_owned(), recording: driven.to_owned(), phases })
}

/// Reads the recordings, writes the page, the document and the figure, and shows the text.
fn look(directory: &Path, document: &Document, json: bool) -> anyhow::Result<Ended> {
    let runs =
        document.runs.iter().map(|entry| read(directory, entry)).collect::<anyhow::Result<Vec<_>>>()?;
    let found = analysis::elasticity(&runs, &output::analysis_options())?;
    let write = |name: &str, text: &str| {
        let path = directory.join(name);
        std::fs::write(&path, text).with_context(|| format!("can't write {}", path.display()))
    };
    const PAGE: &str = "elasticity.html";
    write(PAGE, &report::elasticity::html(&found))?;
    write("elasticity.json", &format!("{:#}\n", report::elasticity::json(&found)))?;
    if let Some(figure) = report::elasticity::figure(&found) {
        write("elasticity.svg", &figure)?;
    }
    if json {
        output::json(&report::elasticity::json(&found))?;
    } else {
        let options = report::text::TextOptions { width: output::width(), colour: output::wants_colour() };
        let page = report::elasticity::text(&found, &options);
        output::result(&format!("{page}\nexperiment: {}\n", directory.join(PAGE).display()))?;
    }
    Ok(Ended::Well)
}

fn read(directory: &Path, entry: &RunEntry) -> anyhow::Result<ElasticityRun> {
    let recording = record::Recording::open(directory.join(&entry.recording))?;
    let phases = phases(&entry.phases, recording.header().epoch_wall_ns);
    Ok(ElasticityRun { recording, phases })
}

/// On the run's axis; each ends where the next begins.
fn phases(entries: &[PhaseEntry], epoch_wall_ns: u64) -> Vec<JoinPhase> {
    let at = |entry: &PhaseEntry| Instant(entry.wall_ns.saturating_sub(epoch_wall_ns));
    let ends = entries.iter().skip(1).map(at).chain([Instant::NONE]);
    entries
        .iter()
        .zip(ends)
        .map(|(entry, end)| JoinPhase { name: entry.name.clone(), begin: at(entry), end })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_follow_each_other_on_the_runs_axis() {
        let entry = |name: &str, wall_ns| PhaseEntry { name: name.to_owned(), wall_ns };
        let found = phases(&[entry("starting", 1_030), entry("normal", 1_060)], 1_000);
        let expected =
            |name: &str, begin, end| JoinPhase { name: name.to_owned(), begin: Instant(begin), end };
        assert_eq!(found, [expected("starting", 30, Instant(60)), expected("normal", 60, Instant::NONE)]);
    }

    #[test]
    fn a_cluster_of_the_users_must_be_made_anew_between_the_loops() {
        let refused = |change: fn(&mut ElasticityArguments)| {
            let mut arguments = ElasticityArguments::default();
            change(&mut arguments);
            asked(&arguments).err().or_else(|| given(&arguments).err()).expect("refused").to_string()
        };
        assert!(refused(|a| a.only = Some("both".into())).contains("open and closed"));
        assert!(refused(|a| a.url = Some("cql://h/k".into())).contains("--reset"));
        assert!(
            refused(|a| (a.only, a.url) = (Some("open".into()), Some("redis://h".into())))
                .contains("cql://db1")
        );
        assert!(
            refused(|a| (a.only, a.url) = (Some("open".into()), Some("cql://a:b@h/k".into())))
                .contains("without a password")
        );
    }
}
