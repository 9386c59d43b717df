//! One request, as it was.

use crate::LoadModel;
use units::{Instant, Nanos, Outcome, Ticks};

/// Bits of [`Sample::flags`].
pub mod flags {
    /// The kernel's stamp is only an upper bound of the arrival.
    pub const ARRIVED_UPPER_BOUND: u8 = 1;
    /// First request of a session after it was replaced.
    pub const AFTER_RECONNECT: u8 = 2;
}

/// One request as the hot path stores it: raw ticks, plain old data.
///
/// 56 bytes and not the 48 that were aimed at: session, phase and retries belong to the row, and squeezing
/// them out would cost a second record for each request. Appending one costs the same either way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct RawSample {
    /// When the schedule said it starts; NONE in a closed loop without a schedule.
    pub intended: Ticks,
    /// When a session was free for it and it was due; NONE if no session ever was.
    pub ready: Ticks,
    /// Just before the first byte was handed over; NONE if it never was.
    pub sent: Ticks,
    /// When the harness saw the answer, or the censoring time.
    pub completed: Ticks,
    /// The kernel's receive stamp, CLOCK_REALTIME in ns since 1970; `u64::MAX` where there is none.
    pub arrived_realtime_ns: u64,
    /// Number of the request in the run.
    pub seq: u64,
    /// The session that carried it.
    pub session: u16,
    /// Index into the header's operations.
    pub op: u8,
    /// `units::Outcome::code`.
    pub outcome: u8,
    /// Retries inside of the response time.
    pub retries: u8,
    /// Index into the header's phases.
    pub phase: u8,
    /// See [`flags`].
    pub flags: u8,
    /// Always zero; makes the layout explicit.
    pub reserved: u8,
}

const _: () = assert!(size_of::<RawSample>() == 56);

/// The session of a request that no session ever took.
pub const NO_SESSION: u16 = u16::MAX;

/// One request in instants; what the disk and every analysis see.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sample {
    /// When the schedule said it starts; NONE in a closed loop.
    pub intended: Instant,
    /// When a session was free for it and it was due.
    pub ready: Instant,
    /// Just before the request was handed over.
    pub sent: Instant,
    /// The kernel's receive stamp; NONE where there is no socket.
    pub arrived: Instant,
    /// When the harness saw the answer, or the censoring time.
    pub completed: Instant,
    /// Number of the request in the run.
    pub seq: u64,
    /// Which load machine.
    pub client: u16,
    /// Which session; [`NO_SESSION`] if none.
    pub session: u16,
    /// Index into the header's operations.
    pub op: u8,
    /// Index into the header's phases.
    pub phase: u8,
    /// How it ended.
    pub outcome: Outcome,
    /// Retries inside of the response time.
    pub retries: u8,
    /// See [`flags`].
    pub flags: u8,
}

impl Sample {
    /// completed − intended: what a user of an open system feels. `None` unless the load model is open or
    /// partly open: a closed loop has no response time, and the type refuses to make one up.
    pub fn response(&self, model: LoadModel) -> Option<Nanos> {
        if model.has_response_time() { self.completed.since(self.intended) } else { None }
    }

    /// completed − sent.
    pub fn service(&self) -> Option<Nanos> {
        self.completed.since(self.sent)
    }

    /// ready − intended: the sessions were all busy. A request that none ever took has waited until its
    /// censoring time. `None` too for one that was answered and whose `ready` is not known: an import's.
    pub fn pool_wait(&self) -> Option<Nanos> {
        let until = match self.ready.get() {
            Some(ready) => ready,
            None if !self.sent.is_some() && self.outcome.is_censored() => self.completed,
            None => Instant::NONE,
        };
        until.since(self.intended)
    }

    /// sent − ready: the harness's own delay before.
    pub fn lag(&self) -> Option<Nanos> {
        self.sent.since(self.ready)
    }

    /// completed − arrived: the harness's own delay after.
    pub fn pick_up(&self) -> Option<Nanos> {
        self.completed.since(self.arrived)
    }

    /// The measure named; `None` where it does not exist.
    pub fn measure(&self, measure: Measure, model: LoadModel) -> Option<Nanos> {
        match measure {
            Measure::Response => self.response(model),
            Measure::Service => self.service(),
            Measure::PoolWait => self.pool_wait(),
            Measure::Lag => self.lag(),
            Measure::PickUp => self.pick_up(),
        }
    }
}

