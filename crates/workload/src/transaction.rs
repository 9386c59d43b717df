//! What every transaction does alike.

use driver::{Command, Conversation, OpError};

/// How many statements go out together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Roundtrips {
    /// All that do not need each other's answers.
    Batched,
    /// One, and its answer is awaited: as most applications do.
    Single,
}

impl Roundtrips {
    /// The name of a parameter's value; `None` for another one.
    pub fn named(name: &str) -> Option<Roundtrips> {
        [Roundtrips::Batched, Roundtrips::Single].into_iter().find(|roundtrips| roundtrips.name() == name)
    }

    /// The name in parameters and recordings.
    pub fn name(self) -> &'static str {
        match self {
            Roundtrips::Batched => "batched",
            Roundtrips::Single => "single",
        }
    }
}

/// Ends what a transaction's steps left: after an error on a session that lives, rolls back. Steps can then be written
/// with `?` throughout.
///
/// # Errors
/// The error of the steps, which is the first cause. Its session counts as lost when the rollback fails, too.
pub async fn settled<C: Conversation, T>(
    conversation: &mut C,
    steps: Result<T, OpError>,
) -> Result<T, OpError> {
    let Err(error) = steps else { return steps };
    if !error.session_usable {
        return Err(error);
    }
    // Harmless when the error came before the transaction began: a rollback outside of one succeeds.
    let rolled_back = match conversation.stage(Command::Rollback) {
        Ok(()) => conversation.exchange().await,
        Err(refused) => Err(refused),
    };
    Err(OpError { outcome: error.outcome, session_usable: rolled_back.is_ok() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use driver::{Reply, ValueRef};
    use units::Outcome;

    /// A conversation that answers each exchange as it is told, and notes what it was asked.
    struct Told {
        answers: Vec<Result<(), OpError>>,
        rollbacks: usize,
    }

    impl Conversation for Told {
        fn stage(&mut self, command: Command<'_>) -> Result<(), OpError> {
            assert_eq!(command, Command::Rollback);
            self.rollbacks += 1;
            Ok(())
        }

        async fn exchange(&mut self) -> Result<(), OpError> {
            self.answers.pop().unwrap()
        }

        fn reply(&self, _command: usize) -> Reply {
            Reply::default()
        }

        fn value(&self, _command: usize, _row: usize, _column: usize) -> Option<ValueRef<'_>> {
            None
        }
    }

    fn settle(steps: Result<(), OpError>, answer: Result<(), OpError>) -> (Result<(), OpError>, usize) {
        let mut told = Told { answers: vec![answer], rollbacks: 0 };
        let result = {
            let future = settled(&mut told, steps);
            let mut context = std::task::Context::from_waker(std::task::Waker::noop());
            match std::pin::pin!(future).poll(&mut context) {
                std::task::Poll::Ready(result) => result,
                std::task::Poll::Pending => panic!("it answers at once"),
            }
        };
        (result, told.rollbacks)
    }

    #[test]
    fn only_an_error_on_a_live_session_is_rolled_back_and_the_first_cause_stays() {
        let (deadlock, lost) = (OpError::refused(Outcome::Deadlock), OpError::lost(Outcome::ConnectionLost));
        assert_eq!(settle(Ok(()), Ok(())), (Ok(()), 0));
        assert_eq!(settle(Err(deadlock), Ok(())), (Err(deadlock), 1));
        assert_eq!(settle(Err(lost), Ok(())), (Err(lost), 0));
        assert_eq!(settle(Err(deadlock), Err(lost)), (Err(OpError::lost(Outcome::Deadlock)), 1));
    }
}
