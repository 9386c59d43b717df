//! What watches the host during a run.

use crate::host;
use crate::settings::RunOptions;
use analysis::facts as names;
use clock::{Calibration, LiveClock};
use driver::TargetFacts;
use load::LoadSpec;
use noise::{Observer, Places, Selection, Spent, Watch, hiccup};
use record::{NoiseSourceFacts, Recorder};
use std::collections::BTreeMap;
use units::{Nanos, Ticks};

/// How often sources are read.
const INTERVAL: Nanos = Nanos::from_millis(100);
/// How the names of the load's threads begin.
const LOAD_THREADS: &str = "load-";

/// Which sources watch, and which CPUs.
pub(super) struct Watching {
    selection: Selection,
    /// As it was asked.
    asked: String,
    /// Those of the process.
    all: Vec<usize>,
    client: Vec<usize>,
    /// Those of a server on this host, or why they are not known; `None` where the server is no process of its own.
    server: Option<Result<Vec<usize>, String>>,
    /// Threads that make the load.
    workers: usize,
    period: Nanos,
}

/// The family whose values are of the CPUs that are observed.
const STEAL: &str = "steal";

impl Watching {
    /// On a thread that may still use all CPUs of the process. Where hiccups are looked for it takes 20 ms or more, to see
    /// what a wake costs here.
    pub(super) fn plan(
        options: &RunOptions,
        spec: &LoadSpec,
        target: &TargetFacts,
        calibration: &Calibration,
        workers: usize,
    ) -> anyhow::Result<Watching> {
        let all = load::available_cpus();
        let client = if spec.cpus.is_empty() { all.clone() } else { spec.cpus.clone() };
        let server = server_cpus(options.server_cpus()?, target);
        let asked = options.observers.clone().unwrap_or_else(|| "default".to_owned());
        let selection = options.observers()?;
        let period = hiccup::PERIOD;
        let mut watching = Watching { selection, asked, all, client, server, workers, period };
        if watching.selection.looks_for_hiccups() {
            let chosen = || hiccup::period(watching.cpus().len(), calibration.start());
            watching.period = watching.selection.hiccup_period.unwrap_or_else(chosen);
        }
        Ok(watching)
    }

    /// The CPUs that are looked at one by one: of client and server.
    fn cpus(&self) -> Vec<usize> {
        let server = self.server.iter().flatten().flatten();
        let mut cpus: Vec<usize> = self.client.iter().chain(server).copied().collect();
        cpus.sort_unstable();
        cpus.dedup();
        cpus
    }

    /// What is asked, and of which CPUs, for the recording.
    pub(super) fn capabilities(&self) -> Vec<(String, String)> {
        let mut list = vec![(names::OBSERVERS.to_owned(), self.asked.clone())];
        if noise::FAMILIES.iter().any(|family| family.name == STEAL && self.selection.has(family)) {
            list.push((names::STEAL_CPUS.to_owned(), load::show_cpu_list(&self.cpus())));
        }
        // Only hiccup threads watch CPUs one by one for stalls.
        if !self.selection.looks_for_hiccups() {
            return list;
        }
        list.push((names::CLIENT_CPUS_WATCHED.to_owned(), load::show_cpu_list(&self.client)));
        let server = self.server.as_ref().map(|server| match server {
            Ok(cpus) => load::show_cpu_list(cpus),
            Err(why) => format!("{}: {why}", names::NOT_WATCHED),
        });
        list.extend(server.map(|server| (names::SERVER_CPUS_WATCHED.to_owned(), server)));
        let (threshold, each) = (hiccup::THRESHOLD, names::HICCUPS_EACH);
        let hiccups = format!("wakes later than {threshold} are told{each}{}", self.period);
        list.push((names::HICCUPS.to_owned(), hiccups));
        list
    }

    /// Starts to watch; on the thread that keeps off the workers' CPUs.
    pub(super) fn start(&self, recorder: &Recorder, clock: LiveClock) -> Option<Observer> {
        if self.selection.is_off() {
            return None;
        }
        let watch = Watch {
            clock,
            cpus: self.cpus(),
            process_cpus: self.all.len().max(1),
            load_threads: LOAD_THREADS,
            load_count: self.workers,
            load_cpus: self.client.len().max(1),
            hiccup_period: self.period,
            places: Places::default(),
        };
        let sources = noise::registry(&self.selection, &watch);
        // Before any is read: a source that is found while watching gets a number behind them.
        let announced = recorder.noise();
        let announce = |about: noise::Description| {
            let (name, unit) = (about.name.into_owned(), about.kind.unit().to_owned());
            announced.source(NoiseSourceFacts { name, unit, available: Err("not opened yet".to_owned()) })
        };
        let indexes = sources.iter().map(|source| announce(source.describe())).collect();
        let sink = NoiseToRecording { sink: recorder.noise(), indexes, found: BTreeMap::new() };
        let (observer, facts) = Observer::start(sources, INTERVAL, clock, sink);
        for fact in facts {
            announced.source(fact);
        }
        Some(observer)
    }
}

