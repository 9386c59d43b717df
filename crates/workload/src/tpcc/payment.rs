//! Payment (2.5): what a customer pays, on the accounts of warehouse, district and customer.

use super::config::Roundtrips;
use super::phases::{Phase, ask, carry_out, give_up, middle, money, text, unscaled, whole};
use super::plan::{Plan, Who};
use super::sql;
use super::text::Text;
use driver::{Command, Conversation, OpError, Value};
use units::Outcome;

pub(crate) async fn run<C: Conversation>(
    roundtrips: Roundtrips,
    plan: &Plan,
    conversation: &mut C,
) -> Result<Outcome, OpError> {
    let mut accounts = Accounts {
        plan,
        customer: 0,
        has_bad_credit: false,
        warehouse_name: Text::EMPTY,
        district_name: Text::EMPTY,
    };
    if !carry_out(roundtrips, &mut accounts, conversation).await? {
        return give_up(conversation).await;
    }
    let mut balance = Balance { accounts: &accounts, data: Text::EMPTY, shown: 0 };
    if !carry_out(roundtrips, &mut balance, conversation).await? {
        return give_up(conversation).await;
    }
    std::hint::black_box(balance.shown);
    if accounts.has_bad_credit {
        let mut data = Data { accounts: &accounts, data: accounts.noted(&balance.data) };
        carry_out(roundtrips, &mut data, conversation).await?;
    }
    Ok(Outcome::Ok)
}

/// Begin; warehouse and district are paid and read; the customer is found.
struct Accounts<'a> {
    plan: &'a Plan,
    customer: i64,
    has_bad_credit: bool,
    warehouse_name: Text<10>,
    district_name: Text<10>,
}

impl Accounts<'_> {
    fn customer_key(&self) -> [Value<'static>; 3] {
        let (w, d) = (self.plan.customer_warehouse, self.plan.customer_district);
        [Value::Int(w), Value::Int(d), Value::Int(self.customer)]
    }

    /// What is known of a customer with bad credit, with this payment before it, cut at 500 characters (2.5.2.2).
    fn noted(&self, data: &Text<500>) -> Text<500> {
        let plan = self.plan;
        let mut noted = Text::EMPTY;
        let numbers =
            [self.customer, plan.customer_district, plan.customer_warehouse, plan.district, plan.warehouse];
        for number in numbers {
            noted.push_number(number.unsigned_abs());
            noted.push(" ");
        }
        noted.push_number((plan.amount / 100).unsigned_abs());
        noted.push(if plan.amount % 100 < 10 { ".0" } else { "." });
        noted.push_number((plan.amount % 100).unsigned_abs());
        noted.push(" | ");
        noted.push(data.as_str());
        noted
    }

    fn stage_history<C: Conversation>(&self, conversation: &mut C) -> Result<(), OpError> {
        let plan = self.plan;
        let mut data: Text<24> = Text::of(self.warehouse_name.as_str());
        data.push("    ");
        data.push(self.district_name.as_str());
        let arguments = [
            Value::Int(self.customer),
            Value::Int(plan.customer_district),
            Value::Int(plan.customer_warehouse),
            Value::Int(plan.district),
            Value::Int(plan.warehouse),
            Value::Timestamp(plan.when),
            money(plan.amount),
            Value::Text(data.as_str()),
        ];
        ask(conversation, sql::INSERT_HISTORY, &arguments)
    }
}

impl Phase for Accounts<'_> {
    fn count(&self) -> usize {
        6
    }

    fn stage<C: Conversation>(&self, n: usize, conversation: &mut C) -> Result<(), OpError> {
        let plan = self.plan;
        let (w, d) = (Value::Int(plan.warehouse), Value::Int(plan.district));
        let [customer_w, customer_d, _] = self.customer_key();
        match n {
            0 => conversation.stage(Command::Begin),
            1 => ask(conversation, sql::PAY_WAREHOUSE, &[money(plan.amount), w]),
            2 => ask(conversation, sql::WAREHOUSE, &[w]),
            3 => ask(conversation, sql::PAY_DISTRICT, &[money(plan.amount), w, d]),
            4 => ask(conversation, sql::DISTRICT, &[w, d]),
            _ => match &plan.who {
                Who::Number(number) => {
                    ask(conversation, sql::CUSTOMER, &[customer_w, customer_d, Value::Int(*number)])
                }
                Who::Named(name) => {
                    let named = [customer_w, customer_d, Value::Text(name.as_str())];
                    ask(conversation, sql::CUSTOMERS_NAMED, &named)
                }
            },
        }
    }

    fn take<C: Conversation>(&mut self, n: usize, conversation: &C, at: usize) -> bool {
        let reply = conversation.reply(at);
        match n {
            0 => return true,
            2 => self.warehouse_name = Text::of(text(conversation, at, 0, 0)),
            4 => self.district_name = Text::of(text(conversation, at, 0, 0)),
            5 => {
                let row = middle(reply.rows);
                let Some(customer) = whole(conversation, at, row, 0) else { return false };
                self.customer = customer;
                self.has_bad_credit = text(conversation, at, row, 1) == "BC";
            }
            _ => {}
        }
        reply.touched()
    }
}

/// The customer is paid and read; where credit is good, history and the end.
struct Balance<'a> {
    accounts: &'a Accounts<'a>,
    data: Text<500>,
    shown: i64,
}

impl Phase for Balance<'_> {
    fn count(&self) -> usize {
        if self.accounts.has_bad_credit { 2 } else { 4 }
    }

    fn stage<C: Conversation>(&self, n: usize, conversation: &mut C) -> Result<(), OpError> {
        let amount = money(self.accounts.plan.amount);
        let key = self.accounts.customer_key();
        let [w, d, c] = key;
        match n {
            0 => ask(conversation, sql::PAY_CUSTOMER, &[amount, amount, w, d, c]),
            1 if self.accounts.has_bad_credit => ask(conversation, sql::BALANCE_AND_DATA, &key),
            1 => ask(conversation, sql::BALANCE, &key),
            2 => self.accounts.stage_history(conversation),
            _ => conversation.stage(Command::Commit),
        }
    }

    fn take<C: Conversation>(&mut self, n: usize, conversation: &C, at: usize) -> bool {
        match n {
            0 => conversation.reply(at).affected > 0,
            1 => {
                if self.accounts.has_bad_credit {
                    self.data = Text::of(text(conversation, at, 0, 1));
                }
                unscaled(conversation, at, 0).map(|balance| self.shown = balance).is_some()
            }
            _ => true,
        }
    }
}

/// Where credit is bad: what is known of the customer, history, the end.
struct Data<'a> {
    accounts: &'a Accounts<'a>,
    data: Text<500>,
}

impl Phase for Data<'_> {
    fn count(&self) -> usize {
        3
    }

    fn stage<C: Conversation>(&self, n: usize, conversation: &mut C) -> Result<(), OpError> {
        match n {
            0 => {
                let [w, d, c] = self.accounts.customer_key();
                ask(conversation, sql::SET_DATA, &[Value::Text(self.data.as_str()), w, d, c])
            }
            1 => self.accounts.stage_history(conversation),
            _ => conversation.stage(Command::Commit),
        }
    }

    fn take<C: Conversation>(&mut self, _n: usize, _conversation: &C, _at: usize) -> bool {
        true // the row is locked since it was paid
    }
}
