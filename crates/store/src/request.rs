//! One request, and what was decided of it.

use units::Nanos;

/// A simulated node, from 0; node 0 is the primary.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct NodeId(pub u8);

/// When and where a request came in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// When its last byte reached this host, since the store's epoch: the kernel's stamp where there is one, else
    /// when it was read.
    pub at: Nanos,
    /// Whether `at` is a kernel stamp.
    pub stamped: bool,
    /// The connection's number, from 0, never used again.
    pub connection: u32,
    /// The node whose port it came to.
    pub node: NodeId,
}

/// What is asked, in the coarse terms that rules, the truth log and service times distinguish.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Operation {
    /// PING, an empty statement, `SELECT 1`: touches no data.
    Ping = 0,
    /// One record.
    Read = 1,
    /// A record that may exist.
    Update = 2,
    /// A record that must not exist.
    Insert = 3,
    /// A record that goes.
    Delete = 4,
    /// Several records.
    Scan = 5,
    /// BEGIN, COMMIT, MULTI, EXEC and the like.
    Transaction = 6,
    /// Everything else: settings, schema, bulk loads.
    Other = 7,
}

impl Operation {
    /// All of them, in the order of their numbers.
    pub const ALL: [Operation; 8] = [
        Operation::Ping,
        Operation::Read,
        Operation::Update,
        Operation::Insert,
        Operation::Delete,
        Operation::Scan,
        Operation::Transaction,
        Operation::Other,
    ];

    /// The name in flags and in the truth log.
    pub fn name(self) -> &'static str {
        match self {
            Operation::Ping => "ping",
            Operation::Read => "read",
            Operation::Update => "update",
            Operation::Insert => "insert",
            Operation::Delete => "delete",
            Operation::Scan => "scan",
            Operation::Transaction => "transaction",
            Operation::Other => "other",
        }
    }

    /// What it does to data.
    pub fn access(self) -> Access {
        match self {
            Operation::Ping | Operation::Transaction | Operation::Other => Access::None,
            Operation::Read | Operation::Scan => Access::Read,
            Operation::Update | Operation::Insert | Operation::Delete => Access::Write,
        }
    }
}

/// What a request does to data: decides the node and the wait for acknowledgements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Nothing.
    None,
    /// Reads: goes to the node that the read preference names.
    Read,
    /// Writes: goes to the primary, and waits for acknowledgements.
    Write,
}

/// Which rules acted on a request: bits, as the truth log stores them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Rules(pub u16);

impl Rules {
    /// It waited for its turn: all places were taken, or the capacity was used up.
    pub const QUEUED: Rules = Rules(1);
    /// It met a hiccup.
    pub const HICCUP: Rules = Rules(1 << 1);
    /// Its key is a slow one.
    pub const SLOW_KEY: Rules = Rules(1 << 2);
    /// It waited for replicas or the journal.
    pub const ACKNOWLEDGED: Rules = Rules(1 << 3);
    /// It came while a node joined.
    pub const JOINING: Rules = Rules(1 << 4);
    /// A fault was injected.
    pub const FAULT: Rules = Rules(1 << 5);
    /// It was ready earlier, but an earlier answer of its connection was not.
    pub const BEHIND: Rules = Rules(1 << 6);
    /// Its client did not take what it was owed; the answer left late, and not by the store's doing.
    pub const CLIENT: Rules = Rules(1 << 7);
    /// All names, for flags and pages.
    pub const NAMES: [(Rules, &'static str); 8] = [
        (Rules::QUEUED, "queued"),
        (Rules::HICCUP, "hiccup"),
        (Rules::SLOW_KEY, "slow key"),
        (Rules::ACKNOWLEDGED, "acknowledgement"),
        (Rules::JOINING, "joining"),
        (Rules::FAULT, "fault"),
        (Rules::BEHIND, "behind an earlier answer"),
        (Rules::CLIENT, record::CLIENT_RULE),
    ];

    /// Both sets.
    pub const fn with(self, other: Rules) -> Rules {
        Rules(self.0 | other.0)
    }

    /// Whether all of `other` acted.
    pub const fn has(self, other: Rules) -> bool {
        self.0 & other.0 == other.0
    }
}

/// The classes of errors that can be injected; each protocol has words and codes of its own for them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum ErrorClass {
    /// SQLSTATE 40001; `EXECABORT`-like in RESP.
    Serialization,
    /// SQLSTATE 40P01.
    Deadlock,
    /// SQLSTATE 55P03 (lock not available); `BUSY` in RESP.
    Busy,
    /// Temporarily not served: SQLSTATE 57P03; `LOADING` in RESP. Clients may try again.
    Retryable,
    /// Anything else: SQLSTATE XX000; `ERR` in RESP.
    Internal,
}

/// A fault that acts on this request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Injection {
    /// The answer is an error; nothing is executed.
    Error(ErrorClass),
    /// The connection is closed when the answer would be due; nothing was executed.
    DropBefore,
    /// The same, but the request was executed.
    DropAfter,
    /// Half of the answer is written, then the connection is closed.
    DropMidAnswer,
    /// Half of the answer is written when it is due, the rest so much later.
    Partial(Nanos),
    /// Bytes that are no answer take its place.
    Garbage,
}

impl Injection {
    /// Whether the request is executed all the same.
    pub fn executes(self) -> bool {
        !matches!(self, Injection::Error(_) | Injection::DropBefore)
    }
}

/// What the engine decided of one request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decision {
    /// Its number in the order of admission, from 0: what is drawn for it is addressed by it.
    pub number: u64,
    /// When it came in.
    pub arrival: Arrival,
    /// What it is.
    pub operation: Operation,
    /// When its turn came: the moment at which it reads and writes data. Never goes back from one request to the next.
    pub begun: Nanos,
    /// When its answer is to be written.
    pub due: Nanos,
    /// The node that serves it.
    pub node: NodeId,
    /// What acted on it.
    pub rules: Rules,
    /// The key's [`record::key_hash`], without a table; `None` where there is no key.
    pub key: Option<u64>,
    /// The fault that acts on it. A delay is in `due` already.
    pub injection: Option<Injection>,
}
