//! Workloads that users write in a file, without a line of Rust.
//!
//! A file has weighted transactions of parameterised SQL, generators of their values, a data set and checks;
//! `docs/custom-workloads.md` is the reference of its format. It is read once, ahead of any connection, so that nothing is
//! changed in a database by a file that is wrong; every error is one line that says where.
//!
//! ```text
//!  text ──read──► Definition ──parameters, scale, seed──► Program: draws, statements by dialect, batches
//!                                                        Data:    tables in parts, columns drawn by row number
//! ```
//!
//! Drawing is part of planning: ahead of the intended start, into memory that was there before, a pure function of the
//! seed, the value's name and the request's number. Only `draw = "now"` reads a clock.
//!
//! Rejected: an embedded scripting language (an interpreter between intended and sent, and a language to learn), one
//! statement of SQL in a file for each transaction (no place for what is drawn), YAML.
//!
//! ```
//! use workload::Workload;
//! let text = r#"
//! [values]
//! key = { draw = "zipf", from = 1, to = 1000 }
//! [[transaction]]
//! name = "read"
//! sql = "SELECT balance FROM account WHERE id = :key"
//! expect = "row"
//! "#;
//! let workload = workload_file::FileWorkload::from_text("bank.toml", text, &Default::default()).unwrap();
//! let statements = workload.statements(driver::Dialect::Postgres).unwrap();
//! assert_eq!(statements[0].sql, "SELECT balance FROM account WHERE id = $1");
//! ```
#![deny(missing_docs)]

mod dataset;
mod definition;
mod document;
mod draw;
mod expression;
mod open;
mod parameters;
mod program;
mod read;
mod run;
mod sql;

pub use run::Plan;

use dataset::Data;
use definition::Definition;
use draw::Position;
use driver::{Administration, Conversation, Dialect, OpError, StatementSpec};
use expression::{Found, Scope};
use open::Opened;
use program::{Program, RUN_IN};
use run::Running;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use units::{Outcome, Seed};
use workload::dataset::DataSet;
use workload::{OpId, Operation, Request, Tickets, Workload, WorkloadFacts};

/// What a run chooses of a workload.
#[derive(Clone, PartialEq, Debug)]
pub struct Choice {
    /// `--scale`, which expressions call `scale`.
    pub scale: f64,
    /// The seed of all values.
    pub seed: Seed,
    /// Parameters that are set otherwise than in the file: (name, value).
    pub parameters: Vec<(String, String)>,
    /// This client's number, and how many make the load: their sequences go side by side.
    pub client: (u16, u16),
}

impl Default for Choice {
    fn default() -> Choice {
        Choice { scale: 1.0, seed: Seed(1), parameters: Vec::new(), client: (0, 1) }
    }
}

/// A workload out of a file.
pub struct FileWorkload {
    opened: Opened,
    definition: Definition,
    choice: Choice,
    name: String,
    operations: Vec<Operation>,
    scope: Scope,
    data: Option<Data>,
    program: Program,
    /// Place in [`RUN_IN`] of the dialect that statements were last asked for. Relaxed: it is set before any session is
    /// connected, and starting a thread makes it seen there.
    dialect: AtomicUsize,
}

impl FileWorkload {
    /// A workload from the text of a file that refers to no other.
    ///
    /// # Errors
    /// One line: where, what, and the nearest valid name.
    pub fn from_text(file: &str, text: &str, choice: &Choice) -> Result<FileWorkload, String> {
        let mut none = |_: &str| Err("can't be read here".to_owned());
        FileWorkload::build(Opened::from_text(file, text), choice, &mut none)
    }

    /// A workload from a file, and those beside it that it refers to.
    ///
    /// # Errors
    /// As [`FileWorkload::from_text`], or why a file can't be read.
    pub fn open(path: &std::path::Path, choice: &Choice) -> Result<FileWorkload, String> {
        let opened = Opened::read(path)?;
        let mut read = open::beside(path);
        FileWorkload::build(opened, choice, &mut read)
    }

    fn build(
        mut opened: Opened,
        choice: &Choice,
        files: &mut read::Files<'_>,
    ) -> Result<FileWorkload, String> {
        let mut referred = Vec::new();
        let mut note = |name: &str| {
            let text = files(name)?;
            if !referred.iter().any(|(known, _)| known == name) {
                referred.push((name.to_owned(), text.clone()));
            }
            Ok(text)
        };
        let mut definition = read::definition(&opened.text, &mut note)?;
        opened.files = referred;
        let name = opened.name_of(&definition)?;
        parameters::set(&mut definition.parameters, &choice.parameters)?;
        let mut scope = parameters::scope(&definition.parameters, choice.scale);
        let data = Data::of(&definition, &name, choice, &mut scope)?;
        let unknown = looked_up(&definition).into_iter().any(|found| !scope.found.contains_key(&found));
        scope.stand_in = unknown.then_some(STAND_IN);
        let program = parameters::program(&definition, &scope, choice)?;
        dataset::check_scripts(&definition, &scope)?;
        let operation = |t: &definition::TransactionDefinition| Operation {
            name: open::for_ever(&t.name),
            weight: t.weight,
        };
        let operations = definition.transactions.iter().map(operation).collect();
        let dialect = AtomicUsize::new(RUN_IN.len() - 1);
        let choice = choice.clone();
        Ok(FileWorkload { opened, definition, choice, name, operations, scope, data, program, dialect })
    }

    /// What may be meant otherwise, in a line each.
    pub fn notes(&self) -> Vec<String> {
        self.program.unused.clone()
    }

