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

/// The CPUs of a server on this host: those that were stated, or those that its processes may use.
fn server_cpus(stated: Option<Vec<usize>>, target: &TargetFacts) -> Option<Result<Vec<usize>, String>> {
    let found = host::cpus_of(&target.server_pids);
    match (found, stated) {
        (Some(_), Some(stated)) => Some(Ok(stated)),
        (Some(found), None) => Some(Ok(found)),
        (None, Some(stated)) => {
            let list = load::show_cpu_list(&stated);
            Some(Err(format!("whether the server of CPUs {list} is on this host is not known")))
        }
        (None, None) => None,
    }
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
