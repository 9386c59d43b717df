//! What watches the host during a run.

use crate::host;
use crate::settings::RunOptions;
use analysis::facts as names;
use clock::{Calibration, LiveClock};
use driver::TargetFacts;
use load::LoadSpec;
use noise::{Observer, Places, Selection, Spent, Watch, hiccup};
use record::Recorder;
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
    period: Nanos,
}

impl Watching {
    /// On a thread that may still use all CPUs of the process. Takes ≈ 20 ms, to see what a wake costs here.
    pub(super) fn plan(
        options: &RunOptions,
        spec: &LoadSpec,
        target: &TargetFacts,
        calibration: &Calibration,
    ) -> anyhow::Result<Watching> {
        let all = load::available_cpus();
        let client = if spec.cpus.is_empty() { all.clone() } else { spec.cpus.clone() };
        let server = server_cpus(options.server_cpus()?, target);
        let asked = options.observers.clone().unwrap_or_else(|| "default".to_owned());
        let selection = options.observers()?;
        let mut watching = Watching { selection, asked, all, client, server, period: hiccup::PERIOD };
        if !watching.selection.is_off() {
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
        if self.selection.is_off() {
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
            hiccup_period: self.period,
            places: Places::default(),
        };
        let sources = noise::registry(&self.selection, &watch);
        let count = sources.len() as u16;
        // A recording numbers its noise sources in the order in which they are announced, from 0.
        let sink = NoiseToRecording { sink: recorder.noise(), indexes: (0..count).collect() };
        let (observer, facts) = Observer::start(sources, INTERVAL, clock, sink);
        let sink = recorder.noise();
        for fact in facts {
            sink.source(fact);
        }
        Some(observer)
    }
}

/// The CPUs of a server on this host that are online: those that were stated, or those that its processes may use.
fn server_cpus(stated: Option<Vec<usize>>, target: &TargetFacts) -> Option<Result<Vec<usize>, String>> {
    let found = host::cpus_of(&target.server_pids);
    match (found, stated) {
        (Some(found), stated) => Some(online(stated.unwrap_or(found), host::online_cpus())),
        (None, Some(stated)) => {
            let list = load::show_cpu_list(&stated);
            Some(Err(format!("whether the server of CPUs {list} is on this host is not known")))
        }
        (None, None) => None,
    }
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
}

impl noise::ObserverSink for NoiseToRecording {
    fn observe(&mut self, source: usize, value: f64, begin: Ticks, end: Ticks) {
        if let Some(&index) = self.indexes.get(source) {
            self.sink.push(index, value, begin, end);
        }
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
        let off = Watching { selection: Selection::off(), asked: "off".to_owned(), ..watching(&[1], None) };
        assert_eq!(off.capabilities(), [(names::OBSERVERS.to_owned(), names::OBSERVERS_OFF.to_owned())]);
    }

    #[test]
    fn only_cpus_that_are_there_are_watched() {
        assert_eq!(online(vec![0, 1, 9], Some(vec![0, 1, 2])), Ok(vec![0, 1]));
        assert_eq!(online(vec![8, 9], Some(vec![0])), Err("of CPUs 8-9 none is online".to_owned()));
        assert_eq!(online(vec![8], None), Ok(vec![8]));
    }
}
