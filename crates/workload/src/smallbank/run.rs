//! Carrying a plan out.
//!
//! A transaction that writes locks each row that it reads first, savings before checking and lower customers before higher
//! ones: so the six are serializable at READ COMMITTED, and no two of them wait for each other in a circle. BenchBase locks
//! nothing and relies on SERIALIZABLE.

use super::statements::*;
use super::{Kind, Plan, Rule, SmallBank};
use crate::talk::Talk;
use crate::transaction::settled;
use driver::{Conversation, OpError, Value};
use units::Outcome;

/// What a check costs more that the account does not cover, in cents.
const PENALTY: i64 = 100;

/// How a transaction's steps ended.
enum Ended {
    /// Committed.
    Done,
    /// To be rolled back: a row is missing.
    Nobody,
    /// To be rolled back: a rule forbids it.
    Rejected(Rule),
}

pub(crate) async fn run<C: Conversation>(
    bank: &SmallBank,
    plan: &Plan,
    conversation: &mut C,
) -> Result<Outcome, OpError> {
    let mut talk = Talk::new(conversation, bank.config.roundtrips);
    let steps = match plan.kind {
        Kind::Amalgamate if bank.config.benchbase => amalgamate_as_benchbase(bank, plan, &mut talk).await,
        Kind::Amalgamate => amalgamate(bank, plan, &mut talk).await,
        Kind::Balance => balance(bank, plan, &mut talk).await,
        Kind::DepositChecking => deposit_checking(bank, plan, &mut talk).await,
        Kind::SendPayment => send_payment(bank, plan, &mut talk).await,
        Kind::TransactSavings => transact_savings(bank, plan, &mut talk).await,
        Kind::WriteCheck => write_check(bank, plan, &mut talk).await,
    };
    match steps {
        Ok(Ended::Done) => Ok(Outcome::Ok),
        Ok(Ended::Nobody) => talk.roll_back().await.map(|()| Outcome::Miss),
        Ok(Ended::Rejected(rule)) => {
            talk.roll_back().await?;
            bank.count(rule);
            Ok(Outcome::Abort)
        }
        Err(error) => settled(conversation, Err(error)).await,
    }
}

/// Ends a transaction that moves so many cents into the bank, less than 0 out of it, by the statement of the number
/// `change`: where that found no row, nothing was moved.
async fn commit<C: Conversation>(
    bank: &SmallBank,
    talk: &mut Talk<'_, C>,
    cents: i64,
    change: usize,
) -> Result<Ended, OpError> {
    let moving = bank.ledger.moving(cents);
    let ended = talk.commit().await;
    let is_done = talk.answer(change).touched;
    moving.ended(&ended, is_done);
    ended.map(|()| if is_done { Ended::Done } else { Ended::Nobody })
}

/// Begins, and finds the customer by name.
async fn find<C: Conversation>(
    plan: &Plan,
    talk: &mut Talk<'_, C>,
) -> Result<Option<Value<'static>>, OpError> {
    talk.begin()?;
    let named = talk.ask(NAMED, &[Value::Text(plan.name.as_str())]).await?;
    talk.receive().await?;
    Ok(talk.answer(named).first.map(Value::Int))
}

/// The balances of a savings and a checking account, of the answers of these numbers; `None` where one is not there.
fn balances<C: Conversation>(talk: &Talk<'_, C>, savings: usize, checking: usize) -> Option<(i64, i64)> {
    let (savings, checking) = (talk.answer(savings).first?, talk.answer(checking).first?);
    Some((SAVINGS_ASKED - savings, CHECKING_ASKED - checking))
}

async fn balance<C: Conversation>(
    bank: &SmallBank,
    plan: &Plan,
    talk: &mut Talk<'_, C>,
) -> Result<Ended, OpError> {
    let Some(customer) = find(plan, talk).await? else { return Ok(Ended::Nobody) };
    let found = if bank.config.benchbase {
        let savings = talk.ask(SAVINGS, &[customer]).await?;
        let checking = talk.ask(CHECKING, &[customer]).await?;
        commit(bank, talk, 0, checking).await?;
        balances(talk, savings, checking)
    } else {
        let both = talk.ask(BALANCE, &[customer]).await?;
        commit(bank, talk, 0, both).await?;
        talk.answer(both).first.zip(talk.answer(both).second)
    };
    // What a customer would be shown; nothing else is done with it.
    let sum = found.map(|(savings, checking)| savings.wrapping_add(checking));
    Ok(if std::hint::black_box(sum).is_some() { Ended::Done } else { Ended::Nobody })
}

async fn deposit_checking<C: Conversation>(
    bank: &SmallBank,
    plan: &Plan,
    talk: &mut Talk<'_, C>,
) -> Result<Ended, OpError> {
    let Some(customer) = find(plan, talk).await? else { return Ok(Ended::Nobody) };
    let change = talk.ask(ADD_TO_CHECKING, &[Value::Int(plan.amount), customer]).await?;
    commit(bank, talk, plan.amount, change).await
}

async fn transact_savings<C: Conversation>(
    bank: &SmallBank,
    plan: &Plan,
    talk: &mut Talk<'_, C>,
) -> Result<Ended, OpError> {
    let Some(customer) = find(plan, talk).await? else { return Ok(Ended::Nobody) };
    let savings = talk.ask(bank.read(SAVINGS), &[customer]).await?;
    talk.receive().await?;
    match talk.answer(savings).first {
        None => return Ok(Ended::Nobody),
        Some(missing) if missing > 0 => return Ok(Ended::Rejected(Rule::SavingsTooLow)),
        Some(_) => {}
    }
    let change = talk.ask(ADD_TO_SAVINGS, &[Value::Int(-plan.amount), customer]).await?;
    commit(bank, talk, -plan.amount, change).await
}

