//! Observers of the measuring host: what the machine did to the measurement while it ran.
//!
//! A [`NoiseSource`] is opened, then read each interval on a housekeeping thread. A reading is a value over a
//! window; a failed reading is discarded, and a source that can't be opened is recorded as unavailable with
//! the reason: never as zero. A source that has to watch all the time has threads of its own, and hands over what they
//! saw as intervals (see [`hiccup`]).
//!
//! To add a source: a module with a type that implements [`NoiseSource`] (most are a `counter::Growth`), and a line
//! in [`FAMILIES`].
#![deny(missing_docs)]

mod cgroup;
mod counter;
mod cpu;
mod disk;
pub mod gaps;
pub mod hiccup;
mod interrupts;
mod observer;
mod pressure;
mod process;
mod registry;
mod steal;
mod text;
mod threads;
mod timerlat;
pub mod who;

pub use observer::{Observer, ObserverSink, Spent};
pub use registry::{FAMILIES, Family, Places, Selection, Watch, registry};

use std::borrow::Cow;
use std::fmt;
use units::{Nanos, Ticks};

/// What a value of a source means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Time that was lost or used within the window, in nanoseconds; of an interval: how long it was.
    Time,
    /// How often something happened within the window.
    Count,
    /// A share of what is possible, in [0, 1].
    Share,
    /// How many requests were in flight or waiting, in the mean of the window.
    Depth,
    /// A frequency in kilohertz.
    Frequency,
}

impl Kind {
    /// The unit's name in recordings.
    pub fn unit(self) -> &'static str {
        match self {
            Kind::Time => "ns",
            Kind::Count => "count",
            Kind::Share => "share",
            Kind::Depth => "requests",
            Kind::Frequency => "kHz",
        }
    }
}

/// How often a source is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pace {
    /// In each round: what decides the verdict, or is compared with single requests.
    Fast,
    /// In each tenth round: what costs more to read, and tells what kind of host it is.
    Slow,
}

/// What a source says of itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Description {
    /// Unique name, e.g. `steal`, `hiccup cpu 3`.
    pub name: Cow<'static, str>,
    /// What its values mean.
    pub kind: Kind,
    /// How often it is read.
    pub pace: Pace,
    /// The smallest step of a value, in its unit's words, e.g. `10 ms (1 jiffy)`.
    pub quantum: &'static str,
    /// One line: what it sees.
    pub summary: &'static str,
}

/// Why a source can't be read here. One line with the next step where there is one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unavailable(pub String);

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Takes intervals: a value, from when, until when.
pub type Report<'a> = dyn FnMut(f64, Ticks, Ticks) + 'a;

/// Takes intervals of sources that are found while watching: the source's name, a value in ns, from when, until when.
pub type NamedReport<'a> = dyn FnMut(&str, f64, Ticks, Ticks) + 'a;

/// One observer of the host.
pub trait NoiseSource: Send {
    /// What it is.
    fn describe(&self) -> Description;

    /// Gets ready; the first window begins here.
    ///
    /// # Errors
    /// [`Unavailable`] on hosts that lack what it reads.
    fn open(&mut self) -> Result<(), Unavailable>;

    /// The value since the last reading; `elapsed_ns` is the window's length. `None` discards the window.
    fn read(&mut self, elapsed_ns: u64) -> Option<f64>;

    /// Hands over what threads of its own saw since the last call: intervals with begin and end, whose place is
    /// known. Most sources have none.
    fn intervals(&mut self, _report: &mut Report<'_>) {}

    /// Hands over intervals whose sources nobody could know before: such as who ran. Most sources have none.
    fn named(&mut self, _report: &mut NamedReport<'_>) {}

    /// Ends what [`NoiseSource::open`] began (threads, settings of the kernel), and gives the CPU time of threads of
    /// its own. Intervals may be asked for once more afterwards.
    fn close(&mut self) -> Nanos {
        Nanos::ZERO
    }
}
