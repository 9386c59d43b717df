//! Delivery (2.7): the oldest order of each district that is not delivered yet, all ten in one transaction.
//!
//! Two deliveries of a warehouse want the same orders. Whoever deletes an order's row of `new_order` has it; the other
//! waits, finds that nothing was deleted, and looks again. That is part of the transaction and no retry of it: nothing
//! was written in vain. Where the isolation level forbids to look again, the database refuses, and the refusal is told.

use super::config::{DISTRICTS, Roundtrips};
use super::phases::{Phase, ask, carry_out, give_up, money, unscaled, whole};
use super::plan::Plan;
use super::sql;
use driver::{Command, Conversation, OpError, Value};
use std::sync::atomic::{AtomicU64, Ordering};
use units::Outcome;

/// What deliveries have counted.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) delivered: AtomicU64,
    pub(crate) skipped: AtomicU64,
}

/// How often one delivery looks for an order that others took from it.
const LOOKS_MOST: u32 = 100;

pub(crate) async fn run<C: Conversation>(
    roundtrips: Roundtrips,
    plan: &Plan,
    counts: &Counts,
    conversation: &mut C,
) -> Result<Outcome, OpError> {
    let mut oldest = Oldest { plan, districts: [District::Unknown; COUNT] };
    if !carry_out(roundtrips, &mut oldest, conversation).await? {
        return give_up(conversation).await;
    }
    let mut districts = oldest.districts;
    claim(roundtrips, plan, &mut districts, conversation).await?;
    let mut orders = Orders::new(plan, &districts);
    if !carry_out(roundtrips, &mut orders, conversation).await? {
        return give_up(conversation).await;
    }
    if !carry_out(roundtrips, &mut Credits { orders: &orders }, conversation).await? {
        return give_up(conversation).await;
    }
    // Relaxed: read after the run, when its threads have ended.
    let skipped = Chosen::of(&districts, |district| district == District::Empty).count;
    counts.delivered.fetch_add(orders.chosen.count as u64, Ordering::Relaxed);
    counts.skipped.fetch_add(skipped as u64, Ordering::Relaxed);
    Ok(Outcome::Ok)
}

/// Takes the orders that were seen; where another delivery was first, the next one.
async fn claim<C: Conversation>(
    roundtrips: Roundtrips,
    plan: &Plan,
    districts: &mut [District; COUNT],
    conversation: &mut C,
) -> Result<(), OpError> {
    for _ in 0..LOOKS_MOST {
        let seen = Chosen::of(districts, |district| matches!(district, District::Seen(_)));
        if seen.count > 0 {
            let mut claims = Claims { plan, chosen: seen, districts };
            carry_out(roundtrips, &mut claims, conversation).await?;
        }
        let lost = Chosen::of(districts, |district| district == District::Lost);
        if lost.count == 0 {
            return Ok(());
        }
        carry_out(roundtrips, &mut Again { plan, chosen: lost, districts }, conversation).await?;
    }
    Err(OpError::refused(Outcome::Serialization))
}

/// What is known of a district.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum District {
    /// Nothing: its row did not come.
    Unknown,
    /// It has no order to deliver.
    Empty,
    /// Its oldest order, as it was seen.
    Seen(i64),
    /// The order that was seen was taken by another delivery.
    Lost,
    /// The order is this delivery's.
    Ours(i64),
}

const COUNT: usize = DISTRICTS as usize;

/// Some of the districts, as indexes.
#[derive(Clone, Copy)]
struct Chosen {
    indexes: [u8; COUNT],
    count: usize,
}

impl Chosen {
    fn of(districts: &[District; COUNT], is_such: impl Fn(District) -> bool) -> Chosen {
        let mut chosen = Chosen { indexes: [0; COUNT], count: 0 };
        for (index, district) in districts.iter().enumerate() {
            if is_such(*district) {
                chosen.indexes[chosen.count] = index as u8;
                chosen.count += 1;
            }
        }
        chosen
    }

    fn index(&self, n: usize) -> usize {
        self.indexes[n].into()
    }
}

fn key(plan: &Plan, index: usize) -> [Value<'static>; 2] {
    [Value::Int(plan.warehouse), Value::Int(index as i64 + 1)]
}

/// Begin; the oldest order of each district.
struct Oldest<'a> {
    plan: &'a Plan,
    districts: [District; COUNT],
}

impl Phase for Oldest<'_> {
    fn count(&self) -> usize {
        2
    }

    fn stage<C: Conversation>(&self, n: usize, conversation: &mut C) -> Result<(), OpError> {
        match n {
            0 => conversation.stage(Command::Begin),
            _ => ask(conversation, sql::OLDEST, &[Value::Int(self.plan.warehouse)]),
        }
    }

    fn take<C: Conversation>(&mut self, n: usize, conversation: &C, at: usize) -> bool {
        if n == 0 {
            return true;
        }
        let rows = conversation.reply(at).rows as usize;
        for (row, district) in self.districts.iter_mut().enumerate().take(rows) {
            *district = whole(conversation, at, row, 1).map_or(District::Empty, District::Seen);
        }
        rows > 0
    }
}

