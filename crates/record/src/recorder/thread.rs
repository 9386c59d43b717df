//! The recorder's thread.

use super::sink::Message;
use super::statements::Statements;
use super::timeline::Timeline;
use super::{Consumers, RecorderConfig, Shared, lock};
use crate::live::LiveCounts;
use crate::sealed::ROWS_MAX;
use crate::{
    Consumer, EndOfRun, Event, EventKind, NoiseObservation, RawSample, RecordError, RecordingWriter, Sample,
};
use clock::{Anchor, Clock, LiveClock};
use std::sync::atomic::Ordering;
use std::sync::{Arc, mpsc};
use units::{Instant, Nanos, Ticks};

/// How often the live view gets a snapshot.
const LIVE_INTERVAL: Nanos = Nanos::from_millis(250);
/// Raw samples that are converted at once, whether an anchor is due or not: bounds memory.
const BACKLOG_MAX: usize = 256 << 10;
/// Anchors that go to disk together, one for each part: a file of their own with each part would cost more than they hold.
const ANCHORS_TOGETHER: usize = 10;
/// Niceness of the thread: below every worker and the database.
#[cfg(target_os = "linux")]
const NICENESS: libc::c_int = 10;

/// Lets everybody else go before the calling thread, where the kernel has priorities for threads. For those that only
/// keep house: recorder, observers.
pub fn lower_priority() {
    #[cfg(target_os = "linux")]
    // SAFETY: the call takes three integers; on Linux, PRIO_PROCESS with 0 is the calling thread alone.
    unsafe {
        // A refusal costs a little politeness and nothing else.
        let _ = libc::setpriority(libc::PRIO_PROCESS, 0, NICENESS);
    }
}

/// What the thread works on.
pub(super) struct Work {
    config: RecorderConfig,
    consumers: Vec<Consumer>,
    statements: Statements,
    clock: LiveClock,
    writer: RecordingWriter,
    inbox: mpsc::Receiver<Message>,
    shared: Arc<Shared>,
    timeline: Timeline,
    /// Drained and not converted yet: no anchor lies behind them.
    backlog: Vec<RawSample>,
    /// Received and not converted yet.
    messages: Vec<Message>,
    /// Not handed to the writer yet.
    anchors: Vec<Anchor>,
    is_anchored: bool,
    /// The open part.
    open: Vec<Sample>,
    live: LiveCounts,
    part_begun: Ticks,
    live_begun: Ticks,
    dropped_told: u64,
    unwritable_told: u64,
    header_changed: bool,
}

impl Work {
    pub(super) fn new(
        config: RecorderConfig,
        rings: Consumers,
        clock: LiveClock,
        first_anchor: Anchor,
        writer: RecordingWriter,
        inbox: mpsc::Receiver<Message>,
        shared: Arc<Shared>,
    ) -> Work {
        let now = clock.now();
        Work {
            live: LiveCounts::new(config.header.load.model),
            timeline: Timeline::new(first_anchor),
            config,
            consumers: rings.samples,
            statements: Statements::new(rings.statements),
            clock,
            writer,
            inbox,
            shared,
            backlog: Vec::new(),
            messages: Vec::new(),
            anchors: Vec::new(),
            is_anchored: false,
            open: Vec::new(),
            part_begun: now,
            live_begun: now,
            dropped_told: 0,
            unwritable_told: 0,
            header_changed: true, // the wall time of the epoch is known better from the second anchor on
        }
    }

    /// Until it is told to stop; gives the end as written, or `None` if there was to be none.
    pub(super) fn run(mut self) -> Result<Option<EndOfRun>, RecordError> {
        loop {
            // Acquire pairs with the Release in `Recorder::stop`. Read before the drain, so that what was
            // pushed before the stop is drained.
            let stopping = self.shared.stop.load(Ordering::Acquire);
            self.drain();
            let anchor_due = self.timeline.age(&self.clock) >= self.config.anchor_interval;
            let part_due = self.since(self.part_begun) >= self.config.part_interval;
            // With a part, so that it holds all that was drained: what waits for an anchor dies with the process.
            if stopping || anchor_due || part_due || self.is_behind() {
                self.convert();
            }
            if stopping || part_due || self.open.len() >= ROWS_MAX {
                self.close_part();
            }
            let live_age = self.since(self.live_begun);
            if stopping || live_age >= LIVE_INTERVAL {
                self.publish(live_age);
            }
            if stopping {
                return self.end();
            }
            clock::pause(self.config.drain_interval);
        }
    }

    fn is_behind(&self) -> bool {
        self.backlog.len() >= BACKLOG_MAX || self.statements.waiting() >= BACKLOG_MAX
    }

    fn since(&self, ticks: Ticks) -> Nanos {
        self.clock.nanos_in(self.clock.now().0.saturating_sub(ticks.0))
    }

    fn drain(&mut self) {
        for consumer in &mut self.consumers {
            consumer.drain(|raw| self.backlog.push(*raw));
        }
        self.statements.drain();
        self.messages.extend(self.inbox.try_iter());
    }

    /// Takes an anchor and converts what has come before it, so that all of it lies between two anchors.
    fn convert(&mut self) {
        self.timeline.push(self.clock.anchor());
        if !self.timeline.is_ready() {
            return;
        }
        let client = self.config.header.client;
        for raw in &self.backlog {
            let sample = self.timeline.sample(raw, client);
            self.live.add(&sample);
            if let Some(tap) = &self.config.tap {
                // Whoever listened may have gone.
                let _ = tap.send(sample);
            }
            self.open.push(sample);
        }
        self.backlog.clear();
        self.statements.convert(&self.timeline, client);
        for message in std::mem::take(&mut self.messages) {
            self.take_message(message);
        }
    }

