//! Transactions as they are carried out: what is drawn, what is staged together, and what is looked at in the answers.

use crate::definition::*;
use crate::document::shown;
use crate::draw::{Compiler, DrawList};
use crate::sql::{self, Piece};
use driver::{Dialect, Isolation, StatementSpec, ValueType};
use workload::names;

/// Where a statement's argument comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Source {
    /// A place in the transaction's drawn values.
    Drawn(usize),
    /// A place in the values that it has kept.
    Kept(usize),
}

/// A statement to stage, and what is asked of its answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Step {
    pub(crate) statement: usize,
    pub(crate) arguments: Vec<Source>,
    pub(crate) expect: Expect,
    pub(crate) abort_if_empty: bool,
    /// Kept values that its row's columns go to: so many from this one on.
    pub(crate) keeps: (usize, usize),
}

impl Step {
    /// Whether its answer decides if the transaction goes on.
    pub(crate) fn decides(&self) -> bool {
        self.expect != Expect::Any || self.abort_if_empty
    }
}

/// One transaction in one dialect.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Course {
    /// Statement that sets the isolation level, before the transaction begins or after.
    pub(crate) before_begin: Option<usize>,
    pub(crate) after_begin: Option<usize>,
    /// Steps that are staged together: an exchange each.
    pub(crate) batches: Vec<Vec<Step>>,
}

/// All transactions in one dialect.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Courses {
    pub(crate) statements: Vec<StatementSpec>,
    pub(crate) courses: Vec<Course>,
}

/// What of a transaction is the same in all dialects.
#[derive(Debug)]
pub(crate) struct Transaction {
    pub(crate) list: DrawList,
    /// Begun and committed.
    pub(crate) is_bounded: bool,
    /// Values that its rows leave.
    pub(crate) kept: usize,
}

/// The dialects that a workload may be asked for.
pub(crate) const RUN_IN: [Dialect; 5] =
    [Dialect::Postgres, Dialect::MySql, Dialect::Sqlite, Dialect::DuckDb, Dialect::Null];

/// A file's transactions, ready.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) transactions: Vec<Transaction>,
    /// For each of [`RUN_IN`]: the courses, or why there are none.
    pub(crate) dialects: Vec<Result<Courses, String>>,
    /// Values that nothing uses.
    pub(crate) unused: Vec<String>,
}

/// Most parameters of a statement.
pub(crate) const ARGUMENTS_MOST: usize = 128;

/// What stands for `{…}` in SQL.
pub(crate) type Brace<'a> = dyn Fn(&str, Dialect) -> Result<String, String> + 'a;

/// Makes the program. `constants` are the parameters as values.
pub(crate) fn program(
    definition: &Definition,
    constants: &[ValueDefinition],
    compiler: &Compiler<'_>,
    brace: &Brace<'_>,
) -> Result<Program, String> {
    let shared = &definition.values;
    for value in shared.iter().chain(definition.transactions.iter().flat_map(|t| &t.values)) {
        if constants.iter().any(|constant| constant.name == value.name) {
            return Err(value.place.error("is a parameter, too; name one of them otherwise"));
        }
    }
    let mut makers = Vec::new();
    for transaction in &definition.transactions {
        makers.push(Maker::new(transaction, shared, constants)?);
    }
    let mut transactions = Vec::new();
    let mut lists = Vec::new();
    for maker in &makers {
        let own = Compiler { seed: maker.seed(compiler), ..*compiler };
        let wanted: Vec<&str> = maker.wanted.iter().map(String::as_str).collect();
        let list = own.list(&maker.values, &wanted)?;
        lists.push(list.clone());
        transactions.push(Transaction { list, is_bounded: maker.is_bounded()?, kept: maker.kept.len() });
    }
    // Unused values must be sound all the same.
    shared.iter().try_for_each(|value| compiler.draw(value).map(drop))?;
    for transaction in &definition.transactions {
        transaction.values.iter().try_for_each(|value| compiler.draw(value).map(drop))?;
    }
    let mut dialects = Vec::new();
    for dialect in RUN_IN {
        let steps = definition.transactions.iter().flat_map(|t| &t.steps);
        let lacks = steps.map(|step| step.sql.require(dialect)).find_map(Result::err);
        let lacks = lacks.or_else(|| makers.iter().find_map(|maker| maker.require(dialect).err()));
        dialects.push(match lacks {
            Some(reason) => Err(reason),
            None => {
                let mut courses = Courses::default();
                for (maker, list) in makers.iter().zip(&lists) {
                    let course = maker.course(list, dialect, brace, &mut courses.statements)?;
                    courses.courses.push(course);
                }
                Ok(courses)
            }
        });
    }
    if dialects.iter().all(Result::is_err) {
        return Err(dialects.into_iter().find_map(Result::err).unwrap_or_default());
    }
    Ok(Program { transactions, dialects, unused: unused(definition, &lists) })
}

