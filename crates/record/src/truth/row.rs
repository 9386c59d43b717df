//! What the store knows of one request, and of itself.

use units::{Instant, Nanos};

/// One request as the store saw it. All instants are nanoseconds since the store's epoch, by its own clock
/// ([`crate::TruthLog::anchors`] lead from there to the clocks of the host).
///
/// Plain data, so that the store's thread hands it over without an allocation; ≈ 110 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TruthRow {
    /// When its last byte had reached the host.
    pub arrived: Instant,
    /// When its turn came: the moment at which it read and wrote data.
    pub begun: Instant,
    /// When its answer was to be written.
    pub due: Instant,
    /// Just before the last byte of the answer was handed to the kernel; NONE if that never happened.
    pub written: Instant,
    /// Number of the request in the store's life, from 0, in the order of admission.
    pub seq: u64,
    /// The connection that it came over; numbers are never used again.
    pub connection: u32,
    /// Number of the request in its connection, from 0.
    pub number: u32,
    /// Which rules acted: bits, by [`TruthHeader::rules`].
    pub rules: u16,
    /// Index into [`TruthHeader::operations`].
    pub operation: u8,
    /// The node that served it, from 0.
    pub node: u8,
    /// Whether `arrived` is a kernel stamp.
    pub stamped: bool,
    /// Of a read, how far what was read lies behind what was written: over all records that it looked at, the largest of
    /// each. Of a write, `age` alone means something: how long after [`TruthRow::begun`] the last of all nodes shows it.
    /// `None` where no record was read, and for writes that were not made, that are part of a transaction, or whose commit
    /// the store did not receive together with them.
    pub staleness: Option<TruthStaleness>,
    /// [`key_hash`] of the record's key; `None` where there is no such key. Equal for a read and the writes that it
    /// could have seen.
    pub key: Option<u64>,
}

impl TruthRow {
    /// Of a request of which nothing is known.
    pub const EMPTY: TruthRow = TruthRow {
        arrived: Instant::NONE,
        begun: Instant::NONE,
        due: Instant::NONE,
        written: Instant::NONE,
        seq: 0,
        connection: 0,
        number: 0,
        rules: 0,
        operation: 0,
        node: 0,
        stamped: false,
        staleness: None,
        key: None,
    };

    /// written − due: a delay that is no part of what the store simulates. `None` without an answer; zero for one that was
    /// written early.
    pub fn lateness(&self) -> Option<Nanos> {
        self.written.since(self.due)
    }

    /// The same where it is the store's doing: `None` also where the client did not take what it was owed. `client_rule`
    /// is [`TruthHeader::client_rule`].
    pub fn own_lateness(&self, client_rule: u16) -> Option<Nanos> {
        if self.rules & client_rule == 0 { self.lateness() } else { None }
    }
}

/// The name of the rule that marks answers whose client did not take them: they left late by its own doing.
pub const CLIENT_RULE: &str = "client did not read";

/// How far what a read saw lies behind what was written; of a write see [`TruthRow::staleness`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TruthStaleness {
    /// Newer versions that existed.
    pub versions: u32,
    /// How long the oldest of them had existed; zero if there was none.
    pub time: Nanos,
    /// Since when the version that was read had existed; of a write, in how long every node shows it.
    pub age: Nanos,
}

/// What a truth log says of the store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TruthHeader {
    /// Version of truetail that the store is part of.
    pub tool_version: String,
    /// The command line, without secrets.
    pub command: String,
    /// Wall time of the store's epoch, ns since 1970. [`crate::TruthRecorder`] sets it.
    pub epoch_wall_ns: u64,
    /// Seed of everything drawn.
    pub seed: u64,
    /// Names of the operations; a row's `operation` is an index.
    pub operations: Vec<String>,
    /// Names of the rules; the n-th one is bit n of a row's `rules`. At most 16.
    pub rules: Vec<String>,
    /// The timing model, replicas, faults: (name, value).
    pub settings: Vec<(String, String)>,
}

impl TruthHeader {
    /// The bit of a row's `rules` that stands for [`CLIENT_RULE`]; 0 in a log that has no such rule.
    pub fn client_rule(&self) -> u16 {
        let bit = self.rules.iter().take(16).position(|name| name == CLIENT_RULE);
        bit.map_or(0, |bit| 1 << bit)
    }
}

/// The last section of `truth.toml`; a log without one was cut short.
///
/// The store fills in `facts`; writer and recorder count the rest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TruthEnd {
    /// The newest instant in the log.
    pub at: Instant,
    /// Rows on disk.
    pub rows: u64,
    /// Of them, those whose answer was never written.
    pub unanswered: u64,
    /// Rows that found the ring full.
    pub dropped: u64,
    /// Rows that the disk did not take.
    pub unwritable: u64,
    /// The first write error, in words.
    pub trouble: Option<String>,
    /// Facts known only now: (name, value), such as how many connections there were.
    pub facts: Vec<(String, String)>,
}

impl TruthEnd {
    /// An end whose counts are filled in.
    pub fn new(facts: Vec<(String, String)>) -> TruthEnd {
        TruthEnd {
            at: Instant::NONE,
            rows: 0,
            unanswered: 0,
            dropped: 0,
            unwritable: 0,
            trouble: None,
            facts,
        }
    }
}

/// FNV-1a (64 bits; Fowler, Noll, Vo, <http://www.isthe.com/chongo/tech/comp/fnv/>) of a table's name, a zero byte and
/// the key. Two keys of a million share a hash with a probability of 3 · 10⁻⁸; a log is no place for the keys themselves.
/// ≈ 1 ns a byte.
pub fn key_hash(space: &[u8], key: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3);
    [space, &[0], key].into_iter().flatten().fold(0xCBF2_9CE4_8422_2325, step)
}