/// The five intervals of a request.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Measure {
    /// completed − intended
    Response,
    /// completed − sent
    Service,
    /// ready − intended
    PoolWait,
    /// sent − ready
    Lag,
    /// completed − arrived
    PickUp,
}

impl Measure {
    /// All five.
    pub const ALL: [Measure; 5] =
        [Measure::Response, Measure::Service, Measure::PoolWait, Measure::Lag, Measure::PickUp];

    /// The name in text: `response time`.
    pub fn name(self) -> &'static str {
        match self {
            Measure::Response => "response time",
            Measure::Service => "service time",
            Measure::PoolWait => "pool wait",
            Measure::Lag => "lag",
            Measure::PickUp => "pick-up",
        }
    }

    /// The name in JSON and columns: `response_time`.
    pub fn key(self) -> &'static str {
        match self {
            Measure::Response => "response_time",
            Measure::Service => "service_time",
            Measure::PoolWait => "pool_wait",
            Measure::Lag => "lag",
            Measure::PickUp => "pick_up",
        }
    }
}

/// Many samples, column by column, for scans: `u64::MAX` stands for NONE in every time column.
///
/// All columns have the same length.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SampleBatch {
    /// Nanoseconds since the epoch.
    pub intended: Vec<u64>,
    /// Nanoseconds since the epoch.
    pub ready: Vec<u64>,
    /// Nanoseconds since the epoch.
    pub sent: Vec<u64>,
    /// Nanoseconds since the epoch.
    pub arrived: Vec<u64>,
    /// Nanoseconds since the epoch.
    pub completed: Vec<u64>,
    /// Request numbers.
    pub seq: Vec<u64>,
    /// Sessions.
    pub session: Vec<u16>,
    /// Operations.
    pub op: Vec<u8>,
    /// Phases.
    pub phase: Vec<u8>,
    /// Outcome codes.
    pub outcome: Vec<u8>,
    /// Retries.
    pub retries: Vec<u8>,
    /// Flags.
    pub flags: Vec<u8>,
    /// The client that all of them come from.
    pub client: u16,
}

impl SampleBatch {
    /// Number of samples.
    pub fn len(&self) -> usize {
        self.completed.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.completed.is_empty()
    }

    /// Forgets the samples and keeps the memory.
    pub fn clear(&mut self) {
        let SampleBatch {
            intended,
            ready,
            sent,
            arrived,
            completed,
            seq,
            session,
            op,
            phase,
            outcome,
            retries,
            flags,
            client: _,
        } = self;
        for column in [intended, ready, sent, arrived, completed, seq] {
            column.clear();
        }
        session.clear();
        for column in [op, phase, outcome, retries, flags] {
            column.clear();
        }
    }

    /// Appends a sample; its client must be the batch's.
    pub fn push(&mut self, sample: &Sample) {
        debug_assert_eq!(sample.client, self.client);
        self.intended.push(sample.intended.0);
        self.ready.push(sample.ready.0);
        self.sent.push(sample.sent.0);
        self.arrived.push(sample.arrived.0);
        self.completed.push(sample.completed.0);
        self.seq.push(sample.seq);
        self.session.push(sample.session);
        self.op.push(sample.op);
        self.phase.push(sample.phase);
        self.outcome.push(sample.outcome.code());
        self.retries.push(sample.retries);
        self.flags.push(sample.flags);
    }

    /// The n-th sample; `None` past the end or when its outcome is of a later version.
    pub fn get(&self, index: usize) -> Option<Sample> {
        Some(Sample {
            intended: Instant(*self.intended.get(index)?),
            ready: Instant(*self.ready.get(index)?),
            sent: Instant(*self.sent.get(index)?),
            arrived: Instant(*self.arrived.get(index)?),
            completed: Instant(*self.completed.get(index)?),
            seq: *self.seq.get(index)?,
            client: self.client,
            session: *self.session.get(index)?,
            op: *self.op.get(index)?,
            phase: *self.phase.get(index)?,
            outcome: Outcome::from_code(*self.outcome.get(index)?)?,
            retries: *self.retries.get(index)?,
            flags: *self.flags.get(index)?,
        })
    }

    /// Its samples, one by one.
    pub fn iter(&self) -> impl Iterator<Item = Sample> + '_ {
        (0..self.len()).filter_map(|index| self.get(index))
    }
}
