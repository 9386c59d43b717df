//! What the running store tells: the truth log, and how late it is itself.

use record::{Event, EventKind};
use record::{TruthEvents, TruthProducer, TruthRow, TruthStaleness};
use stats::LogHistogram;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use store::server::{Served, TruthSink};
use store::{Engine, Rules, StoreEvent};
use units::{Instant, Nanos};

/// Takes each served request, on the store's thread.
pub(crate) struct Log {
    producer: Option<TruthProducer>,
    events: Option<TruthEvents>,
    drained: Vec<StoreEvent>,
    pub(crate) lateness: LogHistogram,
    live: Arc<LiveCounts>,
}

/// What another thread may look at meanwhile.
#[derive(Debug, Default)]
pub(crate) struct LiveCounts {
    pub(crate) served: AtomicU64,
    /// Commands that the store has not taken yet. Locked by the store's thread once in 10 ms, between requests.
    commands: Mutex<Vec<String>>,
}

impl LiveCounts {
    pub(crate) fn give(&self, command: &str) {
        self.commands.lock().unwrap_or_else(PoisonError::into_inner).push(command.to_owned());
    }

    pub(crate) fn has_commands(&self) -> bool {
        !self.commands.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }
}

impl Log {
    pub(crate) fn new(
        producer: Option<TruthProducer>,
        events: Option<TruthEvents>,
        live: Arc<LiveCounts>,
    ) -> Log {
        Log { producer, events, drained: Vec::new(), lateness: LogHistogram::new(), live }
    }
}

impl TruthSink for Log {
    fn served(&mut self, served: &Served) {
        let row = row(served);
        if let Some(late) = row.own_lateness(Rules::CLIENT.0) {
            self.lateness.record(late.0);
        }
        self.live.served.fetch_add(1, Ordering::Relaxed);
        if let Some(producer) = &mut self.producer {
            producer.push(row);
        }
    }

    fn tick(&mut self, now: Nanos, engine: &mut Engine) {
        if let Ok(mut commands) = self.live.commands.try_lock() {
            for command in commands.drain(..) {
                // Commands of this program are understood; what clients send goes another way.
                let _ = engine.control(now, &command);
            }
        }
        engine.drain_events(now, &mut self.drained);
        for event in self.drained.drain(..) {
            if let Some(events) = &self.events {
                events.push(Event {
                    kind: EventKind::Other,
                    begin: Instant(event.begin.0),
                    end: Instant(event.end.0),
                    subject: event.kind.to_owned(),
                    detail: event.detail,
                });
            }
        }
    }
}

fn row(served: &Served) -> TruthRow {
    let decision = &served.decision;
    TruthRow {
        arrived: Instant(decision.arrival.at.0),
        begun: Instant(decision.begun.0),
        due: Instant(decision.due.0),
        written: served.written.map_or(Instant::NONE, |written| Instant(written.0)),
        seq: decision.number,
        connection: decision.arrival.connection,
        number: served.number,
        rules: decision.rules.0,
        operation: decision.operation as u8,
        node: decision.node.0,
        stamped: decision.arrival.stamped,
        staleness: served.staleness.map(|staleness| TruthStaleness {
            versions: staleness.versions,
            time: staleness.time,
            age: staleness.age,
        }),
        key: decision.key,
    }
}
