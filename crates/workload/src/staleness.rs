//! Read-after-write lag as a client can see it: a write, then reads until one shows it.
//!
//! A probe writes version *n* of one record over one session, and reads the record over another until it sees *n* or a
//! later version. How long a write takes to be seen is its **lag**: the time from when the client had the
//! acknowledgement, to when the version became visible where the reads went; zero if it was visible by then.
//!
//! # What a client can know of it
//!
//! ```text
//!  writer   ──write──►             acknowledged
//!  reader                          ├──────────────── read ────────────────┤ ├───── read ─────┤
//!                                  sent      looks          completed       sent  looks  completed
//!                                              ▲  stale                             ▲ fresh
//!  visible                                       └───────────── here ──────────────┘
//! ```
//!
//! When a read looks at the data is not known; but no earlier than it was sent, and no later than it was answered. A read
//! that missed the version looked before it was visible, one that showed it looked when it was visible. Hence, with v the
//! moment at which the version became visible and a that of the acknowledgement,
//!
//! - a stale read sent at s: v > s, so that the lag is **at least** s − a;
//! - a fresh read completed at c: v ≤ c, so that the lag is **at most** c − a.
//!
//! Of stale reads the last one sent says most, of fresh reads the first one completed. No stale read: at least zero.
//! Both bounds hold whatever the network and the hosts did meanwhile; delays only widen the interval between them. Nothing
//! is taken from the server's clock, and none of the two is an estimate.
//!
//! The bounds are about the place that the reads went to. Where each read may go to another replica, a later read may be
//! stale again: then the interval is around the first moment at which a read was fresh.
//!
//! # When it reads
//!
//! At once after the acknowledgement, and then in gaps of 2 % of the time since then, of 100 µs at least: so that the interval
//! is narrow in proportion to the lag, and a lag ten times as long costs only about 120 reads more. A fixed gap would be
//! too coarse for short lags or would flood the store during long ones.

use driver::{
    Administration, Command, ConnectError, Conversation, Dialect, Fields, KeyValue, OpError, StatementSpec,
    Value, ValueType,
};
use std::fmt;
use std::future::Future;
use units::Nanos;

/// The field or column that holds the version.
const FIELD: &str = "version";
/// Gap between two reads, as a part of the time since the acknowledgement.
const GAP_PART: u64 = 50;
/// The shortest gap.
const GAP_LEAST: Nanos = Nanos::from_micros(100);

/// A probe whose version was not seen by then is given up.
pub const LIMIT: Nanos = Nanos::from_secs(10);

/// Indexes of the statements.
const WRITE: usize = 0;
const READ: usize = 1;

/// The clock that a probe goes by, and what ends it. Live in a run, simulated in tests.
pub trait Watch {
    /// Time since any fixed moment.
    fn now(&self) -> Nanos;

    /// Waits between two reads; it may take longer.
    fn pause(&self, gap: Nanos) -> impl Future<Output = ()>;

    /// Whether to read no more, though no read was fresh.
    fn is_over(&self) -> bool;
}

/// The record that is written and read, in a target's own form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Probe {
    dialect: Dialect,
    /// The key.
    record: String,
    /// The table that it is in, where there are tables.
    table: String,
}

/// What one probe saw; all times by [`Watch::now`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seen {
    /// When the client had the acknowledgement of the write.
    pub acknowledged: Nanos,
    /// When the last stale read was sent.
    pub last_stale: Option<Nanos>,
    /// When the first fresh read was completed; `None` if none was before the probe was over.
    pub fresh: Option<Nanos>,
    /// When the last read was completed; that of the acknowledgement if there was none.
    pub ended: Nanos,
    /// Reads that were answered.
    pub reads: u32,
}

impl Seen {
    /// The lag is no shorter.
    pub fn at_least(&self) -> Nanos {
        self.last_stale.map_or(Nanos::ZERO, |sent| sent.saturating_sub(self.acknowledged))
    }

