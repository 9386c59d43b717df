//! Requests made concrete: every input of a transaction, drawn ahead of time.

use super::config::{Constants, DISTRICTS, LINES_MOST, OPERATIONS, TpccConfig};
use super::text::{LONGEST_NAME, Text, between, last_name};
use crate::Request;
use crate::distribution::NuRand;
use crate::users::NOBODY;
use std::fmt;
use units::{Rng, Seed};

/// Terminals of a warehouse: one for each of its districts.
pub(crate) const TERMINALS: u32 = DISTRICTS;

/// 2026-01-01 00:00:00 UTC in microseconds: when every data set was loaded.
pub(crate) const LOADED: i64 = 1_767_225_600_000_000;
/// When requests begin, a day later; request *n* is *n* microseconds after it.
const BEGUN: i64 = LOADED + 86_400_000_000;

/// The transactions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    NewOrder,
    Payment,
    OrderStatus,
    Delivery,
    StockLevel,
}

impl Kind {
    const ALL: [Kind; 5] =
        [Kind::NewOrder, Kind::Payment, Kind::OrderStatus, Kind::Delivery, Kind::StockLevel];

    fn of(request: Request) -> Kind {
        Kind::ALL[usize::from(request.op.0) % Kind::ALL.len()]
    }
}

/// How a customer says who he is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Who {
    Number(i64),
    Named(Text<LONGEST_NAME>),
}

/// A line of an order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    pub(crate) item: i64,
    pub(crate) supplier: i64,
    pub(crate) quantity: i64,
    /// The item is not there: the order is to be rolled back.
    pub(crate) is_unused: bool,
}

/// A transaction's inputs. Which of them mean something depends on its kind.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(crate) kind: Kind,
    pub(crate) warehouse: i64,
    pub(crate) district: i64,
    pub(crate) customer_warehouse: i64,
    pub(crate) customer_district: i64,
    pub(crate) who: Who,
    /// A payment, in cents.
    pub(crate) amount: i64,
    pub(crate) carrier: i64,
    pub(crate) threshold: i64,
    pub(crate) is_all_local: bool,
    /// Microseconds since 1970.
    pub(crate) when: i64,
    lines: [Line; LINES_MOST],
    line_count: usize,
    /// Indexes of the lines in the order in which their rows of stock are locked.
    locked: [u8; LINES_MOST],
}

impl Plan {
    pub(crate) fn new() -> Plan {
        let line = Line { item: 0, supplier: 0, quantity: 0, is_unused: false };
        Plan {
            kind: Kind::NewOrder,
            warehouse: 0,
            district: 0,
            customer_warehouse: 0,
            customer_district: 0,
            who: Who::Number(0),
            amount: 0,
            carrier: 0,
            threshold: 0,
            is_all_local: true,
            when: 0,
            lines: [line; LINES_MOST],
            line_count: 0,
            locked: [0; LINES_MOST],
        }
    }

    /// The order's lines, in the order in which the customer names them.
    pub(crate) fn lines(&self) -> &[Line] {
        &self.lines[..self.line_count]
    }

    /// Indexes of the lines whose items are there, in the order in which their rows of stock are locked.
    pub(crate) fn locked(&self) -> &[u8] {
        let unused = self.lines().last().is_some_and(|line| line.is_unused);
        &self.locked[..self.line_count - usize::from(unused)]
    }

    /// The customer's number where he gives it.
    pub(crate) fn number(&self) -> i64 {
        match self.who {
            Who::Number(number) => number,
            Who::Named(_) => 0,
        }
    }
}

impl fmt::Display for Plan {
    /// For tests and messages: everything that is sent.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (w, d) = (self.warehouse, self.district);
        write!(f, "{} at {w}", OPERATIONS[self.kind as usize])?;
        let customer = |f: &mut fmt::Formatter<'_>| match &self.who {
            Who::Number(number) => write!(f, " customer {number}"),
            Who::Named(name) => write!(f, " customer {}", name.as_str()),
        };
        match self.kind {
            Kind::NewOrder => {
                write!(f, "/{d}")?;
                customer(f)?;
                for line in self.lines() {
                    write!(f, " {}x{}@{}", line.quantity, line.item, line.supplier)?;
                }
                write!(f, " locked {:?}", self.locked())
            }
            Kind::Payment => {
                write!(f, "/{d}")?;
                customer(f)?;
                write!(f, " of {}/{} pays {}", self.customer_warehouse, self.customer_district, self.amount)
            }
            Kind::OrderStatus => {
                write!(f, "/{d}")?;
                customer(f)
            }
            Kind::Delivery => write!(f, " carrier {}", self.carrier),
            Kind::StockLevel => write!(f, "/{d} below {}", self.threshold),
        }
    }
}

/// What requests are drawn from.
#[derive(Debug)]
pub(crate) struct Draws {
    seed: Seed,
    names: NuRand,
    customers: NuRand,
    items: NuRand,
}

