//! Parse, Bind, Describe, Execute, Close, Sync.

use super::established::{Established, Portal, Problem, Progress, Verdict, write_completion};
use super::messages::Body;
use super::{Turn, replies};
use crate::sql::{
    Call, Datum, Format, Plan, Prepared, SqlError, Tag, Type, prepare_text, renewed, state, text_of,
};
use crate::{Decision, Operation};
use std::sync::Arc;

type Handled = Result<(), Problem>;

impl Established {
    pub(super) fn parse(&mut self, mut body: Body<'_>, turn: &mut Turn<'_>) -> Handled {
        let name = body.text().ok_or(Problem::Malformed)?;
        let text = body.text().ok_or(Problem::Malformed)?;
        let count = body.u16().ok_or(Problem::Malformed)?;
        let mut declared = Vec::with_capacity(usize::from(count));
        for _ in 0..count {
            declared.push(declared_type(body.u32().ok_or(Problem::Malformed)?)?);
        }
        if !body.is_empty() {
            return Err(Problem::Malformed);
        }
        if !name.is_empty() && self.statements.get(name).is_some() {
            let message = format!("prepared statement \"{}\" already exists", name.escape_ascii());
            return Err(SqlError::new(state::DUPLICATE_PREPARED, message).into());
        }
        let library = &mut *turn.library;
        let prepared = prepare_text(text_of(text)?, declared, &library.catalog, &mut library.plans)?;
        if let Some(prepared) = &prepared {
            self.session.check_not_failed(&prepared.plan)?;
        }
        let bytes = prepared.as_ref().map_or(0, |prepared| prepared.bytes);
        self.statements.insert(name, prepared, bytes)?;
        replies::bare(turn.outbox.bytes(), b'1');
        Ok(())
    }

    pub(super) fn bind(&mut self, mut body: Body<'_>, turn: &mut Turn<'_>) -> Handled {
        let portal = body.text().ok_or(Problem::Malformed)?;
        let name = body.text().ok_or(Problem::Malformed)?;
        let codes = formats(&mut body)?;
        let count = usize::from(body.u16().ok_or(Problem::Malformed)?);
        let prepared = self.statement_named(name)?;
        let prepared = prepared.map(|prepared| renewed(&prepared, &turn.library.catalog)).transpose()?;
        if let Some(prepared) = &prepared {
            self.session.check_not_failed(&prepared.plan)?;
        }
        let expected = prepared.as_ref().map_or(0, |prepared| prepared.parameters.len());
        if count != expected || (codes.len() > 1 && codes.len() != count) {
            let message = format!(
                "bind message supplies {count} parameters and {} formats, but prepared statement \"{}\" \
                 requires {expected}",
                codes.len(),
                name.escape_ascii()
            );
            return Err(SqlError::new(state::PROTOCOL_VIOLATION, message).into());
        }
        let kinds = prepared.as_ref().map_or(&[][..], |prepared| &prepared.parameters);
        let mut parameters = Vec::with_capacity(count);
        let before = body.0.len();
        for (n, kind) in kinds.iter().enumerate() {
            let value = body.value().ok_or(Problem::Malformed)?;
            parameters.push(parameter(value, *kind, Format::of(&codes, n))?);
        }
        let bytes = before - body.0.len();
        let formats = formats(&mut body)?;
        if !body.is_empty() {
            return Err(Problem::Malformed);
        }
        let columns = prepared.as_ref().and_then(|p| p.columns.as_ref()).map_or(0, Vec::len);
        if formats.len() > 1 && formats.len() != columns {
            let message =
                format!("bind message has {} result formats but query has {columns} columns", formats.len());
            return Err(SqlError::new(state::PROTOCOL_VIOLATION, message).into());
        }
        if !portal.is_empty() && self.portals.get(portal).is_some() {
            let message = format!("cursor \"{}\" already exists", portal.escape_ascii());
            return Err(SqlError::new(state::DUPLICATE_CURSOR, message).into());
        }
        // Its plan may have been made anew, or outlive its name.
        let plan = prepared.as_ref().map_or(0, |prepared| prepared.bytes);
        let bytes = plan + bytes + size_of_val(&parameters[..]) + size_of_val(&formats[..]);
        let made = Portal { prepared, parameters, formats, progress: Progress::Fresh };
        self.portals.insert(portal, made, bytes)?;
        replies::bare(turn.outbox.bytes(), b'2');
        Ok(())
    }

