//! Carrying a plan out.

use super::plan::{FIELDS_MOST, Plan};
use super::pool::Span;
use super::{Family, Kind, Ycsb, integrity};
use crate::transaction::settled;
use driver::{Command, Conversation, OpError, Reply, Value};
use units::Outcome;

/// Fields whose arguments fit the smaller array; YCSB's default.
pub(super) const FIELDS_USUAL: usize = 10;

pub(crate) async fn run<C: Conversation>(
    ycsb: &Ycsb,
    plan: &Plan,
    conversation: &mut C,
) -> Result<Outcome, OpError> {
    if ycsb.has_records() {
        return super::records::run(ycsb, plan, conversation).await;
    }
    match plan.kind {
        Kind::Read => {
            stage_key(ycsb, plan, ycsb.layout.read + plan.read_field, conversation)?;
            verified(ycsb, plan, conversation).await
        }
        Kind::Insert => insert(ycsb, plan, conversation).await,
        Kind::Update => {
            stage_write(ycsb, plan, ycsb.layout.update + plan.write_field, conversation)?;
            single(conversation).await
        }
        Kind::Scan => scan(ycsb, plan, conversation).await,
        Kind::Delete if plan.restores => {
            let steps = delete_and_restore(ycsb, plan, conversation).await;
            settled(conversation, steps).await
        }
        Kind::Delete => {
            stage_key(ycsb, plan, ycsb.layout.delete, conversation)?;
            single(conversation).await
        }
        Kind::ReadModifyWrite => match ycsb.config.family {
            Family::Mix => {
                let steps = read_modify_write(ycsb, plan, conversation).await;
                settled(conversation, steps).await
            }
            Family::Core => read_then_update(ycsb, plan, conversation).await,
        },
    }
}

/// One autocommit statement that must touch a row.
async fn single<C: Conversation>(conversation: &mut C) -> Result<Outcome, OpError> {
    conversation.exchange().await?;
    Ok(verdict(conversation.reply(0)))
}

/// A read by key; what it gave is verified where values can be.
async fn verified<C: Conversation>(
    ycsb: &Ycsb,
    plan: &Plan,
    conversation: &mut C,
) -> Result<Outcome, OpError> {
    let outcome = single(conversation).await?;
    if ycsb.config.data_integrity && outcome == Outcome::Ok {
        // Before the first field there is the key.
        integrity::verify(ycsb, plan, conversation, 1);
    }
    Ok(outcome)
}

/// An insert; one of a load is tried again when it is refused, as often as is asked for.
async fn insert<C: Conversation>(ycsb: &Ycsb, plan: &Plan, conversation: &mut C) -> Result<Outcome, OpError> {
    let mut left = if ycsb.config.loading { ycsb.config.insertion_retries } else { 0 };
    loop {
        stage_write(ycsb, plan, ycsb.layout.insert, conversation)?;
        match single(conversation).await {
            Err(error) if error.session_usable && left > 0 => left -= 1,
            ended => return ended,
        }
    }
}

/// The mix's interval may be empty by its draw, so that no row is a miss; see the module's documentation.
async fn scan<C: Conversation>(ycsb: &Ycsb, plan: &Plan, conversation: &mut C) -> Result<Outcome, OpError> {
    let second = match ycsb.config.family {
        Family::Mix => plan.key + plan.count,
        Family::Core => plan.count,
    };
    let arguments = [key(ycsb, plan), Value::Int(second)];
    let index = ycsb.layout.scan + plan.read_field;
    conversation.stage(Command::Statement { index, arguments: &arguments })?;
    let outcome = single(conversation).await?;
    Ok(if ycsb.config.family == Family::Mix { Outcome::Ok } else { outcome })
}

async fn delete_and_restore<C: Conversation>(
    ycsb: &Ycsb,
    plan: &Plan,
    conversation: &mut C,
) -> Result<Outcome, OpError> {
    conversation.stage(Command::Begin)?;
    stage_key(ycsb, plan, ycsb.layout.delete, conversation)?;
    stage_write(ycsb, plan, ycsb.layout.restore, conversation)?;
    conversation.stage(Command::Commit)?;
    conversation.exchange().await?;
    Ok(verdict(conversation.reply(1)))
}

