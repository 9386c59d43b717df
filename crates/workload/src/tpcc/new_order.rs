//! New-Order (2.4): the next order of a district, its lines, and what they take from stock.

use super::config::{LINES_MOST, Roundtrips};
use super::phases::{Phase, ask, carry_out, give_up, money, text, unscaled, whole};
use super::plan::Plan;
use super::sql;
use super::text::{ORIGINAL, Text};
use driver::{Command, Conversation, OpError, Value};
use units::Outcome;

pub(crate) async fn run<C: Conversation>(
    roundtrips: Roundtrips,
    plan: &Plan,
    conversation: &mut C,
) -> Result<Outcome, OpError> {
    let mut reading = Reading::new(plan);
    if !carry_out(roundtrips, &mut reading, conversation).await? {
        return give_up(conversation).await;
    }
    reading.take_from_stock();
    // Everything but the line without an item is written before it is taken back (2.4.2.3).
    let (end, outcome) = if reading.is_unused_missing {
        (Command::Rollback, Outcome::Abort)
    } else {
        (Command::Commit, Outcome::Ok)
    };
    let mut writing = Writing { reading: &reading, end };
    carry_out(roundtrips, &mut writing, conversation).await?;
    std::hint::black_box(reading.shown());
    Ok(outcome)
}

/// What is known of a line once its item and its stock were read.
#[derive(Clone, Copy)]
struct Known {
    price: i64,
    /// In stock as read; after [`Reading::take_from_stock`], what is left.
    quantity: i64,
    is_item_original: bool,
    is_brand: bool,
    district_info: Text<24>,
}

/// Begin; warehouse, district, customer; items; stock, locked.
struct Reading<'a> {
    plan: &'a Plan,
    warehouse_tax: i64,
    district_tax: i64,
    discount: i64,
    order: i64,
    known: [Known; LINES_MOST],
    /// The item that is not there was really not there.
    is_unused_missing: bool,
}

const BEFORE_ITEMS: usize = 5;

impl<'a> Reading<'a> {
    fn new(plan: &'a Plan) -> Reading<'a> {
        let known = Known {
            price: 0,
            quantity: 0,
            is_item_original: false,
            is_brand: false,
            district_info: Text::EMPTY,
        };
        Reading {
            plan,
            warehouse_tax: 0,
            district_tax: 0,
            discount: 0,
            order: 0,
            known: [known; LINES_MOST],
            is_unused_missing: false,
        }
    }

    fn take_item<C: Conversation>(&mut self, line: usize, conversation: &C, at: usize) -> bool {
        let Some(price) = unscaled(conversation, at, 0) else {
            self.is_unused_missing |= self.plan.lines()[line].is_unused;
            return self.plan.lines()[line].is_unused;
        };
        self.known[line].price = price;
        self.known[line].is_item_original = text(conversation, at, 0, 2).contains(ORIGINAL);
        true
    }

    fn take_stock<C: Conversation>(&mut self, line: usize, conversation: &C, at: usize) -> bool {
        let Some(quantity) = whole(conversation, at, 0, 0) else { return false };
        let known = &mut self.known[line];
        known.quantity = quantity;
        known.district_info = Text::of(text(conversation, at, 0, 1));
        known.is_brand = known.is_item_original && text(conversation, at, 0, 2).contains(ORIGINAL);
        true
    }

    /// What is left of each item: 91 more come where it would be less than 10. A row that two lines of the order take from
    /// was read before either: the second goes on with what the first has left.
    fn take_from_stock(&mut self) {
        let locked = self.plan.locked();
        for (at, &index) in locked.iter().enumerate() {
            let line = self.plan.lines()[usize::from(index)];
            let is_same = |earlier: &&u8| {
                let earlier = self.plan.lines()[usize::from(**earlier)];
                (earlier.item, earlier.supplier) == (line.item, line.supplier)
            };
            let before = locked[..at].iter().rev().find(is_same).unwrap_or(&index);
            let quantity = self.known[usize::from(*before)].quantity;
            let is_enough = quantity >= line.quantity + 10;
            let left = if is_enough { quantity - line.quantity } else { quantity - line.quantity + 91 };
            self.known[usize::from(index)].quantity = left;
        }
    }

    fn amount(&self, line: usize) -> i64 {
        self.known[line].price * self.plan.lines()[line].quantity
    }

    /// What the terminal shows besides rows: the total in 10⁻¹⁰ of the currency, and the lines of a brand.
    fn shown(&self) -> (i128, usize) {
        let locked = self.plan.locked().iter().map(|index| usize::from(*index));
        let sum: i64 = locked.clone().map(|line| self.amount(line)).sum();
        let total = i128::from(sum)
            * i128::from(10_000 - self.discount)
            * i128::from(10_000 + self.warehouse_tax + self.district_tax);
        (total, locked.filter(|line| self.known[*line].is_brand).count())
    }
}

impl Phase for Reading<'_> {
    fn count(&self) -> usize {
        BEFORE_ITEMS + self.plan.lines().len() + self.plan.locked().len()
    }