fn unused(definition: &Definition, lists: &[DrawList]) -> Vec<String> {
    let is_used = |list: &DrawList, name: &str| list.draws.iter().any(|draw| draw.name == name);
    let shared = definition.values.iter().filter(|v| !lists.iter().any(|list| is_used(list, &v.name)));
    let own = definition.transactions.iter().zip(lists).flat_map(|(transaction, list)| {
        transaction.values.iter().filter(move |value| !is_used(list, &value.name))
    });
    shared.chain(own).map(|value| value.place.error("no statement uses it")).collect()
}

/// A value of a kept row.
struct KeptColumn<'a> {
    row: &'a str,
    column: &'a str,
    value_type: ValueType,
    step: usize,
}

/// Makes one transaction.
struct Maker<'a> {
    transaction: &'a TransactionDefinition,
    /// All values that its statements may name.
    values: Vec<&'a ValueDefinition>,
    kept: Vec<KeptColumn<'a>>,
    /// Values that its statements name in any dialect, in the order of their first use.
    wanted: Vec<String>,
    /// For each step, the last step whose kept row it uses.
    depends: Vec<Option<usize>>,
}

impl<'a> Maker<'a> {
    fn new(
        transaction: &'a TransactionDefinition,
        shared: &'a [ValueDefinition],
        constants: &'a [ValueDefinition],
    ) -> Result<Maker<'a>, String> {
        let twice = transaction.values.iter().find(|own| shared.iter().any(|value| value.name == own.name));
        if let Some(value) = twice {
            return Err(value
                .place
                .error("is among the [values] of all transactions, too; name one otherwise"));
        }
        let mut kept: Vec<KeptColumn<'a>> = Vec::new();
        for (step, definition) in transaction.steps.iter().enumerate() {
            let Some((row, columns)) = &definition.keep else { continue };
            if kept.iter().any(|column| column.row == row) {
                return Err(definition
                    .place
                    .error(format!("a row `{row}` is kept already; name it otherwise")));
            }
            kept.extend(columns.iter().map(|(column, value_type)| KeptColumn {
                row,
                column,
                value_type: *value_type,
                step,
            }));
        }
        let values = transaction.values.iter().chain(shared).chain(constants).collect();
        let mut maker = Maker { transaction, values, kept, wanted: Vec::new(), depends: Vec::new() };
        for (index, step) in transaction.steps.iter().enumerate() {
            let depends = maker.see_names(index, step)?;
            maker.depends.push(depends);
        }
        Ok(maker)
    }

    fn see_names(&mut self, index: usize, step: &StepDefinition) -> Result<Option<usize>, String> {
        let mut depends = None;
        for (sql, dialect) in step.sql.all() {
            for piece in sql::pieces(sql, dialect).map_err(|why| step.sql.place.error(why))? {
                let Piece::Name(name) = piece else { continue };
                if name.contains('.') {
                    let kept = self.kept_by(index, step, name)?;
                    depends = depends.max(Some(self.kept[kept].step));
                } else if !self.wanted.iter().any(|wanted| wanted == name) {
                    self.require_value(step, name)?;
                    self.wanted.push(name.to_owned());
                }
            }
        }
        Ok(depends)
    }

    fn require_value(&self, step: &StepDefinition, name: &str) -> Result<(), String> {
        if self.values.iter().any(|value| value.name == name) {
            return Ok(());
        }
        let valid: Vec<&str> = self.values.iter().map(|value| value.name.as_str()).collect();
        if valid.is_empty() {
            let words = "there are no [values]; add one, such as";
            return Err(step
                .sql
                .place
                .error(format!("`:{name}`: {words} `{name} = {{ draw = \"uniform\", … }}`")));
        }
        let suggestion = names::suggestion(name, &valid);
        Err(step.sql.place.error(format!("`:{}` is none of the values{suggestion}", shown(name))))
    }

    /// The kept value that `name` means in a step.
    fn kept_by(&self, index: usize, step: &StepDefinition, name: &str) -> Result<usize, String> {
        let full = |column: &KeptColumn<'_>| format!("{}.{}", column.row, column.column);
        let Some(found) = self.kept.iter().position(|column| full(column) == name) else {
            let all: Vec<String> = self.kept.iter().map(full).collect();
            let valid: Vec<&str> = all.iter().map(String::as_str).collect();
            let why = match valid.is_empty() {
                true => "; no step keeps a row".to_owned(),
                false => names::suggestion(name, &valid),
            };
            return Err(step.sql.place.error(format!("`:{}` is no kept value{why}", shown(name))));
        };
        let keeper = self.kept[found].step;
        if keeper >= index {
            let words = format!("`:{name}` is kept by step {}, which does not come before it", keeper + 1);
            return Err(step.sql.place.error(words));
        }
        Ok(found)
    }

    /// The seed of a transaction's values: those of two transactions have nothing to do with each other.
    fn seed(&self, compiler: &Compiler<'_>) -> units::Seed {
        compiler.seed.derive(&self.transaction.name)
    }

    fn is_bounded(&self) -> Result<bool, String> {
        let TransactionDefinition { autocommit, isolation, steps, place, .. } = self.transaction;
        let is_bounded = autocommit.map_or(steps.len() > 1, |autocommit| !autocommit);
        if !is_bounded && isolation.is_some() {
            return Err(place.error("`isolation` needs a transaction; say `autocommit = false`"));
        }
        Ok(is_bounded)
    }

    /// Refused in a dialect that has not what the transaction asks for.
    fn require(&self, dialect: Dialect) -> Result<(), String> {
        match self.transaction.isolation {
            Some(Isolation::Serializable) if dialect == Dialect::DuckDb => Err(self.transaction.place.error(
                "`isolation`: DuckDB has no serializable transactions; `repeatable-read` is what its snapshots include",
            )),
            _ => Ok(()),
        }
    }

    fn course(
        &self,
        list: &DrawList,
        dialect: Dialect,
        brace: &Brace<'_>,
        statements: &mut Vec<StatementSpec>,
    ) -> Result<Course, String> {
        let mut course = Course::default();
        if let Some(level) = self.transaction.isolation {
            let set = |statements: &mut Vec<StatementSpec>| Some(push(statements, isolation(level)));
            match dialect {
                Dialect::Postgres => course.after_begin = set(statements),
                // There it is of the next transaction.
                Dialect::MySql => course.before_begin = set(statements),
                // SQLite's transactions are serializable always, DuckDB's are snapshots.
                _ => {}
            }
        }
        let mut batch_from = 0;
        for (index, definition) in self.transaction.steps.iter().enumerate() {
            let step = self.step(index, definition, list, dialect, brace, statements)?;
            if self.joins(index, definition, batch_from)? {
                course.batches.last_mut().expect("there is a step before it").push(step);
            } else {
                batch_from = index;
                course.batches.push(vec![step]);
            }
        }
        Ok(course)
    }

    /// Whether a step is sent with those from `batch_from` on.
    fn joins(&self, index: usize, step: &StepDefinition, batch_from: usize) -> Result<bool, String> {
        let needs_answer = self.depends[index].is_some_and(|keeper| keeper >= batch_from);
        match step.together {
            Some(true) if index == 0 => {
                Err(step.place.error("`together` means with the step before it, and there is none"))
            }
            Some(true) if needs_answer => {
                let keeper = self.depends[index].map_or(0, |keeper| keeper + 1);
                let words =
                    format!("can't be sent together with step {keeper}: it uses what that step keeps");
                Err(step.place.error(words))
            }
            together => Ok(index > 0 && together.unwrap_or(self.transaction.together) && !needs_answer),
        }
    }

    fn step(
        &self,
        index: usize,
        definition: &StepDefinition,
        list: &DrawList,
        dialect: Dialect,
        brace: &Brace<'_>,
        statements: &mut Vec<StatementSpec>,
    ) -> Result<Step, String> {
        let (text, is_portable) = definition.sql.require(dialect)?;
        let at = |why: String| definition.sql.place.error(why);
        let made = sql::statement(text, dialect, is_portable, &|words| brace(words, dialect)).map_err(at)?;
        let (mut arguments, mut types) = (Vec::new(), Vec::new());
        for name in &made.names {
            if name.contains('.') {
                let kept = self.kept_by(index, definition, name)?;
                arguments.push(Source::Kept(kept));
                types.push(self.kept[kept].value_type);
            } else {
                let drawn = list.draws.iter().position(|draw| draw.name == *name);
                let drawn = drawn.ok_or_else(|| at(format!("`:{name}` is none of the values")))?;
                arguments.push(Source::Drawn(drawn));
                types.push(list.draws[drawn].value_type);
            }
        }
        if arguments.len() > ARGUMENTS_MOST {
            return Err(at(format!("{} parameters; at most {ARGUMENTS_MOST}", arguments.len())));
        }
        let kept: Vec<usize> = (0..self.kept.len()).filter(|at| self.kept[*at].step == index).collect();
        let spec = match kept.is_empty() {
            true => StatementSpec::counted(made.sql, &types),
            false => {
                let columns: Vec<ValueType> = kept.iter().map(|at| self.kept[*at].value_type).collect();
                StatementSpec::kept(made.sql, &types, &columns)
            }
        };
        Ok(Step {
            statement: push(statements, spec),
            arguments,
            expect: definition.expect,
            abort_if_empty: definition.abort_if_empty,
            keeps: (kept.first().copied().unwrap_or(0), kept.len()),
        })
    }
}

fn isolation(level: Isolation) -> StatementSpec {
    StatementSpec::counted(format!("SET TRANSACTION ISOLATION LEVEL {}", level.sql()), &[])
}

/// The index of a statement in the list; the same one is prepared once.
fn push(statements: &mut Vec<StatementSpec>, spec: StatementSpec) -> usize {
    statements.iter().position(|known| *known == spec).unwrap_or_else(|| {
        statements.push(spec);
        statements.len() - 1
    })
}