    fn take_message(&mut self, message: Message) {
        match message {
            Message::Event { kind, begin, end, subject, detail } => {
                let (begin, end) = (self.timeline.instant(begin), self.timeline.instant(end));
                self.writer.event(Event { kind, begin, end, subject, detail });
            }
            Message::Happened(event) => self.writer.event(event),
            Message::Anchors(answer) => {
                // Whoever asked may have gone.
                let _ = answer.send(self.timeline.run_anchors());
            }
            Message::Noise { source, value, begin, end } => {
                let (begin, end) = (self.timeline.instant(begin), self.timeline.instant(end));
                self.writer.noise(NoiseObservation { source, value, begin, end });
            }
            Message::Header(header) => {
                self.config.header = *header;
                self.header_changed = true;
            }
            Message::PhaseSpan { index, begin, end } => {
                if let Some(phase) = self.config.header.phases.get_mut(usize::from(index)) {
                    phase.begin = self.timeline.instant(begin);
                    phase.end = self.timeline.instant(end);
                    self.header_changed = true;
                }
            }
        }
    }

    fn close_part(&mut self) {
        let began = std::mem::replace(&mut self.part_begun, self.clock.now());
        self.tell_steps();
        self.tell_drops(began);
        self.update_run_file();
        self.keep_anchor();
        // In the order of the requests instead of ring by ring: neighbours differ less, so files are smaller
        // and a reader's window over time is narrower.
        self.open.sort_by_key(|sample| sample.seq);
        let written = self.statements.hand_over(&mut self.writer);
        let written = written.and(self.writer.write_samples(&self.open)).and(self.writer.close_part());
        self.open.clear();
        if written.is_err() {
            self.tell_trouble(began);
        }
    }

    /// Keeps the newest anchor, and the first two at once: with them a killed run can be related to other clocks, too.
    fn keep_anchor(&mut self) {
        if !self.is_anchored && self.timeline.is_ready() {
            self.is_anchored = true;
            self.timeline.run_anchors().into_iter().for_each(|anchor| self.writer.anchor(anchor));
            return;
        }
        self.anchors.extend(self.timeline.newest_run_anchor());
        if self.anchors.len() >= ANCHORS_TOGETHER {
            self.hand_over_anchors();
        }
    }

    fn hand_over_anchors(&mut self) {
        self.anchors.drain(..).for_each(|anchor| self.writer.anchor(anchor));
    }

    fn update_run_file(&mut self) {
        let mut sources = lock(&self.shared.sources);
        if std::mem::take(&mut sources.changed) {
            for facts in &sources.facts {
                self.writer.noise_source(facts.clone());
            }
        }
        drop(sources);
        if self.header_changed && self.timeline.is_ready() {
            self.config.header.epoch_wall_ns = self.timeline.epoch_wall_ns();
            // A refusal is not final: the flag stays up, and the writer's own trouble will tell.
            self.header_changed = self.writer.update_header(&self.config.header).is_err();
        }
    }

    fn tell_steps(&mut self) {
        for step in self.timeline.new_steps() {
            let detail =
                format!("the wall clock jumped by {} ns; kernel stamps around it are void", step.step_ns);
            let (begin, end) = (step.begin, step.end);
            let kind = EventKind::ClockStep;
            self.writer.event(Event { kind, begin, end, subject: "wall clock".to_owned(), detail });
        }
    }

    fn tell_drops(&mut self, began: Ticks) {
        let dropped = self.dropped();
        let new = dropped - self.dropped_told;
        self.dropped_told = dropped;
        if new > 0 {
            self.tell(began, "rings", format!("{new} samples found their ring full"));
        }
        let stamps = self.timeline.take_stamps_lost();
        if stamps > 0 {
            let detail = format!("{stamps} kernel stamps lay outside of their requests and are left out");
            self.tell(began, "kernel stamps", detail);
        }
    }

    fn tell_trouble(&mut self, began: Ticks) {
        let unwritable = self.writer.unwritable();
        let new = unwritable - self.unwritable_told;
        self.unwritable_told = unwritable;
        let trouble = self.writer.trouble().unwrap_or("the disk refused a part").to_owned();
        self.tell(began, "disk", format!("{new} samples could not be written: {trouble}"));
        lock(&self.shared.trouble).get_or_insert(trouble);
        if let Some(flag) = self.config.on_trouble {
            // Relaxed: whoever sees it asks `Recorder::trouble`, which has a lock of its own.
            flag.store(true, Ordering::Relaxed);
        }
    }

    fn tell(&mut self, began: Ticks, subject: &str, detail: String) {
        let (begin, end) = (self.timeline.instant(began), self.timeline.instant(self.clock.now()));
        let kind = EventKind::Recorder;
        self.writer.event(Event { kind, begin, end, subject: subject.to_owned(), detail });
    }

    fn dropped(&self) -> u64 {
        self.consumers.iter().map(Consumer::dropped).sum()
    }

    fn publish(&mut self, age: Nanos) {
        self.live_begun = self.clock.now();
        let snapshot = self.live.turn(age, self.dropped(), self.writer.unwritable());
        self.shared.live.publish(snapshot);
    }

    fn end(mut self) -> Result<Option<EndOfRun>, RecordError> {
        self.hand_over_anchors();
        let dropped = self.dropped();
        let end = lock(&self.shared.end).take();
        let Some(mut end) = end else { return Ok(None) };
        end.dropped = end.dropped.saturating_add(dropped);
        // Only a clock that stands still leaves something unconverted; even then it is counted.
        end.unwritable = end.unwritable.saturating_add(self.backlog.len() as u64);
        end.facts.extend(self.statements.facts());
        if end.at == Instant::NONE && !self.timeline.is_ready() {
            end.at = Instant::EPOCH;
        }
        self.writer.finish(end).map(Some)
    }
}
