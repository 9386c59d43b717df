//! Handles by which other threads tell the recorder something.

use crate::{Event, EventKind, NoiseSourceFacts, RunHeader};
use clock::Anchor;
use std::sync::{Arc, Mutex, mpsc};
use units::Ticks;

/// What the recorder's thread is told.
pub(super) enum Message {
    Event { kind: EventKind, begin: Ticks, end: Ticks, subject: String, detail: String },
    Happened(Event),
    Anchors(mpsc::Sender<Vec<Anchor>>),
    Noise { source: u16, value: f64, begin: Ticks, end: Ticks },
    Header(Box<RunHeader>),
    PhaseSpan { index: u8, begin: Ticks, end: Ticks },
}

/// The noise sources so far; an index is a source's number for good.
#[derive(Default)]
pub(super) struct Sources {
    pub(super) facts: Vec<NoiseSourceFacts>,
    pub(super) changed: bool,
}

/// Takes events; cheap to clone. A push allocates, so it has no place on the hot path.
#[derive(Clone)]
pub struct EventSink {
    messages: mpsc::Sender<Message>,
}

impl EventSink {
    pub(super) fn new(messages: mpsc::Sender<Message>) -> EventSink {
        EventSink { messages }
    }

    /// Adds an event; `end` is the same as `begin` for a moment, and [`Ticks::NONE`] where it is not known.
    /// Never waits; after the recorder's end it does nothing.
    pub fn push(
        &self,
        kind: EventKind,
        begin: Ticks,
        end: Ticks,
        subject: impl Into<String>,
        detail: impl Into<String>,
    ) {
        let (subject, detail) = (subject.into(), detail.into());
        let _ = self.messages.send(Message::Event { kind, begin, end, subject, detail });
    }

    /// Adds an event whose instants are known already, such as one that another program logged. Never waits; after the
    /// recorder's end it does nothing.
    pub fn happened(&self, event: Event) {
        let _ = self.messages.send(Message::Happened(event));
    }
}

/// Takes noise observations; cheap to clone.
#[derive(Clone)]
pub struct NoiseSink {
    messages: mpsc::Sender<Message>,
    sources: Arc<Mutex<Sources>>,
}

impl NoiseSink {
    pub(super) fn new(messages: mpsc::Sender<Message>, sources: Arc<Mutex<Sources>>) -> NoiseSink {
        NoiseSink { messages, sources }
    }

    /// Adds a source and gives its number. One whose name is already there is replaced and keeps its number.
    ///
    /// # Panics
    /// At the 65,536th name: only a bug makes that many.
    pub fn source(&self, facts: NoiseSourceFacts) -> u16 {
        let mut sources = super::lock(&self.sources);
        sources.changed = true;
        let index = sources.facts.iter().position(|known| known.name == facts.name);
        match index {
            Some(index) => sources.facts[index] = facts,
            None => sources.facts.push(facts),
        }
        let index = index.unwrap_or(sources.facts.len() - 1);
        u16::try_from(index).expect("there are fewer than 65,536 noise sources")
    }

    /// Adds an observation of the source with this number. Never waits; after the recorder's end it does
    /// nothing.
    pub fn push(&self, source: u16, value: f64, begin: Ticks, end: Ticks) {
        let _ = self.messages.send(Message::Noise { source, value, begin, end });
    }
}
