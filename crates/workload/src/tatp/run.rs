//! Carrying a plan out.
//!
//! What finds no row is a miss. What its own rules roll back, or the database's keys refuse, is an abort. Deadlocks and all
//! other errors are errors; BenchBase calls them aborts of `InsertCallForwarding`.

use super::statements::*;
use super::{Kind, Plan, Tatp};
use crate::talk::Talk;
use crate::transaction::settled;
use driver::{Command, Conversation, OpError, Value};
use units::Outcome;

pub(crate) async fn run<C: Conversation>(
    tatp: &Tatp,
    plan: &Plan,
    conversation: &mut C,
) -> Result<Outcome, OpError> {
    let subscriber = Value::Int(plan.subscriber);
    match plan.kind {
        Kind::GetSubscriberData => single(conversation, SUBSCRIBER, &[subscriber]).await,
        Kind::GetAccessData => single(conversation, ACCESS, &[subscriber, Value::Int(plan.kind_of)]).await,
        Kind::GetNewDestination => {
            let times = [Value::Int(plan.start), Value::Int(plan.end)];
            let arguments = [subscriber, Value::Int(plan.kind_of), times[0], times[1]];
            single(conversation, DESTINATION, &arguments).await
        }
        Kind::UpdateLocation if !tatp.config.benchbase => {
            let arguments = [Value::Int(plan.value), Value::Text(plan.number.as_str())];
            single(conversation, SET_LOCATION, &arguments).await
        }
        _ => transaction(tatp, plan, conversation).await,
    }
}

/// One statement that commits itself.
async fn single<C: Conversation>(
    conversation: &mut C,
    index: usize,
    arguments: &[Value<'_>],
) -> Result<Outcome, OpError> {
    conversation.stage(Command::Statement { index, arguments })?;
    conversation.exchange().await?;
    Ok(if conversation.reply(0).touched() { Outcome::Ok } else { Outcome::Miss })
}

async fn transaction<C: Conversation>(
    tatp: &Tatp,
    plan: &Plan,
    conversation: &mut C,
) -> Result<Outcome, OpError> {
    let mut talk = Talk::new(conversation, tatp.config.roundtrips);
    let steps = match plan.kind {
        Kind::UpdateSubscriberData => update_subscriber(tatp, plan, &mut talk).await,
        Kind::InsertCallForwarding => insert(tatp, plan, &mut talk).await,
        Kind::DeleteCallForwarding => delete(tatp, plan, &mut talk).await,
        _ => update_location(plan, &mut talk).await,
    };
    match steps {
        Ok(outcome) => Ok(outcome),
        Err(error) if plan.kind == Kind::InsertCallForwarding && is_refusal(tatp, error) => {
            match settled(conversation, Err::<(), OpError>(error)).await {
                Err(error) if !error.session_usable => Err(error),
                _ => Ok(Outcome::Abort),
            }
        }
        Err(error) => settled(conversation, Err(error)).await,
    }
}

/// Whether an error says that there is no such facility, or such a call forwarding already.
fn is_refusal(tatp: &Tatp, error: OpError) -> bool {
    let refused = error.outcome == Outcome::Constraint || tatp.config.benchbase;
    refused && error.session_usable && !error.outcome.is_censored()
}

async fn roll_back<C: Conversation>(talk: &mut Talk<'_, C>, outcome: Outcome) -> Result<Outcome, OpError> {
    talk.roll_back().await.map(|()| outcome)
}

/// Begins, and finds the subscriber by number.
async fn find<C: Conversation>(
    plan: &Plan,
    talk: &mut Talk<'_, C>,
) -> Result<Option<Value<'static>>, OpError> {
    talk.begin()?;
    let numbered = talk.ask(NUMBERED, &[Value::Text(plan.number.as_str())]).await?;
    talk.receive().await?;
    Ok(talk.answer(numbered).first.map(Value::Int))
}

/// As BenchBase does it; the specification has one statement.
async fn update_location<C: Conversation>(plan: &Plan, talk: &mut Talk<'_, C>) -> Result<Outcome, OpError> {
    let Some(subscriber) = find(plan, talk).await? else { return roll_back(talk, Outcome::Miss).await };
    let change = talk.ask(SET_LOCATION_BY_ID, &[Value::Int(plan.value), subscriber]).await?;
    talk.commit().await?;
    Ok(if talk.answer(change).touched { Outcome::Ok } else { Outcome::Miss })
}

/// Both changes or none: BenchBase has it the other way round.
async fn update_subscriber<C: Conversation>(
    tatp: &Tatp,
    plan: &Plan,
    talk: &mut Talk<'_, C>,
) -> Result<Outcome, OpError> {
    let subscriber = Value::Int(plan.subscriber);
    talk.begin()?;
    talk.ask(SET_BIT, &[Value::Int(plan.bit), subscriber]).await?;
    let kind_of = Value::Int(plan.kind_of);
    let facility = talk.ask(SET_FACILITY, &[Value::Int(plan.value), subscriber, kind_of]).await?;
    talk.receive().await?;
    if talk.answer(facility).touched == tatp.config.benchbase {
        return roll_back(talk, Outcome::Abort).await;
    }
    talk.commit().await?;
    Ok(Outcome::Ok)
}

async fn insert<C: Conversation>(
    tatp: &Tatp,
    plan: &Plan,
    talk: &mut Talk<'_, C>,
) -> Result<Outcome, OpError> {
    let Some(subscriber) = find(plan, talk).await? else { return roll_back(talk, Outcome::Miss).await };
    talk.ask(FACILITIES, &[subscriber]).await?;
    let number = if tatp.config.benchbase { &plan.number } else { &plan.other_number };
    let times = [Value::Int(plan.start), Value::Int(plan.end)];
    let row = [subscriber, Value::Int(plan.kind_of), times[0], times[1], Value::Text(number.as_str())];
    let insert = talk.ask(FORWARD, &row).await?;
    change(tatp, talk, 1, insert).await
}

async fn delete<C: Conversation>(
    tatp: &Tatp,
    plan: &Plan,
    talk: &mut Talk<'_, C>,
) -> Result<Outcome, OpError> {
    let Some(subscriber) = find(plan, talk).await? else { return roll_back(talk, Outcome::Miss).await };
    let key = [subscriber, Value::Int(plan.kind_of), Value::Int(plan.start)];
    let delete = talk.ask(UNFORWARD, &key).await?;
    change(tatp, talk, -1, delete).await
}

/// Commits a change of the number of call forwardings, by the statement of this number: where that found no row, there are as
/// many as before.
async fn change<C: Conversation>(
    tatp: &Tatp,
    talk: &mut Talk<'_, C>,
    rows: i64,
    number: usize,
) -> Result<Outcome, OpError> {
    let moving = tatp.ledger.moving(rows);
    let ended = talk.commit().await;
    let is_done = talk.answer(number).touched;
    moving.ended(&ended, is_done);
    ended.map(|()| if is_done { Outcome::Ok } else { Outcome::Miss })
}