    fn stage<C: Conversation>(&self, n: usize, conversation: &mut C) -> Result<(), OpError> {
        let plan = self.plan;
        let (w, d) = (Value::Int(plan.warehouse), Value::Int(plan.district));
        match n {
            0 => conversation.stage(Command::Begin),
            1 => ask(conversation, sql::WAREHOUSE_TAX, &[w]),
            2 => ask(conversation, sql::DISTRICT_NEXT, &[w, d]),
            3 => ask(conversation, sql::COUNT_ORDER, &[w, d]),
            4 => ask(conversation, sql::DISCOUNT, &[w, d, Value::Int(plan.number())]),
            _ => match plan.lines().get(n - BEFORE_ITEMS) {
                Some(line) => ask(conversation, sql::ITEM, &[Value::Int(line.item)]),
                None => {
                    let index = plan.locked()[n - BEFORE_ITEMS - plan.lines().len()];
                    let line = plan.lines()[usize::from(index)];
                    let row = [Value::Int(line.supplier), Value::Int(line.item)];
                    ask(conversation, sql::stock(plan.district), &row)
                }
            },
        }
    }

    fn take<C: Conversation>(&mut self, n: usize, conversation: &C, at: usize) -> bool {
        let rate = |column| unscaled(conversation, at, column);
        match n {
            0 => true,
            1 => rate(0).map(|tax| self.warehouse_tax = tax).is_some(),
            2 => {
                self.district_tax = rate(0).unwrap_or_default();
                whole(conversation, at, 0, 1).map(|order| self.order = order).is_some()
            }
            3 => conversation.reply(at).affected > 0,
            4 => rate(0).map(|discount| self.discount = discount).is_some(),
            _ if n < BEFORE_ITEMS + self.plan.lines().len() => {
                self.take_item(n - BEFORE_ITEMS, conversation, at)
            }
            _ => {
                let index = self.plan.locked()[n - BEFORE_ITEMS - self.plan.lines().len()];
                self.take_stock(usize::from(index), conversation, at)
            }
        }
    }
}

/// The order, its lines, what is left of the stock; the end.
struct Writing<'a> {
    reading: &'a Reading<'a>,
    end: Command<'static>,
}

impl Writing<'_> {
    fn stage_order<C: Conversation>(&self, conversation: &mut C) -> Result<(), OpError> {
        let plan = self.reading.plan;
        let arguments = [
            Value::Int(plan.warehouse),
            Value::Int(plan.district),
            Value::Int(self.reading.order),
            Value::Int(plan.number()),
            Value::Timestamp(plan.when),
            Value::Int(plan.lines().len() as i64),
            Value::Int(plan.is_all_local.into()),
        ];
        ask(conversation, sql::INSERT_ORDER, &arguments)
    }

    fn stage_stock<C: Conversation>(&self, line: usize, conversation: &mut C) -> Result<(), OpError> {
        let plan = self.reading.plan;
        let planned = plan.lines()[line];
        let arguments = [
            Value::Int(self.reading.known[line].quantity),
            Value::Int(planned.quantity),
            Value::Int((planned.supplier != plan.warehouse).into()),
            Value::Int(planned.supplier),
            Value::Int(planned.item),
        ];
        ask(conversation, sql::TAKE_STOCK, &arguments)
    }

    fn stage_line<C: Conversation>(&self, line: usize, conversation: &mut C) -> Result<(), OpError> {
        let plan = self.reading.plan;
        let planned = plan.lines()[line];
        let arguments = [
            Value::Int(plan.warehouse),
            Value::Int(plan.district),
            Value::Int(self.reading.order),
            Value::Int(line as i64 + 1),
            Value::Int(planned.item),
            Value::Int(planned.supplier),
            Value::Int(planned.quantity),
            money(self.reading.amount(line)),
            Value::Text(self.reading.known[line].district_info.as_str()),
        ];
        ask(conversation, sql::INSERT_LINE, &arguments)
    }
}

impl Phase for Writing<'_> {
    fn count(&self) -> usize {
        2 + 2 * self.reading.plan.locked().len() + 1
    }

    fn stage<C: Conversation>(&self, n: usize, conversation: &mut C) -> Result<(), OpError> {
        let plan = self.reading.plan;
        match n {
            0 => self.stage_order(conversation),
            1 => {
                let (w, d) = (Value::Int(plan.warehouse), Value::Int(plan.district));
                ask(conversation, sql::INSERT_NEW_ORDER, &[w, d, Value::Int(self.reading.order)])
            }
            _ => match plan.locked().get((n - 2) / 2) {
                Some(&index) if n.is_multiple_of(2) => self.stage_stock(index.into(), conversation),
                Some(&index) => self.stage_line(index.into(), conversation),
                None => conversation.stage(self.end),
            },
        }
    }

    fn take<C: Conversation>(&mut self, _n: usize, _conversation: &C, _at: usize) -> bool {
        true // every row that is changed was there when it was read, and is locked since
    }
}