async fn write_check<C: Conversation>(
    bank: &SmallBank,
    plan: &Plan,
    talk: &mut Talk<'_, C>,
) -> Result<Ended, OpError> {
    let Some(customer) = find(plan, talk).await? else { return Ok(Ended::Nobody) };
    let savings = talk.ask(bank.read(SAVINGS), &[customer]).await?;
    let checking = talk.ask(bank.read(CHECKING), &[customer]).await?;
    talk.receive().await?;
    let Some((savings, checking)) = balances(talk, savings, checking) else { return Ok(Ended::Nobody) };
    let is_covered = savings + checking >= plan.amount;
    let paid = match (is_covered, bank.config.benchbase) {
        (true, _) => plan.amount,
        (false, false) => plan.amount + PENALTY,
        (false, true) => plan.amount - PENALTY,
    };
    let change = talk.ask(ADD_TO_CHECKING, &[Value::Int(-paid), customer]).await?;
    commit(bank, talk, -paid, change).await
}

async fn send_payment<C: Conversation>(
    bank: &SmallBank,
    plan: &Plan,
    talk: &mut Talk<'_, C>,
) -> Result<Ended, OpError> {
    let (payer, payee) = (Value::Int(plan.customer), Value::Int(plan.other));
    talk.begin()?;
    let first = talk.ask(ACCOUNT, &[payer]).await?;
    let second = talk.ask(ACCOUNT, &[payee]).await?;
    let checking = lock_checking(bank, plan, talk).await?;
    talk.receive().await?;
    let are_there = talk.answer(first).touched && talk.answer(second).touched;
    match talk.answer(checking).first.filter(|_| are_there) {
        None => return Ok(Ended::Nobody),
        Some(missing) if missing > 0 => return Ok(Ended::Rejected(Rule::CheckingTooLow)),
        Some(_) => {}
    }
    talk.ask(ADD_TO_CHECKING, &[Value::Int(-plan.amount), payer]).await?;
    let change = talk.ask(ADD_TO_CHECKING, &[Value::Int(plan.amount), payee]).await?;
    commit(bank, talk, 0, change).await
}

/// Reads what the first customer's checking account lacks, having locked both in their order. Gives the number of the answer.
async fn lock_checking<C: Conversation>(
    bank: &SmallBank,
    plan: &Plan,
    talk: &mut Talk<'_, C>,
) -> Result<usize, OpError> {
    if bank.config.benchbase {
        return talk.ask(CHECKING, &[Value::Int(plan.customer)]).await;
    }
    let (low, high) = (plan.customer.min(plan.other), plan.customer.max(plan.other));
    let low = talk.ask(CHECKING_LOCKED, &[Value::Int(low)]).await?;
    let high = talk.ask(CHECKING_LOCKED, &[Value::Int(high)]).await?;
    Ok(if plan.customer < plan.other { low } else { high })
}

async fn amalgamate<C: Conversation>(
    bank: &SmallBank,
    plan: &Plan,
    talk: &mut Talk<'_, C>,
) -> Result<Ended, OpError> {
    let (from, to) = (Value::Int(plan.customer), Value::Int(plan.other));
    talk.begin()?;
    let first = talk.ask(ACCOUNT, &[from]).await?;
    let second = talk.ask(ACCOUNT, &[to]).await?;
    let savings = talk.ask(SAVINGS_LOCKED, &[from]).await?;
    let checking = lock_checking(bank, plan, talk).await?;
    talk.receive().await?;
    let are_there = talk.answer(first).touched && talk.answer(second).touched;
    let balances = balances(talk, savings, checking);
    let Some((savings, checking)) = balances.filter(|_| are_there) else { return Ok(Ended::Nobody) };
    talk.ask(CLEAR_SAVINGS, &[from]).await?;
    talk.ask(CLEAR_CHECKING, &[from]).await?;
    let change = talk.ask(ADD_TO_CHECKING, &[Value::Int(savings + checking), to]).await?;
    commit(bank, talk, 0, change).await
}

/// The total is that of one customer's savings and the other's checking, and is taken from the other's savings.
async fn amalgamate_as_benchbase<C: Conversation>(
    bank: &SmallBank,
    plan: &Plan,
    talk: &mut Talk<'_, C>,
) -> Result<Ended, OpError> {
    let (from, to) = (Value::Int(plan.customer), Value::Int(plan.other));
    talk.begin()?;
    let first = talk.ask(ACCOUNT, &[from]).await?;
    let second = talk.ask(ACCOUNT, &[to]).await?;
    let savings = talk.ask(SAVINGS, &[from]).await?;
    let checking = talk.ask(CHECKING, &[to]).await?;
    talk.receive().await?;
    let are_there = talk.answer(first).touched && talk.answer(second).touched;
    let balances = balances(talk, savings, checking);
    let Some((savings, checking)) = balances.filter(|_| are_there) else { return Ok(Ended::Nobody) };
    talk.ask(CLEAR_CHECKING, &[from]).await?;
    let change = talk.ask(ADD_TO_SAVINGS, &[Value::Int(-savings - checking), to]).await?;
    commit(bank, talk, 0, change).await
}