/// The mix's: in one transaction, with the row locked in between.
async fn read_modify_write<C: Conversation>(
    ycsb: &Ycsb,
    plan: &Plan,
    conversation: &mut C,
) -> Result<Outcome, OpError> {
    conversation.stage(Command::Begin)?;
    stage_key(ycsb, plan, ycsb.layout.read_locked, conversation)?;
    conversation.exchange().await?;
    if conversation.reply(1).rows == 0 {
        conversation.stage(Command::Rollback)?;
        conversation.exchange().await?;
        return Ok(Outcome::Miss);
    }
    stage_write(ycsb, plan, ycsb.layout.update, conversation)?;
    conversation.stage(Command::Commit)?;
    conversation.exchange().await?;
    Ok(verdict(conversation.reply(0)))
}

/// The CoreWorkload's: a read, then an update, each for itself.
async fn read_then_update<C: Conversation>(
    ycsb: &Ycsb,
    plan: &Plan,
    conversation: &mut C,
) -> Result<Outcome, OpError> {
    stage_key(ycsb, plan, ycsb.layout.read + plan.read_field, conversation)?;
    if verified(ycsb, plan, conversation).await? == Outcome::Miss {
        return Ok(Outcome::Miss);
    }
    stage_write(ycsb, plan, ycsb.layout.update + plan.write_field, conversation)?;
    single(conversation).await
}

pub(super) fn verdict(reply: Reply) -> Outcome {
    if reply.touched() { Outcome::Ok } else { Outcome::Miss }
}

fn key<'a>(ycsb: &Ycsb, plan: &'a Plan) -> Value<'a> {
    match ycsb.config.family {
        Family::Mix => Value::Int(plan.key),
        Family::Core => Value::Text(plan.key_text.as_str()),
    }
}

/// The text of a value that is written.
pub(super) fn value<'a>(ycsb: &'a Ycsb, plan: &'a Plan, span: Span) -> &'a str {
    if ycsb.config.data_integrity {
        return &plan.text[span.offset as usize..(span.offset + span.length) as usize];
    }
    ycsb.pool.text(span)
}

fn stage_key<C: Conversation>(
    ycsb: &Ycsb,
    plan: &Plan,
    index: usize,
    conversation: &mut C,
) -> Result<(), OpError> {
    conversation.stage(Command::Statement { index, arguments: &[key(ycsb, plan)] })
}

/// Stages a statement whose parameters are the key and the plan's values.
fn stage_write<C: Conversation>(
    ycsb: &Ycsb,
    plan: &Plan,
    index: usize,
    conversation: &mut C,
) -> Result<(), OpError> {
    // Not one array for all: clearing 3 kB for each request would cost more than planning it.
    if plan.values.len() <= FIELDS_USUAL {
        stage_values::<C, { FIELDS_USUAL + 1 }>(ycsb, plan, index, conversation)
    } else {
        stage_values::<C, { FIELDS_MOST + 1 }>(ycsb, plan, index, conversation)
    }
}

fn stage_values<C: Conversation, const ROOM: usize>(
    ycsb: &Ycsb,
    plan: &Plan,
    index: usize,
    conversation: &mut C,
) -> Result<(), OpError> {
    let mut arguments = [Value::Null; ROOM];
    // An update has the key behind its values, in the order of its SQL.
    let updates = (ycsb.layout.update..ycsb.layout.insert).contains(&index);
    arguments[if updates { plan.values.len() } else { 0 }] = key(ycsb, plan);
    for (argument, span) in arguments[usize::from(!updates)..].iter_mut().zip(&plan.values) {
        *argument = Value::Text(value(ycsb, plan, *span));
    }
    conversation.stage(Command::Statement { index, arguments: &arguments[..=plan.values.len()] })
}
