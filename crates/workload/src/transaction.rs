//! What every transaction does alike.

use driver::{Command, Conversation, OpError};

/// Marks the result of staging a command behind others of the same exchange: when it is refused, those before it are
/// staged already and can't be taken back, so the session counts as lost.
///
/// # Errors
/// The refusal.
pub fn behind(staged: Result<(), OpError>) -> Result<(), OpError> {
    staged.map_err(|error| OpError::lost(error.outcome))
}

/// Leaves a transaction that failed with `error`: rolls back when the session lives. Gives the error to report,
/// which keeps the first cause; a session whose rollback fails is lost.
pub async fn abandon<C: Conversation>(conversation: &mut C, error: OpError) -> OpError {
    if !error.session_usable {
        return error;
    }
    let rolled_back = match conversation.stage(Command::Rollback) {
        Ok(()) => conversation.exchange().await,
        Err(refused) => Err(refused),
    };
    OpError { outcome: error.outcome, session_usable: rolled_back.is_ok() }
}
