//! Order-Status (2.6) and Stock-Level (2.8): they read alone, and each reads what belongs together in one statement. So
//! they need no bounds of a transaction, which on SQLite would take the lock of those that write.

use super::config::Roundtrips;
use super::phases::{Phase, ask, carry_out, middle, whole};
use super::plan::{Plan, Who};
use super::sql;
use driver::{Conversation, OpError, Value};
use units::Outcome;

pub(crate) async fn order_status<C: Conversation>(
    roundtrips: Roundtrips,
    plan: &Plan,
    conversation: &mut C,
) -> Result<Outcome, OpError> {
    let mut customer = plan.number();
    if let Who::Named(name) = &plan.who {
        let mut named = Named { plan, name: name.as_str(), customer: 0 };
        if !carry_out(roundtrips, &mut named, conversation).await? {
            return Ok(Outcome::Miss);
        }
        customer = named.customer;
    }
    let mut order = LastOrder { plan, customer };
    let found = carry_out(roundtrips, &mut order, conversation).await?;
    Ok(if found { Outcome::Ok } else { Outcome::Miss })
}

/// The customer in the middle of those of his name. Names and numbers never change.
struct Named<'a> {
    plan: &'a Plan,
    name: &'a str,
    customer: i64,
}

impl Phase for Named<'_> {
    fn count(&self) -> usize {
        1
    }

    fn stage<C: Conversation>(&self, _n: usize, conversation: &mut C) -> Result<(), OpError> {
        let (w, d) = (Value::Int(self.plan.warehouse), Value::Int(self.plan.district));
        ask(conversation, sql::NAMED, &[w, d, Value::Text(self.name)])
    }

    fn take<C: Conversation>(&mut self, _n: usize, conversation: &C, at: usize) -> bool {
        let row = middle(conversation.reply(at).rows);
        whole(conversation, at, row, 0).map(|customer| self.customer = customer).is_some()
    }
}

/// Balance, last order and its lines.
struct LastOrder<'a> {
    plan: &'a Plan,
    customer: i64,
}

impl Phase for LastOrder<'_> {
    fn count(&self) -> usize {
        1
    }

    fn stage<C: Conversation>(&self, _n: usize, conversation: &mut C) -> Result<(), OpError> {
        let (w, d) = (Value::Int(self.plan.warehouse), Value::Int(self.plan.district));
        let c = Value::Int(self.customer);
        ask(conversation, sql::LAST_ORDER, &[w, d, c, w, d, c])
    }

    fn take<C: Conversation>(&mut self, _n: usize, conversation: &C, at: usize) -> bool {
        conversation.reply(at).rows > 0
    }
}

pub(crate) async fn stock_level<C: Conversation>(
    roundtrips: Roundtrips,
    plan: &Plan,
    conversation: &mut C,
) -> Result<Outcome, OpError> {
    let mut next = NextOrder { plan, next: 0 };
    if !carry_out(roundtrips, &mut next, conversation).await? {
        return Ok(Outcome::Miss);
    }
    let mut low = LowStock { plan, next: next.next, count: 0 };
    let found = carry_out(roundtrips, &mut low, conversation).await?;
    std::hint::black_box(low.count);
    Ok(if found { Outcome::Ok } else { Outcome::Miss })
}

/// The number that the district's next order will have.
struct NextOrder<'a> {
    plan: &'a Plan,
    next: i64,
}

impl Phase for NextOrder<'_> {
    fn count(&self) -> usize {
        1
    }

    fn stage<C: Conversation>(&self, _n: usize, conversation: &mut C) -> Result<(), OpError> {
        let (w, d) = (Value::Int(self.plan.warehouse), Value::Int(self.plan.district));
        ask(conversation, sql::NEXT_ORDER, &[w, d])
    }

    fn take<C: Conversation>(&mut self, _n: usize, conversation: &C, at: usize) -> bool {
        whole(conversation, at, 0, 0).map(|next| self.next = next).is_some()
    }
}

/// Orders that are looked at, from the newest on.
const LOOKED_AT: i64 = 20;

/// Items of the last orders of which there is little.
struct LowStock<'a> {
    plan: &'a Plan,
    next: i64,
    count: i64,
}

impl Phase for LowStock<'_> {
    fn count(&self) -> usize {
        1
    }

    fn stage<C: Conversation>(&self, _n: usize, conversation: &mut C) -> Result<(), OpError> {
        let arguments = [
            Value::Int(self.plan.warehouse),
            Value::Int(self.plan.district),
            Value::Int(self.next - LOOKED_AT),
            Value::Int(self.next),
            Value::Int(self.plan.threshold),
        ];
        ask(conversation, sql::LOW_STOCK, &arguments)
    }

    fn take<C: Conversation>(&mut self, _n: usize, conversation: &C, at: usize) -> bool {
        whole(conversation, at, 0, 0).map(|count| self.count = count).is_some()
    }
}
