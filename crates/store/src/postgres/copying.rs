//! COPY … FROM STDIN, between CopyInResponse and the end of the data.

use super::established::{Established, Verdict, admit_unknown, write_completion};
use super::messages::Body;
use super::simple::Waiting;
use super::{End, Turn, violation};
use crate::sql::{CopyIn, SqlError, Table, state};
use std::collections::VecDeque;
use std::sync::Arc;

/// A COPY, and the statements that came behind it in its Query.
#[derive(Debug)]
pub(super) struct Copying {
    copy: CopyIn,
    behind: VecDeque<Waiting>,
    /// Memory of those, as it was when they were the most.
    behind_bytes: usize,
}

impl Copying {
    /// `behind_bytes` is what the statements behind it took when they were last measured; `None`: not yet.
    pub(super) fn new(
        table: Arc<Table>,
        columns: Vec<usize>,
        behind: VecDeque<Waiting>,
        behind_bytes: Option<usize>,
    ) -> Copying {
        let behind_bytes = behind_bytes.unwrap_or_else(|| behind.iter().map(Waiting::bytes).sum());
        Copying { copy: CopyIn::new(table, columns), behind, behind_bytes }
    }

    /// Bytes of memory, about.
    pub(super) fn holds(&self) -> usize {
        self.copy.holds() + self.behind_bytes
    }

    pub(super) fn width(&self) -> usize {
        self.copy.width()
    }
}

impl Established {
    /// Deals with a message while data is expected.
    pub(super) fn copy_message(&mut self, tag: u8, body: &[u8], turn: &mut Turn<'_>) -> Result<(), End> {
        let Some(copying) = &mut self.copying else { return Ok(()) };
        match tag {
            b'd' => copying.copy.take(body),
            b'c' => self.end_copy(turn),
            b'f' => {
                let reason = Body(body).text().ok_or_else(|| violation("invalid message format"))?;
                let reason = String::from_utf8_lossy(reason);
                let message = format!("COPY from stdin failed: {reason}");
                copying.copy.fail(SqlError::new(state::QUERY_CANCELED, message));
                self.end_copy(turn);
            }
            b'H' | b'S' => {}
            b'X' => return Err(End::Quiet),
            _ => return Err(violation(format!("unexpected message type {tag} during COPY from stdin"))),
        }
        Ok(())
    }

    /// The data has ended: now it is a request.
    fn end_copy(&mut self, turn: &mut Turn<'_>) {
        let Some(Copying { mut copy, behind, behind_bytes }) = self.copying.take() else { return };
        let decision = admit_unknown(turn);
        let result = match Verdict::of(&decision) {
            Verdict::Execute => {
                self.session.end_copy(&mut copy, &decision, &turn.library.catalog, turn.engine)
            }
            Verdict::Refuse(error) => Err(error),
            Verdict::Nothing => return self.end_of_query(turn),
        };
        match result {
            Ok(completion) => {
                write_completion(&completion, turn.outbox);
                self.statements(behind, Some(behind_bytes), turn);
            }
            Err(error) => {
                self.fail(&error, turn.outbox);
                self.end_of_query(turn);
            }
        }
    }
}
