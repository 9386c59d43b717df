//! What came of an execution: files, page, document.

use super::arguments::BenchbaseArguments;
use super::files::{Place, write_file};
use super::steps::{Behaviour, Run};
use crate::run::Done;
use crate::{Ended, commands, output};
use ::benchbase::{Benchmark, Configuration, Described, Results, Row, Window, redacted};
use analysis::VerdictState;
use anyhow::anyhow;
use record::{Ending, Recording, Sample};
use serde_json::{Map, Value, json};
use std::io::Write;
use std::path::PathBuf;

const LINE: &str = "======================================================================";

/// An execution that has ended.
pub(super) struct Executed<'a> {
    behaviour: Behaviour,
    done: &'a [Done],
    place: &'a Place,
    configuration: &'a Configuration,
    results: Results,
    recordings: Vec<Recording>,
}

impl<'a> Executed<'a> {
    /// Reads the recordings of the runs.
    pub(super) fn read(
        configuration: &'a Configuration,
        behaviour: Behaviour,
        done: &'a [Done],
        runs: &[&Run],
        place: &'a Place,
    ) -> anyhow::Result<Executed<'a>> {
        let mut gathered = Gathered::default();
        let mut recordings = Vec::new();
        for (done, run) in done.iter().zip(runs) {
            let recording = Recording::open(&done.directory)?;
            gathered.add(&recording, run, configuration)?;
            recordings.push(recording);
        }
        let Gathered { rows, windows, never_sent } = gathered;
        let results = Results::new(rows, windows, configuration.transactions.clone(), never_sent);
        Ok(Executed { behaviour, done, place, configuration, results, recordings })
    }

    /// The verdict of all runs is the worst of theirs.
    fn worst(&self) -> VerdictState {
        let states = self.done.iter().map(|done| done.analysis.verdict.state);
        let grade = |state: &VerdictState| match state {
            VerdictState::Valid => 0,
            VerdictState::Suspect => 1,
            VerdictState::Invalid => 2,
        };
        states.max_by_key(grade).unwrap_or(VerdictState::Invalid)
    }

    fn reasons(&self) -> Vec<String> {
        let reasons = self.done.iter().flat_map(|done| &done.analysis.verdict.reasons);
        reasons.map(|reason| reason.text.clone()).collect()
    }

    fn recording_names(&self) -> Vec<String> {
        self.done.iter().map(|done| done.directory.display().to_string()).collect()
    }

    /// Writes BenchBase's files; their paths.
    pub(super) fn write(&self, text: &str, arguments: &BenchbaseArguments) -> anyhow::Result<Vec<PathBuf>> {
        let (place, results) = (self.place, &self.results);
        let pretty = |value: &Value| serde_json::to_string_pretty(value).unwrap_or_default();
        let document =
            |ending: &str, value: &Value| place.write(ending, |out| writeln!(out, "{}", pretty(value)));
        let copy = redacted(text).map_err(|error| anyhow!("the configuration's copy: {error}"))?;
        let mut written = vec![
            place.write("raw.csv", |out| results.write_raw(out))?,
            place.write("samples.csv", |out| results.write_samples(out))?,
            document("summary.json", &results.summary(&self.described()))?,
            document("params.json", &self.parameters())?,
            document(
                "metrics.json",
                &json!({"truetail": "unknown: the server's counters are not collected"}),
            )?,
            place.write("config.xml", |out| out.write_all(copy.as_bytes()))?,
            place.write("results.csv", |out| results.write_results(arguments.sample, None, out))?,
        ];
        for (index, transaction) in (0_u8..).zip(&self.configuration.transactions) {
            let ending = format!("results.{}.csv", transaction.name);
            let write = |out: &mut _| results.write_results(arguments.sample, Some(index), out);
            written.push(place.write(&ending, write)?);
        }
        if let Some(path) = &arguments.json_histograms {
            let write = |out: &mut std::io::BufWriter<_>| writeln!(out, "{}", pretty(&results.histograms()));
            written.push(write_file(path.clone(), write)?);
        }
        Ok(written)
    }

    fn described(&self) -> Described<'_> {
        let first = self.recordings.first().map(Recording::header);
        let fact = |name: &str| {
            let facts = first.map(|header| &header.target_facts[..]).unwrap_or_default();
            facts.iter().find(|(found, _)| found == name).map(|(_, value)| value.clone())
        };
        let models = self.recordings.iter().map(|recording| recording.header().load.model.name());
        let mut models: Vec<&str> = models.collect();
        models.dedup();
        let is_cut =
            |recording: &Recording| recording.end().is_none_or(|end| end.ending != Ending::Completed);
        Described {
            configuration: self.configuration,
            version: fact("version"),
            started_ms: first.map_or(0, |header| header.epoch_wall_ns / 1_000_000),
            now_ms: clock::wall_time_ns() / 1_000_000,
            verdict: self.worst().name().to_owned(),
            reasons: self.reasons(),
            load_model: models.join(", "),
            compat: self.behaviour.describe().to_owned(),
            recordings: self.recording_names(),
            interrupted: self.recordings.iter().any(is_cut),
        }
    }

    /// What is known of the server's settings, by name.
    fn parameters(&self) -> Value {
        let facts = self.recordings.first().map(|recording| &recording.header().target_facts[..]);
        let pairs = facts.unwrap_or_default().iter().map(|(name, value)| (name.clone(), json!(value)));
        Value::Object(pairs.collect::<Map<String, Value>>())
    }

    /// Prints the page, or the document.
    pub(super) fn show(&self, written: &[PathBuf], json: bool) -> anyhow::Result<Ended> {
        if json {
            output::json(&self.document(written))?;
        } else {
            output::result(&self.page(written))?;
        }
        let invalid = self.done.iter().any(|done| commands::ended(&done.analysis) == Ended::Invalid);
        Ok(if invalid { Ended::Invalid } else { Ended::Well })
    }

    fn page(&self, written: &[PathBuf]) -> String {
        let totals = self.results.totals();
        let mut page = format!("{LINE}\nverdict {}\n", self.worst().name());
        for reason in self.reasons() {
            page += &format!("  {reason}\n");
        }
        page +=
            &format!("behaviour of {}: {}\n", self.configuration.benchmark.name, self.behaviour.describe());
        page += &format!(
            "Rate limited reqs/s: Results(nanoSeconds={}, measuredRequests={}) = {} requests/sec (throughput), {} \
             requests/sec (goodput)\n",
            totals.elapsed_ns,
            totals.measured,
            totals.throughput(),
            totals.goodput()
        );
        page += &format!(
            "answered after the measured time: {}; never answered: {}; never sent: {}\n",
            totals.late, totals.unanswered, totals.never_sent
        );
        page += &format!("{LINE}\nWorkload Histograms:\n\n{}{LINE}\n", self.results.page());
        for path in written {
            page += &format!("wrote {}\n", path.display());
        }
        for name in self.recording_names() {
            page +=
                &format!("recording: {name}; `truetail report {name}` shows it with intervals and causes\n");
        }
        page
    }

    fn document(&self, written: &[PathBuf]) -> Value {
        let totals = self.results.totals();
        let files: Vec<String> = written.iter().map(|path| path.display().to_string()).collect();
        json!({
            "schema": "truetail.benchbase/1",
            "benchmark": self.configuration.benchmark.name,
            "behaviour": self.behaviour.describe(),
            "verdict": self.worst().name(),
            "reasons": self.reasons(),
            "measured_requests": totals.measured,
            "throughput": totals.throughput(),
            "goodput": totals.goodput(),
            "answered_late": totals.late,
            "never_answered": totals.unanswered,
            "never_sent": totals.never_sent,
            "files": files,
            "recordings": self.recording_names(),
        })
    }
}