    fn statement_named(&self, name: &[u8]) -> Result<Option<Arc<Prepared>>, SqlError> {
        self.statements.get(name).cloned().ok_or_else(|| {
            let message = if name.is_empty() {
                "unnamed prepared statement does not exist".to_owned()
            } else {
                format!("prepared statement \"{}\" does not exist", name.escape_ascii())
            };
            SqlError::new(state::INVALID_STATEMENT_NAME, message)
        })
    }

    pub(super) fn describe(&mut self, mut body: Body<'_>, turn: &mut Turn<'_>) -> Handled {
        let kind = body.u8().ok_or(Problem::Malformed)?;
        let name = body.text().filter(|_| body.is_empty()).ok_or(Problem::Malformed)?;
        let (prepared, formats) = match kind {
            b'S' => {
                let prepared = self.statement_named(name)?;
                let prepared = prepared.map(|p| renewed(&p, &turn.library.catalog)).transpose()?;
                let parameters = prepared.as_ref().map_or(&[][..], |prepared| &prepared.parameters);
                replies::parameter_description(turn.outbox.bytes(), parameters);
                (prepared, Vec::new())
            }
            b'P' => {
                let portal = self.portals.get(name).ok_or_else(|| no_portal(name))?;
                (portal.prepared.clone(), portal.formats.clone())
            }
            _ => return Err(Problem::Malformed),
        };
        match prepared.as_ref().and_then(|prepared| prepared.columns.as_ref()) {
            Some(columns) => replies::row_description(turn.outbox.bytes(), columns, &formats),
            None => replies::bare(turn.outbox.bytes(), b'n'),
        }
        Ok(())
    }

    pub(super) fn close(&mut self, mut body: Body<'_>, turn: &mut Turn<'_>) -> Handled {
        let kind = body.u8().ok_or(Problem::Malformed)?;
        let name = body.text().filter(|_| body.is_empty()).ok_or(Problem::Malformed)?;
        match kind {
            b'S' => self.statements.remove(name),
            b'P' => self.portals.remove(name),
            _ => return Err(Problem::Malformed),
        }
        replies::bare(turn.outbox.bytes(), b'3');
        Ok(())
    }

    pub(super) fn execute(&mut self, mut body: Body<'_>, turn: &mut Turn<'_>) -> Handled {
        let name = body.text().ok_or(Problem::Malformed)?;
        let most = body.u32().filter(|_| body.is_empty()).ok_or(Problem::Malformed)?;
        // As in PostgreSQL, what is not positive is no limit.
        let most = u64::from(most).min(u64::from(u32::MAX >> 1) + 1);
        let most = if most == 0 || most > u64::from(u32::MAX >> 1) { u64::MAX } else { most };
        let portal = self.portals.get(name).ok_or_else(|| no_portal(name))?;
        let Some(prepared) = portal.prepared.clone() else {
            return self.execute_empty(turn);
        };
        let prepared = renewed(&prepared, &turn.library.catalog)?;
        if matches!(prepared.plan, Plan::Control(_)) {
            return self.execute_control(name, &prepared, turn);
        }
        let (operation, key) = self.session.route(&prepared, &portal.parameters, &turn.library.catalog);
        let decision = turn.admit(operation, &key);
        match Verdict::of(&decision) {
            Verdict::Execute => {}
            Verdict::Refuse(error) => return Err(error.into()),
            Verdict::Nothing => return Ok(()),
        }
        let portal = self.portals.get_mut(name).ok_or_else(|| no_portal(name))?;
        match std::mem::replace(&mut portal.progress, Progress::Done) {
            Progress::Fresh => self.execute_fresh(name, &prepared, &decision, most, turn),
            Progress::Suspended { rows, at } => self.hand_out(name, rows, at, most, turn),
            Progress::Done if prepared.columns.is_some() => {
                replies::complete(turn.outbox.bytes(), Tag::Counted("SELECT", 0));
                Ok(())
            }
            Progress::Done => {
                let message = format!("portal \"{}\" cannot be run", name.escape_ascii());
                Err(SqlError::new(state::NOT_IN_PREREQUISITE_STATE, message).into())
            }
        }
    }

    fn execute_empty(&mut self, turn: &mut Turn<'_>) -> Handled {
        let decision = turn.admit(Operation::Ping, &[]);
        match Verdict::of(&decision) {
            Verdict::Execute => replies::bare(turn.outbox.bytes(), b'I'),
            Verdict::Refuse(error) => return Err(error.into()),
            Verdict::Nothing => {}
        }
        Ok(())
    }

