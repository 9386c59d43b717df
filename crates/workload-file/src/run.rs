//! Planning a request, and carrying it out.

use crate::definition::Expect;
use crate::draw::{Drawn, Slot};
use crate::program::{ARGUMENTS_MOST, Course, Source, Step, Transaction};
use driver::{Command, Conversation, OpError, Reply, Value};
use std::cell::RefCell;
use units::Outcome;
use workload::transaction::settled;

/// A request made concrete, and room for what its rows leave.
pub struct Plan {
    pub(crate) transaction: usize,
    pub(crate) drawn: Drawn,
    /// Filled while the request runs; each try of it begins anew.
    kept: RefCell<Kept>,
}

/// Values out of kept rows.
struct Kept {
    slots: Vec<Slot>,
    text: String,
}

/// Kept text that has room from the start; a longer one makes room once.
const KEPT_TEXT: usize = 4_096;

impl Plan {
    pub(crate) fn with_room(values: usize, text: usize, kept: usize) -> Plan {
        let mut kept =
            Kept { slots: vec![Slot::Null; kept], text: " ".repeat(if kept > 0 { KEPT_TEXT } else { 0 }) };
        kept.text.clear();
        Plan { transaction: 0, drawn: Drawn::with_room(values, text), kept: RefCell::new(kept) }
    }
}

impl Kept {
    fn keep(&mut self, place: usize, value: Option<Value<'_>>) {
        self.slots[place] = match value {
            None | Some(Value::Null) => Slot::Null,
            Some(Value::Int(n)) => Slot::Int(n),
            Some(Value::Float(x)) => Slot::Float(x),
            Some(Value::Decimal(decimal)) => Slot::Decimal(decimal),
            Some(Value::Timestamp(micros)) => Slot::Timestamp(micros),
            Some(Value::Text(text)) => {
                let from = self.text.len();
                self.text.push_str(text);
                Slot::Text(from, self.text.len())
            }
        };
    }

    fn value(&self, place: usize) -> Value<'_> {
        match self.slots[place] {
            Slot::Int(n) => Value::Int(n),
            Slot::Float(x) => Value::Float(x),
            Slot::Decimal(decimal) => Value::Decimal(decimal),
            Slot::Timestamp(micros) => Value::Timestamp(micros),
            Slot::Text(from, to) => Value::Text(&self.text[from..to]),
            Slot::Null | Slot::Fixed(_) => Value::Null,
        }
    }
}

/// A request under way.
pub(crate) struct Running<'a> {
    pub(crate) transaction: &'a Transaction,
    pub(crate) course: &'a Course,
    pub(crate) plan: &'a Plan,
}

impl Running<'_> {
    pub(crate) async fn run<C: Conversation>(&self, conversation: &mut C) -> Result<Outcome, OpError> {
        self.plan.kept.borrow_mut().text.clear();
        if !self.transaction.is_bounded {
            return self.statements(conversation).await;
        }
        let steps = self.in_transaction(conversation).await;
        settled(conversation, steps).await
    }

    /// Each statement for itself.
    async fn statements<C: Conversation>(&self, conversation: &mut C) -> Result<Outcome, OpError> {
        for batch in &self.course.batches {
            batch.iter().try_for_each(|step| self.stage(step, conversation))?;
            conversation.exchange().await?;
            if let Some(outcome) = self.look(batch, 0, conversation) {
                return Ok(outcome);
            }
        }
        Ok(Outcome::Ok)
    }

    /// Between begin and commit. The commit goes with the last statements, unless their answers decide whether there is one.
    async fn in_transaction<C: Conversation>(&self, conversation: &mut C) -> Result<Outcome, OpError> {
        let mut before = self.begin(conversation)?;
        let last = self.course.batches.len() - 1;
        let decides = self.course.batches[last].iter().any(Step::decides);
        for (index, batch) in self.course.batches.iter().enumerate() {
            batch.iter().try_for_each(|step| self.stage(step, conversation))?;
            if index == last && !decides {
                conversation.stage(Command::Commit)?;
            }
            conversation.exchange().await?;
            if let Some(outcome) = self.look(batch, before, conversation) {
                conversation.stage(Command::Rollback)?;
                conversation.exchange().await?;
                return Ok(outcome);
            }
            before = 0;
        }
        if decides {
            conversation.stage(Command::Commit)?;
            conversation.exchange().await?;
        }
        Ok(Outcome::Ok)
    }

    /// Stages what begins the transaction; gives the number of commands.
    fn begin<C: Conversation>(&self, conversation: &mut C) -> Result<usize, OpError> {
        let Course { before_begin, after_begin, .. } = self.course;
        if let Some(index) = before_begin {
            conversation.stage(Command::Statement { index: *index, arguments: &[] })?;
        }
        conversation.stage(Command::Begin)?;
        if let Some(index) = after_begin {
            conversation.stage(Command::Statement { index: *index, arguments: &[] })?;
        }
        Ok(1 + usize::from(before_begin.is_some()) + usize::from(after_begin.is_some()))
    }

    fn stage<C: Conversation>(&self, step: &Step, conversation: &mut C) -> Result<(), OpError> {
        // Not one array for all: clearing 3 kB for each statement would cost more than staging it.
        match step.arguments.len() {
            0..=8 => self.stage_in::<C, 8>(step, conversation),
            9..=32 => self.stage_in::<C, 32>(step, conversation),
            _ => self.stage_in::<C, ARGUMENTS_MOST>(step, conversation),
        }
    }

    fn stage_in<C: Conversation, const ROOM: usize>(
        &self,
        step: &Step,
        conversation: &mut C,
    ) -> Result<(), OpError> {
        let kept = self.plan.kept.borrow();
        let mut arguments = [Value::Null; ROOM];
        for (argument, source) in arguments.iter_mut().zip(&step.arguments) {
            *argument = match source {
                Source::Drawn(place) => self.transaction.list.value(&self.plan.drawn, *place),
                Source::Kept(place) => kept.value(*place),
            };
        }
        let arguments = &arguments[..step.arguments.len()];
        conversation.stage(Command::Statement { index: step.statement, arguments })
    }

    /// Looks at a batch's answers, `before` of which are not of its steps. What ends the request, if anything does.
    fn look<C: Conversation>(&self, batch: &[Step], before: usize, conversation: &C) -> Option<Outcome> {
        for (index, step) in batch.iter().enumerate() {
            let command = before + index;
            let reply = conversation.reply(command);
            if step.abort_if_empty && !reply.touched() {
                return Some(Outcome::Abort);
            }
            if !is_met(step.expect, reply) {
                return Some(Outcome::Miss);
            }
            let (first, count) = step.keeps;
            let mut kept = self.plan.kept.borrow_mut();
            for column in 0..count {
                kept.keep(first + column, conversation.value(command, 0, column));
            }
        }
        None
    }
}

fn is_met(expect: Expect, reply: Reply) -> bool {
    match expect {
        Expect::Any => true,
        Expect::Row => reply.rows == 1,
        Expect::Rows => reply.rows > 0,
        Expect::Affected => reply.affected > 0,
    }
}