/// The document, or nothing, where nothing was measured.
pub(super) fn prepared(benchmark: &Benchmark, behaviour: Behaviour, as_json: bool) -> anyhow::Result<Ended> {
    if as_json {
        output::json(&json!({
            "schema": "truetail.benchbase/1",
            "benchmark": benchmark.name,
            "behaviour": behaviour.describe(),
            "verdict": null,
            "reasons": [],
            "measured_requests": null,
            "throughput": null,
            "goodput": null,
            "answered_late": null,
            "never_answered": null,
            "never_sent": null,
            "files": [],
            "recordings": [],
        }))?;
    }
    Ok(Ended::Well)
}

/// Requests and measured times of several recordings.
#[derive(Default)]
struct Gathered {
    rows: Vec<Row>,
    windows: Vec<Window>,
    never_sent: u64,
}

impl Gathered {
    fn add(&mut self, recording: &Recording, run: &Run, configuration: &Configuration) -> anyhow::Result<()> {
        let header = recording.header();
        let work_of = |phase: usize| run.works.get(phase).copied().flatten();
        let wall = |at: units::Instant| header.epoch_wall_ns.saturating_add(at.0);
        for (_, phase) in header.phases.iter().enumerate().filter(|(index, _)| work_of(*index).is_some()) {
            self.windows.push(Window { begin_ns: wall(phase.begin), end_ns: wall(phase.end) });
        }
        let transactions: Vec<Option<u8>> = header
            .operations
            .iter()
            .map(|name| configuration.transactions.iter().position(|t| t.name == *name))
            .map(|found| found.and_then(|index| u8::try_from(index).ok()))
            .collect();
        let row = |sample: &Sample| {
            let work = work_of(sample.phase.into())?;
            let Some((sent, service)) = sample.sent.get().zip(sample.service()) else { return Some(None) };
            let has_schedule = header.load.model.has_response_time();
            Some(Some(Row {
                sent_ns: wall(sent),
                service_ns: service.0,
                intended_ns: sample.intended.get().filter(|_| has_schedule).map(wall),
                transaction: transactions.get(usize::from(sample.op)).copied().flatten()?,
                work,
                session: sample.session,
                outcome: sample.outcome,
            }))
        };
        let found = recording.scan(
            1,
            || (Vec::new(), 0_u64),
            |(rows, never_sent), batch| {
                for found in batch.iter().filter_map(|sample| row(&sample)) {
                    match found {
                        Some(row) => rows.push(row),
                        None => *never_sent += 1,
                    }
                }
            },
        )?;
        for (rows, never_sent) in found {
            self.rows.extend(rows);
            self.never_sent += never_sent;
        }
        Ok(())
    }
}
