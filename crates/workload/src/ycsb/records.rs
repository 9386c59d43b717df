//! Both families on records: what is asked of a target without SQL.
//!
//! Records lie as YCSB's bindings lay them: under the text key, with fields of their names. The mix has text keys here, too:
//! `user` and its number with ten digits, so that their order is that of the numbers where a store orders by text. A scan of
//! the mix asks for as many records as the interval has keys. There are no transactions: a read between the delete and the
//! insert of a drawn key can miss, and a read-modify-write is a read and an update.

use super::config::Family;
use super::keys::KeyText;
use super::plan::{FIELDS_MOST, Plan};
use super::run::{FIELDS_USUAL, value, verdict};
use super::{Kind, Ycsb, integrity};
use driver::{Command, Conversation, Fields, KeyValue, OpError};
use units::Outcome;

pub(crate) async fn run<C: Conversation>(
    ycsb: &Ycsb,
    plan: &Plan,
    conversation: &mut C,
) -> Result<Outcome, OpError> {
    let asked = Asked {
        ycsb,
        plan,
        key: match ycsb.config.family {
            Family::Mix => KeyText::of_mix(plan.key.unsigned_abs()),
            Family::Core => plan.key_text,
        },
    };
    match plan.kind {
        Kind::Read => {
            asked.stage_read(conversation)?;
            return asked.verified(conversation).await;
        }
        Kind::Insert => return asked.insert(conversation).await,
        Kind::Update => asked.stage_write(false, conversation)?,
        Kind::Scan => {
            asked.stage_scan(conversation)?;
            conversation.exchange().await?;
            let outcome = verdict(conversation.reply(0));
            return Ok(if ycsb.config.family == Family::Mix { Outcome::Ok } else { outcome });
        }
        Kind::Delete => {
            asked.stage_delete(conversation)?;
            if plan.restores {
                asked.stage_write(true, conversation)?;
            }
        }
        Kind::ReadModifyWrite => {
            asked.stage_read(conversation)?;
            if asked.verified(conversation).await? == Outcome::Miss {
                return Ok(Outcome::Miss);
            }
            asked.stage_write(false, conversation)?;
        }
    }
    conversation.exchange().await?;
    Ok(verdict(conversation.reply(0)))
}

struct Asked<'a> {
    ycsb: &'a Ycsb,
    plan: &'a Plan,
    key: KeyText,
}

impl Asked<'_> {
    fn fields(&self) -> Fields<'_> {
        let config = &self.ycsb.config;
        if !config.read_all_fields {
            Fields::One(self.ycsb.fields[self.plan.read_field])
        } else if config.reads_by_name || config.data_integrity {
            Fields::Named(&self.ycsb.fields)
        } else {
            Fields::All
        }
    }

    fn stage_read<C: Conversation>(&self, conversation: &mut C) -> Result<(), OpError> {
        let (table, key) = (self.ycsb.config.table, self.key.as_str());
        conversation.stage(Command::KeyValue(KeyValue::Read { table, key, fields: self.fields() }))
    }

    /// A read that was staged; what it gave is verified where values can be.
    async fn verified<C: Conversation>(&self, conversation: &mut C) -> Result<Outcome, OpError> {
        conversation.exchange().await?;
        let outcome = verdict(conversation.reply(0));
        if self.ycsb.config.data_integrity && outcome == Outcome::Ok {
            integrity::verify(self.ycsb, self.plan, conversation, 0);
        }
        Ok(outcome)
    }

    /// An insert; one of a load is tried again when it is refused, as often as is asked for.
    async fn insert<C: Conversation>(&self, conversation: &mut C) -> Result<Outcome, OpError> {
        let config = &self.ycsb.config;
        let mut left = if config.loading { config.insertion_retries } else { 0 };
        loop {
            self.stage_write(true, conversation)?;
            match conversation.exchange().await {
                Ok(()) => return Ok(verdict(conversation.reply(0))),
                Err(error) if error.session_usable && left > 0 => left -= 1,
                Err(error) => return Err(error),
            }
        }
    }

    fn stage_scan<C: Conversation>(&self, conversation: &mut C) -> Result<(), OpError> {
        let (table, key) = (self.ycsb.config.table, self.key.as_str());
        let count = u32::try_from(self.plan.count).unwrap_or(u32::MAX);
        // Of the mix's interval both ends are open.
        let count =
            if self.ycsb.config.family == Family::Mix { count.saturating_sub(1).max(1) } else { count };
        // YCSB's scans never name all fields.
        let fields = if self.ycsb.config.read_all_fields { Fields::All } else { self.fields() };
        conversation.stage(Command::KeyValue(KeyValue::Scan { table, key, count, fields }))
    }

    fn stage_delete<C: Conversation>(&self, conversation: &mut C) -> Result<(), OpError> {
        let (table, key) = (self.ycsb.config.table, self.key.as_str());
        conversation.stage(Command::KeyValue(KeyValue::Delete { table, key }))
    }

    fn stage_write<C: Conversation>(&self, is_new: bool, conversation: &mut C) -> Result<(), OpError> {
        if self.plan.values.len() <= FIELDS_USUAL {
            self.stage_values::<C, FIELDS_USUAL>(is_new, conversation)
        } else {
            self.stage_values::<C, FIELDS_MOST>(is_new, conversation)
        }
    }

    fn stage_values<C: Conversation, const ROOM: usize>(
        &self,
        is_new: bool,
        conversation: &mut C,
    ) -> Result<(), OpError> {
        let mut fields = [("", ""); ROOM];
        let names = self.ycsb.fields.iter().copied().skip(self.plan.write_field);
        for ((field, name), span) in fields.iter_mut().zip(names).zip(&self.plan.values) {
            *field = (name, value(self.ycsb, self.plan, *span));
        }
        let fields = &fields[..self.plan.values.len()];
        let (table, key) = (self.ycsb.config.table, self.key.as_str());
        conversation.stage(Command::KeyValue(if is_new {
            KeyValue::Insert { table, key, fields }
        } else {
            KeyValue::Update { table, key, fields }
        }))
    }
}