impl Draws {
    pub(crate) fn new(config: &TpccConfig, constants: Constants) -> Draws {
        let seed = config.seed.derive("tpcc/requests");
        Draws {
            // Clients that ask at the same time must not ask the same.
            seed: if config.client == 0 { seed } else { seed.derive(&format!("client {}", config.client)) },
            names: constants.last_names_of_run(config.last_names()),
            customers: constants.customers(config.customers),
            items: constants.items(config.items),
        }
    }

    /// Makes `request` concrete. Pure; allocates nothing.
    pub(crate) fn plan(&self, config: &TpccConfig, request: Request, plan: &mut Plan) {
        let mut rng = self.seed.at(request.seq);
        let rng = &mut rng;
        plan.kind = Kind::of(request);
        plan.when = BEGUN + request.seq as i64;
        plan.warehouse = home(config, request.user, rng);
        plan.district = between(rng, 1, DISTRICTS.into()) as i64;
        (plan.customer_warehouse, plan.customer_district) = (plan.warehouse, plan.district);
        match plan.kind {
            Kind::NewOrder => self.new_order(config, rng, plan),
            Kind::Payment => self.payment(config, rng, plan),
            Kind::OrderStatus => plan.who = self.who(rng),
            Kind::Delivery => plan.carrier = between(rng, 1, 10) as i64,
            Kind::StockLevel => {
                plan.threshold = between(rng, 10, 20) as i64;
                if request.user != NOBODY {
                    // A terminal always looks after the same district (2.8.1.1).
                    plan.district = i64::from(request.user % TERMINALS) + 1;
                }
            }
        }
    }

    fn new_order(&self, config: &TpccConfig, rng: &mut Rng, plan: &mut Plan) {
        plan.who = Who::Number(self.customers.draw(rng) as i64);
        let (least, most) = config.order_lines;
        plan.line_count = between(rng, least.into(), most.into()) as usize;
        plan.is_all_local = true;
        for index in 0..plan.line_count {
            let item = self.items.draw(rng) as i64;
            let is_remote = rng.unit() < config.remote.0;
            let supplier = if is_remote { another(config, plan.warehouse, rng) } else { plan.warehouse };
            // BenchBase calls a line remote that was to be, also where there is one warehouse alone.
            plan.is_all_local &= if config.benchbase { !is_remote } else { supplier == plan.warehouse };
            let quantity = between(rng, 1, 10) as i64;
            plan.lines[index] = Line { item, supplier, quantity, is_unused: false };
        }
        if rng.unit() < config.rollback {
            let last = &mut plan.lines[plan.line_count - 1];
            (last.item, last.is_unused) = (i64::from(config.items) + 1, true);
        }
        plan.order_locks(!config.benchbase);
    }

    fn payment(&self, config: &TpccConfig, rng: &mut Rng, plan: &mut Plan) {
        if rng.unit() < config.remote.1 && config.warehouses > 1 {
            plan.customer_warehouse = another(config, plan.warehouse, rng);
            plan.customer_district = between(rng, 1, DISTRICTS.into()) as i64;
        }
        plan.who = self.who(rng);
        plan.amount = between(rng, 100, 500_000) as i64;
    }

    /// 60 % say their last name, 40 % their number (2.5.1.2, 2.6.1.2).
    fn who(&self, rng: &mut Rng) -> Who {
        if rng.below(100) < 60 {
            Who::Named(last_name(self.names.draw(rng)))
        } else {
            Who::Number(self.customers.draw(rng) as i64)
        }
    }
}

impl Plan {
    /// Sorts the lines by supplier and item, so that two orders never wait for each other in a circle.
    fn order_locks(&mut self, is_sorted: bool) {
        for index in 0..self.line_count {
            self.locked[index] = index as u8;
        }
        let lines = &self.lines;
        let unused = lines[..self.line_count].last().is_some_and(|line| line.is_unused);
        let there = self.line_count - usize::from(unused);
        if is_sorted {
            let key = |index: &u8| {
                let line = &lines[usize::from(*index)];
                (line.supplier, line.item, *index)
            };
            self.locked[..there].sort_unstable_by_key(key);
        }
    }
}

/// The terminal's warehouse; any where nobody asks.
fn home(config: &TpccConfig, user: u32, rng: &mut Rng) -> i64 {
    // Drawn in any case, so that what follows does not depend on it.
    let drawn = between(rng, 1, config.warehouses.into()) as i64;
    if user == NOBODY { drawn } else { i64::from(user / TERMINALS % config.warehouses) + 1 }
}

/// Uniform among the other warehouses; the same where there is no other.
fn another(config: &TpccConfig, home: i64, rng: &mut Rng) -> i64 {
    if config.warehouses == 1 {
        return home;
    }
    let drawn = between(rng, 1, u64::from(config.warehouses) - 1) as i64;
    if drawn < home { drawn } else { drawn + 1 }
}