/// The CPUs of a server on this host that are online: those that its processes may use, or those that were stated.
fn server_cpus(stated: Option<Vec<usize>>, target: &TargetFacts) -> Option<Result<Vec<usize>, String>> {
    let found = host::cpus_of(&target.server_pids);
    match (found, stated) {
        (Some(found), stated) => Some(online(seen_or_stated(found, stated), host::online_cpus())),
        (None, Some(stated)) => {
            let list = load::show_cpu_list(&stated);
            Some(Err(format!("whether the server of CPUs {list} is on this host is not known")))
        }
        (None, None) => None,
    }
}

/// What was stated holds where all that was seen lies within it; a server that runs elsewhere is watched where it runs.
fn seen_or_stated(found: Vec<usize>, stated: Option<Vec<usize>>) -> Vec<usize> {
    stated.filter(|stated| found.iter().all(|cpu| stated.contains(cpu))).unwrap_or(found)
}

/// Those of a list that are there; nobody can watch another.
fn online(listed: Vec<usize>, online: Option<Vec<usize>>) -> Result<Vec<usize>, String> {
    let Some(online) = online else { return Ok(listed) };
    let list = load::show_cpu_list(&listed);
    let there: Vec<usize> = listed.into_iter().filter(|cpu| online.contains(cpu)).collect();
    if there.is_empty() { Err(format!("of CPUs {list} none is online")) } else { Ok(there) }
}

/// What observing cost, as a fact of the end.
pub(super) fn cost(spent: Spent) -> (String, String) {
    (names::OBSERVERS_COST.to_owned(), format!("{} ns in {} ns", spent.cpu.0, spent.watched.0))
}

struct NoiseToRecording {
    sink: record::NoiseSink,
    indexes: Vec<u16>,
    /// Sources that were found while watching.
    found: BTreeMap<String, u16>,
}

impl noise::ObserverSink for NoiseToRecording {
    fn observe(&mut self, source: usize, value: f64, begin: Ticks, end: Ticks) {
        if let Some(&index) = self.indexes.get(source) {
            self.sink.push(index, value, begin, end);
        }
    }

    fn observe_named(&mut self, source: &str, value: f64, begin: Ticks, end: Ticks) {
        let known = self.found.get(source).copied();
        let index = known.unwrap_or_else(|| {
            let unit = noise::Kind::Time.unit().to_owned();
            let facts = NoiseSourceFacts { name: source.to_owned(), unit, available: Ok(0) };
            let index = self.sink.source(facts);
            self.found.insert(source.to_owned(), index);
            index
        });
        self.sink.push(index, value, begin, end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watching(client: &[usize], server: Option<Result<Vec<usize>, String>>) -> Watching {
        Watching {
            selection: Selection::default(),
            asked: "default".to_owned(),
            all: vec![0, 1, 2, 3],
            client: client.to_vec(),
            server,
            workers: 1,
            period: hiccup::PERIOD,
        }
    }

    #[test]
    fn the_cpus_of_both_sides_are_watched_and_told_apart() {
        let both = watching(&[2, 3], Some(Ok(vec![0, 2])));
        assert_eq!(both.cpus(), [0, 2, 3]);
        let told = both.capabilities();
        let value = |name: &str| told.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str());
        assert_eq!(value(names::CLIENT_CPUS_WATCHED), Some("2-3"));
        assert_eq!(value(names::SERVER_CPUS_WATCHED), Some("0,2"));
        assert_eq!(value("hiccup threads"), Some("wakes later than 100 µs are told, each 1.00 ms"));
        let elsewhere = watching(&[1], Some(Err("it is far away".to_owned())));
        assert_eq!(elsewhere.cpus(), [1]);
        assert!(elsewhere.capabilities().contains(&(
            names::SERVER_CPUS_WATCHED.to_owned(),
            format!("{}: it is far away", names::NOT_WATCHED)
        )));
        assert_eq!(value(names::STEAL_CPUS), Some("0,2-3"));
        let only = |family: &str| {
            let selection = Selection::parse(family).expect("a family");
            Watching { selection, asked: family.to_owned(), ..watching(&[1], Some(Ok(vec![0]))) }
                .capabilities()
        };
        let fact = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(only("steal"), [fact(names::OBSERVERS, "steal"), fact(names::STEAL_CPUS, "0-1")]);
        assert_eq!(only("process"), [fact(names::OBSERVERS, "process")]);
        let off = Watching { selection: Selection::off(), asked: "off".to_owned(), ..watching(&[1], None) };
        assert_eq!(off.capabilities(), [(names::OBSERVERS.to_owned(), names::OBSERVERS_OFF.to_owned())]);
    }

    #[test]
    fn a_server_that_runs_elsewhere_than_stated_is_watched_where_it_runs() {
        assert_eq!(seen_or_stated(vec![1], Some(vec![0, 1])), [0, 1]);
        assert_eq!(seen_or_stated(vec![1, 2], Some(vec![0, 1])), [1, 2]);
        assert_eq!(seen_or_stated(vec![3], Some(vec![0])), [3]);
        assert_eq!(seen_or_stated(vec![3], None), [3]);
    }

    #[test]
    fn only_cpus_that_are_there_are_watched() {
        assert_eq!(online(vec![0, 1, 9], Some(vec![0, 1, 2])), Ok(vec![0, 1]));
        assert_eq!(online(vec![8, 9], Some(vec![0])), Err("of CPUs 8-9 none is online".to_owned()));
        assert_eq!(online(vec![8], None), Ok(vec![8]));
    }
}