    fn execute_control(&mut self, name: &[u8], prepared: &Prepared, turn: &mut Turn<'_>) -> Handled {
        self.session.check_not_failed(&prepared.plan)?;
        let Some(Portal { parameters, formats, .. }) = self.portals.get(name) else {
            return Err(no_portal(name).into());
        };
        let (parameters, formats) = (parameters.clone(), formats.clone());
        self.control(prepared, &parameters, &formats, turn)?;
        replies::complete(turn.outbox.bytes(), Tag::Counted("SELECT", 1));
        Ok(())
    }

    fn execute_fresh(
        &mut self,
        name: &[u8],
        prepared: &Arc<Prepared>,
        decision: &Decision,
        most: u64,
        turn: &mut Turn<'_>,
    ) -> Handled {
        let Some(portal) = self.portals.get_mut(name) else { return Err(no_portal(name).into()) };
        let (parameters, formats) = (std::mem::take(&mut portal.parameters), portal.formats.clone());
        let before = turn.outbox.bytes().len();
        let call = Call { prepared, parameters: &parameters, decision };
        let completion = self.run(&call, &formats, turn)?;
        if let Tag::Counted("SELECT", count) = completion.tag
            && count > most
        {
            let rows = turn.outbox.bytes().split_off(before);
            return self.hand_out(name, rows, 0, most, turn);
        }
        write_completion(&completion, turn.outbox);
        Ok(())
    }

    /// Sends some of the rows that a portal holds, and keeps the rest.
    fn hand_out(&mut self, name: &[u8], rows: Vec<u8>, at: usize, most: u64, turn: &mut Turn<'_>) -> Handled {
        let (mut end, mut count) = (at, 0);
        while count < most && end < rows.len() {
            let length =
                rows[end + 1..].first_chunk::<4>().map_or(u32::MAX, |bytes| u32::from_be_bytes(*bytes));
            end += 1 + length as usize; // 32 bits fit; written by ourselves
            count += 1;
        }
        turn.outbox.bytes().extend_from_slice(&rows[at..end]);
        if end == rows.len() {
            replies::complete(turn.outbox.bytes(), Tag::Counted("SELECT", count));
            return Ok(());
        }
        let Some(portal) = self.portals.get(name) else { return Err(no_portal(name).into()) };
        let plan = portal.prepared.as_ref().map_or(0, |prepared| prepared.bytes);
        let bytes = plan + rows.capacity() + size_of_val(&portal.formats[..]);
        let suspended = Portal {
            prepared: portal.prepared.clone(),
            parameters: Vec::new(),
            formats: portal.formats.clone(),
            progress: Progress::Suspended { rows, at: end },
        };
        self.portals.insert(name, suspended, bytes)?;
        replies::bare(turn.outbox.bytes(), b's');
        Ok(())
    }

    /// The end of a batch.
    pub(super) fn sync(&mut self, turn: &mut Turn<'_>) {
        self.skipping = false;
        self.end_of_query(turn);
    }
}

/// A type that the client named; 0 and `unknown` leave it open.
fn declared_type(oid: u32) -> Result<Option<Type>, SqlError> {
    const UNKNOWN: u32 = 705;
    match oid {
        0 | UNKNOWN => Ok(None),
        oid => Type::from_oid(oid)
            .map(Some)
            .ok_or_else(|| SqlError::unsupported(format_args!("parameters of the type with number {oid}"))),
    }
}

fn formats(body: &mut Body<'_>) -> Result<Vec<Format>, Problem> {
    let count = body.u16().ok_or(Problem::Malformed)?;
    let mut all = Vec::new();
    for _ in 0..count {
        all.push(match body.u16().ok_or(Problem::Malformed)? {
            0 => Format::Text,
            1 => Format::Binary,
            code => {
                let message = format!("unsupported format code: {code}");
                return Err(SqlError::new(state::INVALID_PARAMETER, message).into());
            }
        });
    }
    Ok(all)
}

fn parameter(value: Option<&[u8]>, kind: Type, format: Format) -> Result<Datum<'static>, SqlError> {
    match (value, format) {
        (None, _) => Ok(Datum::Null),
        (Some(bytes), Format::Text) => kind.parse(text_of(bytes)?),
        (Some(bytes), Format::Binary) => kind.decode(bytes),
    }
}

fn no_portal(name: &[u8]) -> SqlError {
    let message = format!("portal \"{}\" does not exist", name.escape_ascii());
    SqlError::new(state::INVALID_CURSOR_NAME, message)
}