/// Takes the orders that were seen.
struct Claims<'a> {
    plan: &'a Plan,
    chosen: Chosen,
    districts: &'a mut [District; COUNT],
}

impl Phase for Claims<'_> {
    fn count(&self) -> usize {
        self.chosen.count
    }

    fn stage<C: Conversation>(&self, n: usize, conversation: &mut C) -> Result<(), OpError> {
        let index = self.chosen.index(n);
        let District::Seen(order) = self.districts[index] else { return Ok(()) };
        let [w, d] = key(self.plan, index);
        ask(conversation, sql::CLAIM, &[w, d, Value::Int(order)])
    }

    fn take<C: Conversation>(&mut self, n: usize, conversation: &C, at: usize) -> bool {
        let district = &mut self.districts[self.chosen.index(n)];
        if let District::Seen(order) = *district {
            let is_ours = conversation.reply(at).affected > 0;
            *district = if is_ours { District::Ours(order) } else { District::Lost };
        }
        true
    }
}

/// Looks for the oldest order again where others were first, and locks it. A plain read would not do: in MariaDB's snapshot
/// it sees what is gone.
struct Again<'a> {
    plan: &'a Plan,
    chosen: Chosen,
    districts: &'a mut [District; COUNT],
}

impl Phase for Again<'_> {
    fn count(&self) -> usize {
        self.chosen.count
    }

    fn stage<C: Conversation>(&self, n: usize, conversation: &mut C) -> Result<(), OpError> {
        ask(conversation, sql::OLDEST_LOCKED, &key(self.plan, self.chosen.index(n)))
    }

    fn take<C: Conversation>(&mut self, n: usize, conversation: &C, at: usize) -> bool {
        let found = whole(conversation, at, 0, 0);
        self.districts[self.chosen.index(n)] = found.map_or(District::Empty, District::Seen);
        true
    }
}

/// An order that is this delivery's.
#[derive(Clone, Copy, Default)]
struct Order {
    number: i64,
    customer: i64,
    amount: i64,
}

/// Who ordered; carrier and date; what it costs.
struct Orders<'a> {
    plan: &'a Plan,
    chosen: Chosen,
    orders: [Order; COUNT],
}

/// Commands for each order.
const STEPS: usize = 4;

impl<'a> Orders<'a> {
    fn new(plan: &'a Plan, districts: &[District; COUNT]) -> Orders<'a> {
        let chosen = Chosen::of(districts, |district| matches!(district, District::Ours(_)));
        let mut orders = [Order::default(); COUNT];
        for (order, district) in orders.iter_mut().zip(districts) {
            if let District::Ours(number) = *district {
                order.number = number;
            }
        }
        Orders { plan, chosen, orders }
    }
}

impl Phase for Orders<'_> {
    fn count(&self) -> usize {
        STEPS * self.chosen.count
    }

    fn stage<C: Conversation>(&self, n: usize, conversation: &mut C) -> Result<(), OpError> {
        let index = self.chosen.index(n / STEPS);
        let [w, d] = key(self.plan, index);
        let o = Value::Int(self.orders[index].number);
        match n % STEPS {
            0 => ask(conversation, sql::ORDERED_BY, &[w, d, o]),
            1 => ask(conversation, sql::SET_CARRIER, &[Value::Int(self.plan.carrier), w, d, o]),
            2 => ask(conversation, sql::SET_DELIVERED, &[Value::Timestamp(self.plan.when), w, d, o]),
            _ => ask(conversation, sql::AMOUNT, &[w, d, o]),
        }
    }

    fn take<C: Conversation>(&mut self, n: usize, conversation: &C, at: usize) -> bool {
        let order = &mut self.orders[self.chosen.index(n / STEPS)];
        match n % STEPS {
            0 => whole(conversation, at, 0, 0).map(|customer| order.customer = customer).is_some(),
            1 | 2 => conversation.reply(at).affected > 0,
            _ => unscaled(conversation, at, 0).map(|amount| order.amount = amount).is_some(),
        }
    }
}

/// The customers' accounts; the end.
struct Credits<'a> {
    orders: &'a Orders<'a>,
}

impl Phase for Credits<'_> {
    fn count(&self) -> usize {
        self.orders.chosen.count + 1
    }

    fn stage<C: Conversation>(&self, n: usize, conversation: &mut C) -> Result<(), OpError> {
        if n == self.orders.chosen.count {
            return conversation.stage(Command::Commit);
        }
        let index = self.orders.chosen.index(n);
        let order = self.orders.orders[index];
        let [w, d] = key(self.orders.plan, index);
        ask(conversation, sql::CREDIT, &[money(order.amount), w, d, Value::Int(order.customer)])
    }

    fn take<C: Conversation>(&mut self, n: usize, conversation: &C, at: usize) -> bool {
        n == self.orders.chosen.count || conversation.reply(at).affected > 0
    }
}
