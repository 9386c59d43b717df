//! A transaction's statements, sent together or one by one, whose answers are whole numbers.
//!
//! A transaction is written once: it asks, receives, looks at the answers, asks on. Where round trips are batched, what is
//! asked goes out when the answers are wanted; where they are single, each statement is awaited.

use crate::transaction::Roundtrips;
use driver::{Command, Conversation, OpError, Value};

/// The most statements of a transaction.
const MOST: usize = 12;

/// What a statement gave.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Answer {
    /// Rows that were received or changed.
    pub(crate) touched: bool,
    /// The first column of the first row; `None` where it is null, or there is no row.
    pub(crate) first: Option<i64>,
    /// The second one.
    pub(crate) second: Option<i64>,
}

/// One transaction's talk with its session.
pub(crate) struct Talk<'a, C> {
    conversation: &'a mut C,
    roundtrips: Roundtrips,
    /// Commands that are staged and not sent.
    staged: usize,
    /// Statements asked so far.
    asked: usize,
    /// Those of them whose answers are in.
    answered: usize,
    /// Where each stands among the commands of its exchange.
    places: [usize; MOST],
    answers: [Answer; MOST],
}

impl<'a, C: Conversation> Talk<'a, C> {
    /// Nothing is asked yet.
    pub(crate) fn new(conversation: &'a mut C, roundtrips: Roundtrips) -> Talk<'a, C> {
        let (places, answers) = ([0; MOST], [Answer::default(); MOST]);
        Talk { conversation, roundtrips, staged: 0, asked: 0, answered: 0, places, answers }
    }

    /// Begins the transaction, with its first statement.
    pub(crate) fn begin(&mut self) -> Result<(), OpError> {
        self.stage(Command::Begin)
    }

    /// Asks a statement. Gives its number, for [`Talk::answer`].
    pub(crate) async fn ask(&mut self, index: usize, arguments: &[Value<'_>]) -> Result<usize, OpError> {
        let number = self.asked;
        self.places[number] = self.staged;
        self.stage(Command::Statement { index, arguments })?;
        self.asked += 1;
        if self.roundtrips == Roundtrips::Single {
            self.receive().await?;
        }
        Ok(number)
    }

    /// Sends what is staged, and takes the answers.
    pub(crate) async fn receive(&mut self) -> Result<(), OpError> {
        if self.staged == 0 {
            return Ok(());
        }
        self.conversation.exchange().await?;
        for number in self.answered..self.asked {
            let place = self.places[number];
            self.answers[number] = Answer {
                touched: self.conversation.reply(place).touched(),
                first: self.whole(place, 0),
                second: self.whole(place, 1),
            };
        }
        (self.answered, self.staged) = (self.asked, 0);
        Ok(())
    }

    /// The answer to the statement of this number; nothing where it is not in.
    pub(crate) fn answer(&self, number: usize) -> Answer {
        self.answers[number]
    }

    /// Commits, with what is staged before it.
    pub(crate) async fn commit(&mut self) -> Result<(), OpError> {
        self.stage(Command::Commit)?;
        self.receive().await
    }

    /// Rolls back.
    pub(crate) async fn roll_back(&mut self) -> Result<(), OpError> {
        self.stage(Command::Rollback)?;
        self.receive().await
    }

    fn stage(&mut self, command: Command<'_>) -> Result<(), OpError> {
        self.conversation.stage(command)?;
        self.staged += 1;
        Ok(())
    }

    fn whole(&self, place: usize, column: usize) -> Option<i64> {
        match self.conversation.value(place, 0, column)? {
            Value::Int(number) => Some(number),
            _ => None,
        }
    }
}