    /// The lag is no longer; `None` where no read was fresh.
    pub fn at_most(&self) -> Option<Nanos> {
        self.fresh.map(|completed| completed.saturating_sub(self.acknowledged))
    }
}

/// Which session of a probe failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// The one that writes.
    Writer,
    /// The one that reads.
    Reader,
}

/// Why a probe has seen nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProbeError {
    /// An exchange failed.
    Failed(Side, OpError),
    /// The record is gone: somebody else has removed it.
    RecordGone,
    /// What was read is no version: somebody else has written to the record.
    Foreign,
}

impl fmt::Display for ProbeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProbeError::Failed(Side::Writer, error) => write!(f, "its write: {}", error.outcome.name()),
            ProbeError::Failed(Side::Reader, error) => write!(f, "its read: {}", error.outcome.name()),
            ProbeError::RecordGone => f.write_str("its record is gone: another program has removed it"),
            ProbeError::Foreign => {
                f.write_str("its record holds no version: another program has written to it")
            }
        }
    }
}

impl Probe {
    /// The probe of one load machine, by its number; each has a record of its own, in SQL a table of its own.
    ///
    /// # Errors
    /// One line, for targets that keep nothing.
    pub fn new(dialect: Dialect, client: u16) -> Result<Probe, String> {
        if dialect == Dialect::Null {
            return Err("a target that keeps nothing can't be asked how stale it is".to_owned());
        }
        let suffix =
            |separator: &str| if client > 0 { format!("{separator}{client}") } else { String::new() };
        Ok(Probe {
            dialect,
            record: format!("truetail:staleness{}", suffix(":")),
            table: format!("truetail_staleness{}", suffix("_")),
        })
    }

    /// The key of the record: what a store's log knows it by.
    pub fn record(&self) -> &str {
        &self.record
    }

    /// What it asks, in a few words for a recording.
    pub fn describe(&self) -> String {
        match self.dialect {
            Dialect::KeyValue => "a write, then reads until it shows".to_owned(),
            _ => format!("UPDATE, then SELECTs in {}", self.table),
        }
    }

    /// What both sessions must be connected with.
    pub fn statements(&self) -> Vec<StatementSpec> {
        if self.dialect == Dialect::KeyValue {
            return Vec::new();
        }
        let Probe { dialect, table, .. } = self;
        let (first, second) = (dialect.placeholder(1), dialect.placeholder(2));
        let write = format!("UPDATE {table} SET {FIELD} = {first} WHERE name = {second}");
        let read = format!("SELECT {FIELD} FROM {table} WHERE name = {first}");
        vec![
            StatementSpec::counted(write, &[ValueType::Int, ValueType::Text]),
            StatementSpec::kept(read, &[ValueType::Text], &[ValueType::Int]),
        ]
    }

    /// Makes the table with the record in version `first`, in place of one that was left behind; to be done before sessions
    /// are connected. Nothing where there are no tables: writes make the record.
    ///
    /// # Errors
    /// The database's words.
    pub fn set_up(&self, administration: &mut dyn Administration, first: i64) -> Result<(), ConnectError> {
        if self.dialect == Dialect::KeyValue {
            return Ok(());
        }
        let Probe { table, record, .. } = self;
        administration.script(&format!(
            "DROP TABLE IF EXISTS {table}; \
             CREATE TABLE {table} (name VARCHAR(64) PRIMARY KEY, {FIELD} BIGINT NOT NULL); \
             INSERT INTO {table} (name, {FIELD}) VALUES ('{record}', {first})"
        ))
    }

    /// Removes the record, over a session of the probe; nothing where there are tables.
    ///
    /// # Errors
    /// Those of the exchange.
    pub async fn remove<C: Conversation>(&self, writer: &mut C) -> Result<(), OpError> {
        if self.dialect != Dialect::KeyValue {
            return Ok(());
        }
        writer.stage(Command::KeyValue(KeyValue::Delete { table: &self.table, key: &self.record }))?;
        writer.exchange().await
    }