    /// Whether several clients on one database would insert the same keys unless they know how many they are.
    pub fn has_sequences(&self) -> bool {
        self.program.transactions.iter().any(|transaction| transaction.list.has_sequence())
    }

    /// What its values look up in the database.
    fn wanted(&self) -> Vec<Found> {
        let own = self.definition.transactions.iter().flat_map(|t| &t.values);
        let mut wanted = Vec::new();
        for value in self.definition.values.iter().chain(own) {
            draw::finds(value, &mut |found| wanted.push(found.clone()));
        }
        wanted
    }

    /// A planned request in one line, for tests and for looking at a schedule.
    pub fn show(&self, plan: &Plan) -> String {
        let transaction = &self.program.transactions[plan.transaction];
        let mut line = self.operations[plan.transaction].name.to_owned();
        for (index, draw) in transaction.list.draws.iter().enumerate() {
            let value = match transaction.list.value(&plan.drawn, index) {
                driver::Value::Text(text) => text.to_owned(),
                driver::Value::Int(n) => n.to_string(),
                driver::Value::Float(x) => x.to_string(),
                driver::Value::Decimal(decimal) => decimal.to_string(),
                driver::Value::Timestamp(micros) => format!("{micros} µs"),
                driver::Value::Null => "NULL".to_owned(),
            };
            line += &format!(" {}={value}", draw.name);
        }
        line
    }
}

/// In place of what is looked up in the database, before it is.
const STAND_IN: i64 = 1 << 40;

/// What the numbers of the values look up, sequences aside, which may begin where the file says.
fn looked_up(definition: &Definition) -> Vec<Found> {
    let mut all = Vec::new();
    for value in definition.values.iter().chain(definition.transactions.iter().flat_map(|t| &t.values)) {
        draw::amounts(value, &mut |expression| expression.finds(&mut |found| all.push(found.clone())));
    }
    all
}

/// The ticket is the number of requests before that took a value of a sequence.
struct SequenceTickets {
    takes: Vec<bool>,
    taken: u64,
}

impl Tickets for SequenceTickets {
    fn next(&mut self, _seq: u64, op: OpId) -> u64 {
        let before = self.taken;
        self.taken += u64::from(self.takes[usize::from(op.0)]);
        before
    }
}

impl Workload for FileWorkload {
    type Plan = Plan;

    fn facts(&self) -> WorkloadFacts {
        let mut parameters = self.opened.facts();
        parameters.extend(parameters::facts(&self.definition.parameters));
        let wanted = self.wanted();
        let found = self.scope.found.iter().filter(|(found, _)| wanted.contains(found));
        parameters.extend(found.map(|(found, value)| (found.to_string(), value.to_string())));
        WorkloadFacts { name: self.name.clone(), scale: self.choice.scale, parameters }
    }

    fn operations(&self) -> Vec<Operation> {
        self.operations.clone()
    }

    fn statements(&self, dialect: Dialect) -> Result<Vec<StatementSpec>, String> {
        let Some(place) = RUN_IN.iter().position(|known| *known == dialect) else {
            return Err("its transactions are SQL, and this target has key-value commands only".to_owned());
        };
        if !dialect.is_sql() && self.scope.stand_in.is_some() {
            return Err(
                "it looks numbers up in a database (rows, highest), and there is none here".to_owned()
            );
        }
        let courses = self.program.dialects[place].as_ref().map_err(Clone::clone)?;
        self.dialect.store(place, Ordering::Relaxed);
        Ok(courses.statements.clone())
    }

    fn tickets(&self) -> Box<dyn Tickets> {
        let takes = self.program.transactions.iter().map(|t| t.list.has_sequence()).collect();
        Box::new(SequenceTickets { takes, taken: 0 })
    }

    fn new_plan(&self) -> Plan {
        let most = |of: &dyn Fn(&program::Transaction) -> usize| {
            self.program.transactions.iter().map(of).max().unwrap_or(0)
        };
        Plan::with_room(most(&|t| t.list.draws.len()), most(&|t| t.list.text_most()), most(&|t| t.kept))
    }

    fn plan(&self, request: Request, plan: &mut Plan) {
        plan.transaction = usize::from(request.op.0);
        let list = &self.program.transactions[plan.transaction].list;
        list.draw(Position { index: request.seq, ticket: request.ticket }, &mut plan.drawn);
    }

    async fn run<C: Conversation>(&self, plan: &Plan, conversation: &mut C) -> Result<Outcome, OpError> {
        let place = self.dialect.load(Ordering::Relaxed);
        let Ok(courses) = &self.program.dialects[place] else {
            unreachable!("sessions are connected with the statements of a dialect that there is")
        };
        let transaction = &self.program.transactions[plan.transaction];
        Running { transaction, course: &courses.courses[plan.transaction], plan }.run(conversation).await
    }

    fn files(&self) -> Vec<(String, String)> {
        self.opened.all()
    }

    fn dataset(&self) -> Option<&dyn DataSet> {
        self.data.as_ref().map(|data| data as &dyn DataSet)
    }

    fn observe(&mut self, administration: &mut dyn Administration) -> Result<(), String> {
        let mut found = BTreeMap::new();
        for what in self.wanted() {
            if !found.contains_key(&what)
                && let Some(value) = open::look_up(administration, &what)?
            {
                found.insert(what, value);
            }
        }
        self.scope.found.extend(found);
        self.scope.stand_in = None;
        self.program = parameters::program(&self.definition, &self.scope, &self.choice)?;
        Ok(())
    }
}
