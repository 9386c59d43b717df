//! What watches the host meanwhile: the observers that `truetail run` has by default, for the CPUs of this process.

use analysis::facts as names;
use clock::{Calibration, LiveClock};
use driver::Execution;
use load::LoadSpec;
use noise::{Observer, Places, Selection, Spent, Watch, hiccup};
use record::{NoiseSourceFacts, Recorder};
use std::collections::BTreeMap;
use units::{Nanos, Ticks};

/// How often sources are read.
const INTERVAL: Nanos = Nanos::from_millis(100);

/// Which CPUs are watched, and how often a hiccup thread wakes.
pub(crate) struct Watching {
    cpus: Vec<usize>,
    workers: usize,
    period: Nanos,
}

impl Watching {
    /// Takes 20 ms or more, to see what a wake costs here.
    pub(crate) fn plan(spec: &LoadSpec, execution: Execution, calibration: &Calibration) -> Watching {
        let cpus = load::available_cpus();
        let period = hiccup::period(cpus.len(), calibration.start());
        Watching { cpus, workers: load::rings_needed(spec, execution) - 1, period }
    }

    /// What is asked, and of which CPUs, for the recording.
    pub(crate) fn facts(&self) -> Vec<(String, String)> {
        let cpus = load::show_cpu_list(&self.cpus);
        let (threshold, each) = (hiccup::THRESHOLD, names::HICCUPS_EACH);
        vec![
            (names::OBSERVERS.to_owned(), "default".to_owned()),
            (names::STEAL_CPUS.to_owned(), cpus.clone()),
            (names::CLIENT_CPUS_WATCHED.to_owned(), cpus),
            (
                names::HICCUPS.to_owned(),
                format!("wakes later than {threshold} are told{each}{}", self.period),
            ),
        ]
    }

    pub(crate) fn start(&self, recorder: &Recorder, clock: LiveClock) -> Started {
        let watch = Watch {
            clock,
            cpus: self.cpus.clone(),
            process_cpus: self.cpus.len().max(1),
            load_threads: "load-",
            load_count: self.workers.max(1),
            load_cpus: self.cpus.len().max(1),
            hiccup_period: self.period,
            places: Places::default(),
        };
        let sources = noise::registry(&Selection::default(), &watch);
        // Before any is read: a source that is found while watching gets a number behind them.
        let announced = recorder.noise();
        let announce = |about: noise::Description| {
            let (name, unit) = (about.name.into_owned(), about.kind.unit().to_owned());
            announced.source(NoiseSourceFacts { name, unit, available: Err("not opened yet".to_owned()) })
        };
        let indexes = sources.iter().map(|source| announce(source.describe())).collect();
        let sink = Sink { sink: recorder.noise(), indexes, found: BTreeMap::new() };
        let (observer, facts) = Observer::start(sources, INTERVAL, clock, sink);
        for fact in facts {
            announced.source(fact);
        }
        Started(observer)
    }
}

/// Observers at work.
pub(crate) struct Started(Observer);

impl Started {
    pub(crate) fn stop(self) -> Option<Spent> {
        self.0.stop()
    }
}

/// What observing cost, as a fact of the end.
pub(crate) fn cost(spent: Spent) -> (String, String) {
    (names::OBSERVERS_COST.to_owned(), format!("{} ns in {} ns", spent.cpu.0, spent.watched.0))
}

struct Sink {
    sink: record::NoiseSink,
    indexes: Vec<u16>,
    /// Sources that were found while watching.
    found: BTreeMap<String, u16>,
}

impl noise::ObserverSink for Sink {
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