    /// Drops the table, when the sessions are closed; nothing where there are none.
    ///
    /// # Errors
    /// The database's words.
    pub fn drop_table(&self, administration: &mut dyn Administration) -> Result<(), ConnectError> {
        match self.dialect {
            Dialect::KeyValue => Ok(()),
            _ => administration.script(&format!("DROP TABLE IF EXISTS {}", self.table)),
        }
    }

    /// One probe: writes `version`, which must be greater than all before it, and reads until it is seen, [`LIMIT`] is
    /// reached or the watch says that it is over.
    ///
    /// # Errors
    /// When an exchange fails: then nothing was learnt, also of reads that were stale before it.
    pub async fn run<W: Conversation, R: Conversation>(
        &self,
        version: i64,
        writer: &mut W,
        reader: &mut R,
        watch: &impl Watch,
    ) -> Result<Seen, ProbeError> {
        self.write(version, writer).await?;
        let acknowledged = watch.now();
        let mut seen = Seen { acknowledged, last_stale: None, fresh: None, ended: acknowledged, reads: 0 };
        while !watch.is_over() && watch.now().saturating_sub(acknowledged) < LIMIT {
            let (sent, found) = self.read(reader, watch).await?;
            seen.ended = watch.now();
            seen.reads += 1;
            if found.is_some_and(|found| found >= version) {
                seen.fresh = Some(seen.ended);
                break;
            }
            seen.last_stale = Some(sent);
            let elapsed = seen.ended.saturating_sub(acknowledged);
            watch.pause(Nanos(elapsed.0 / GAP_PART).max(GAP_LEAST)).await;
        }
        Ok(seen)
    }

    async fn write<W: Conversation>(&self, version: i64, writer: &mut W) -> Result<(), ProbeError> {
        let failed = |error| ProbeError::Failed(Side::Writer, error);
        let staged = match self.dialect {
            Dialect::KeyValue => {
                let (key, text) = (&self.record, version.to_string());
                writer.stage(Command::KeyValue(KeyValue::Update {
                    table: &self.table,
                    key,
                    fields: &[(FIELD, &text)],
                }))
            }
            _ => {
                let arguments = [Value::Int(version), Value::Text(&self.record)];
                writer.stage(Command::Statement { index: WRITE, arguments: &arguments })
            }
        };
        staged.map_err(failed)?;
        writer.exchange().await.map_err(failed)?;
        if writer.reply(0).affected > 0 { Ok(()) } else { Err(ProbeError::RecordGone) }
    }

    /// When a read was sent, and the version that it found; `None` where there is no record yet.
    async fn read<R: Conversation>(
        &self,
        reader: &mut R,
        watch: &impl Watch,
    ) -> Result<(Nanos, Option<i64>), ProbeError> {
        let failed = |error| ProbeError::Failed(Side::Reader, error);
        let arguments = [Value::Text(&self.record)];
        let command = match self.dialect {
            Dialect::KeyValue => Command::KeyValue(KeyValue::Read {
                table: &self.table,
                key: &self.record,
                fields: Fields::One(FIELD),
            }),
            _ => Command::Statement { index: READ, arguments: &arguments },
        };
        reader.stage(command).map_err(failed)?;
        // Behind staging: a stamp that is too early only loosens the bound, but needlessly.
        let sent = watch.now();
        reader.exchange().await.map_err(failed)?;
        let found = match reader.value(0, 0, 0) {
            None => None,
            Some(Value::Int(found)) => Some(found),
            Some(Value::Text(text)) => Some(text.parse().map_err(|_| ProbeError::Foreign)?),
            Some(_) => return Err(ProbeError::Foreign),
        };
        Ok((sent, found))
    }
}

#[cfg(test)]
mod tests;
