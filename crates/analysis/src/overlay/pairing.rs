//! Which session each connection belongs to.
//!
//! Of a connection and its own session, every row lies inside of a sample; but for a few of the connection's set-up. Of any
//! other session a row lies inside of a sample by chance: with the probability that it is busy. A row that lies in none
//! makes that session less likely to be the one, by a factor that is put at a hundred, or at ten before the first row that
//! fits and behind the last one: that may be set-up. A session is ruled out when it is 10⁸ times less likely than
//! the best one, or when another connection has it at the same time.
//!
//! Sessions that wait for each other's answers, such as those of a saturated store, may be busy in step, so that all rows
//! of a connection fit into samples of several of them. Then the delay between sending and arrival decides: that of the
//! right pair varies by some microseconds, that of a wrong one by the delays of two sessions. It must be half as wide.

use super::window::{Connection, Flown, Loaded, Row, Session};
use std::collections::HashMap;

/// Decades by which a row in no sample speaks against a session.
const MISS: u32 = 2;
/// The same for rows before the first that fits, and behind the last one.
const EDGE_MISS: u32 = 1;
/// Rows before a sample that is the first over a new connection speak against nothing, up to so many.
const SET_UP_MAX: u32 = 16;
/// Decades by which a session must be less likely than the best one to be ruled out.
const RULED_OUT: u32 = 8;
/// Decades that lie between a connection's serious candidates at most.
const SERIOUS: u32 = 2;
/// Rows that may lie in no sample of the session that a connection is paired with, beside a tenth of all.
const MISSES_MAX: u32 = 8;
/// A connection with so many rows for each one of another's, and so many more, has a session rather than the other.
const FAR_MORE: u32 = 4;
/// Rows that a connection is judged by at most.
const ROWS_MAX: usize = 4096;
/// Rows that fit, from which on their delays are compared, …
const DELAYS_MIN: u32 = 32;
/// … and how much wider those of a wrong session must spread at least, beside twice as wide; ns.
const SPREAD_MIN: i64 = 1_000;

/// Who a session is, whatever window it is seen in: recording, client, number.
type Id = (usize, u16, u16);

/// Connections that were paired in earlier windows.
#[derive(Debug, Default)]
pub(super) struct Known(HashMap<u32, Id>);

/// What was found of one connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Paired {
    /// Index of its session.
    With(usize),
    /// Several sessions could be its own.
    Ambiguous,
    /// No session's.
    Foreign,
}

/// A session that may be a connection's own.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    session: usize,
    decades: u32,
    hits: u32,
    misses: u32,
}

/// The index of the sample that a row lies in, beginning `tolerance` before it and ending `tolerance` behind it at most.
/// Logarithmic.
pub(super) fn sample_of(flown: &[Flown], row: &Row, tolerance: i64) -> Option<usize> {
    let after = flown.partition_point(|sample| sample.sent <= row.arrived);
    let near = [after.checked_sub(1), (after < flown.len()).then_some(after)];
    let violations = near.into_iter().flatten().map(|index| (violation(&flown[index], row), index));
    violations.min().filter(|(violation, _)| *violation <= tolerance).map(|(_, index)| index)
}

/// By how much a row reaches out of a sample, ns. A request that was given up may be answered at any time later.
fn violation(sample: &Flown, row: &Row) -> i64 {
    let end = if sample.outcome.is_censored() { row.arrived } else { row.end };
    (sample.sent - row.arrived).max(end - sample.completed).max(0)
}

/// Pairs connections with sessions, and remembers them. Cost: each connection is held against all sessions, ≈ 50 ns a
/// row, until they are ruled out.
pub(super) fn pair(loaded: &Loaded, tolerance: i64, known: &mut Known) -> Vec<Paired> {
    let mut table = Table::new(loaded, tolerance);
    table.take_known(known);
    while table.decide() || table.decide_by_delays() {}
    table.remember(known);
    table.result()
}

struct Table<'a> {
    loaded: &'a Loaded,
    tolerance: i64,
    /// Per connection: the sessions that are not ruled out, best first.
    candidates: Vec<Vec<Candidate>>,
    paired: Vec<Option<usize>>,
    /// Per session: the connections paired with it.
    taken: Vec<Vec<usize>>,
}

impl<'a> Table<'a> {
    fn new(loaded: &'a Loaded, tolerance: i64) -> Table<'a> {
        let candidates =
            loaded.connections.iter().map(|c| candidates(c, &loaded.sessions, tolerance)).collect();
        Table {
            loaded,
            tolerance,
            candidates,
            paired: vec![None; loaded.connections.len()],
            taken: vec![Vec::new(); loaded.sessions.len()],
        }
    }

    fn take_known(&mut self, known: &Known) {
        let ids: HashMap<Id, usize> =
            self.loaded.sessions.iter().enumerate().map(|(i, s)| (id(s), i)).collect();
        for connection in 0..self.paired.len() {
            let number = self.loaded.connections[connection].number;
            if let Some(session) = known.0.get(&number).and_then(|id| ids.get(id)) {
                self.take(connection, *session);
            }
        }
    }

    fn take(&mut self, connection: usize, session: usize) {
        self.paired[connection] = Some(session);
        self.taken[session].push(connection);
    }

    /// Pairs every connection that has one session left; whether there was any.
    fn decide(&mut self) -> bool {
        let claims = self.claims();
        let found: Vec<(usize, usize)> = self
            .open()
            .filter_map(|connection| {
                let [only] = self.left(connection)[..] else { return None };
                self.may_have(connection, &only, &claims).then_some((connection, only.session))
            })
            .collect();
        self.take_all(found)
    }

    /// Pairs every connection and session of which each fits the other far better, by its delays, than all others do;
    /// whether there was any.
    fn decide_by_delays(&mut self) -> bool {
        let spreads: HashMap<usize, Vec<(i64, usize)>> =
            self.open().filter_map(|connection| Some((connection, self.spreads(connection)?))).collect();
        let found: Vec<(usize, usize)> = spreads
            .iter()
            .filter_map(|(&connection, own)| {
                let &(best, session) = far_narrower(own)?;
                let at_once = spreads.iter().filter(|(other, _)| self.overlap(connection, **other));
                let mut theirs: Vec<(i64, usize)> = at_once
                    .filter_map(|(other, list)| Some((list.iter().find(|(_, s)| *s == session)?.0, *other)))
                    .collect();
                theirs.sort_unstable();
                let alone = theirs.len() == 1 || far_narrower(&theirs).is_some();
                (alone && theirs.first() == Some(&(best, connection))).then_some((connection, session))
            })
            .collect();
        self.take_all(found)
    }

    /// How widely delays spread with each candidate that is left, the narrowest first; `None` where one has too few.
    fn spreads(&self, connection: usize) -> Option<Vec<(i64, usize)>> {
        let rows = &self.loaded.connections[connection].rows;
        let one = |candidate: Candidate| {
            let flown = &self.loaded.sessions[candidate.session].flown;
            Some((spread(rows, flown, self.tolerance)?, candidate.session))
        };
        let mut spreads = self.left(connection).into_iter().map(one).collect::<Option<Vec<_>>>()?;
        spreads.sort_unstable();
        Some(spreads)
    }

    /// Takes what was found, but for pairs that contradict each other: then neither.
    fn take_all(&mut self, found: Vec<(usize, usize)>) -> bool {
        let mut any = false;
        for &(connection, session) in &found {
            let rivals = found.iter().filter(|(other, theirs)| *other != connection && *theirs == session);
            if rivals.into_iter().all(|(other, _)| !self.overlap(connection, *other)) {
                self.take(connection, session);
                any = true;
            }
        }
        any
    }

    fn open(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.paired.len()).filter(|connection| self.paired[*connection].is_none())
    }

    /// Candidates that no other connection has at the same time.
    fn left(&self, connection: usize) -> Vec<Candidate> {
        let free = |candidate: &&Candidate| {
            self.taken[candidate.session].iter().all(|other| !self.overlap(connection, *other))
        };
        self.candidates[connection].iter().filter(free).copied().collect()
    }

    /// Per session: connections without a session of which it is a serious candidate, and with how many rows.
    fn claims(&self) -> HashMap<usize, Vec<(usize, u32)>> {
        let mut claims: HashMap<usize, Vec<(usize, u32)>> = HashMap::new();
        for connection in self.open() {
            let left = self.left(connection);
            let best = left.iter().map(|candidate| candidate.decades).min().unwrap_or(0);
            for candidate in left.iter().filter(|candidate| candidate.decades < best + SERIOUS) {
                claims.entry(candidate.session).or_default().push((connection, candidate.hits));
            }
        }
        claims
    }

    /// Whether nearly all rows fit, and no other connection that goes on at the same time claims the session.
    fn may_have(
        &self,
        connection: usize,
        candidate: &Candidate,
        claims: &HashMap<usize, Vec<(usize, u32)>>,
    ) -> bool {
        let fits = candidate.misses <= MISSES_MAX + candidate.hits / 10;
        let claims = claims.get(&candidate.session).map_or(&[][..], Vec::as_slice);
        fits && claims.iter().all(|&(other, hits)| {
            other == connection
                || !self.overlap(connection, other)
                || candidate.hits >= FAR_MORE * hits + FAR_MORE
        })
    }

    /// Whether two connections went on at the same time: a session has one at a time.
    fn overlap(&self, a: usize, b: usize) -> bool {
        let span = |connection: usize| {
            let rows = &self.loaded.connections[connection].rows;
            rows.first().zip(rows.last()).map_or((0, 0), |(first, last)| (first.arrived, last.arrived))
        };
        let (a, b) = (span(a), span(b));
        a.0 <= b.1 && b.0 <= a.1
    }

    fn remember(&self, known: &mut Known) {
        for (connection, session) in self.paired.iter().enumerate() {
            if let Some(session) = session {
                known
                    .0
                    .insert(self.loaded.connections[connection].number, id(&self.loaded.sessions[*session]));
            }
        }
    }

    fn result(&self) -> Vec<Paired> {
        let one = |(connection, session): (usize, &Option<usize>)| match session {
            Some(session) => Paired::With(*session),
            None if self.candidates[connection].is_empty() => Paired::Foreign,
            None => Paired::Ambiguous,
        };
        self.paired.iter().enumerate().map(one).collect()
    }
}

/// The first of some spreads, in order, if the next one is far wider.
fn far_narrower(spreads: &[(i64, usize)]) -> Option<&(i64, usize)> {
    let [best, next, ..] = spreads else { return None };
    (next.0 >= 2 * best.0 + SPREAD_MIN).then_some(best)
}

fn id(session: &Session) -> Id {
    (session.recording, session.client, session.number)
}

/// Sessions that at least one row fits, and that are not ruled out by the best of them.
fn candidates(connection: &Connection, sessions: &[Session], tolerance: i64) -> Vec<Candidate> {
    let rows = &connection.rows[..connection.rows.len().min(ROWS_MAX)];
    let mut best = u32::MAX - RULED_OUT;
    let mut found = Vec::new();
    for (session, Session { flown, .. }) in sessions.iter().enumerate() {
        if let Some((decades, hits, misses)) = weigh(rows, flown, tolerance, best + RULED_OUT) {
            best = best.min(decades);
            found.push(Candidate { session, decades, hits, misses });
        }
    }
    found.retain(|candidate| candidate.decades < best + RULED_OUT);
    found.sort_by_key(|candidate| (candidate.decades, candidate.session));
    found
}

/// How much speaks against a session, in decades; how many rows fit, and how many don't. `None` where none fits, or as
/// soon as `limit` is reached.
fn weigh(rows: &[Row], flown: &[Flown], tolerance: i64, limit: u32) -> Option<(u32, u32, u32)> {
    let (mut decades, mut hits, mut misses, mut pending) = (0_u32, 0_u32, 0_u32, 0_u32);
    for row in rows {
        match sample_of(flown, row, tolerance) {
            Some(index) => {
                let free = if flown[index].after_reconnect { SET_UP_MAX } else { 0 };
                let (each, count) =
                    if hits == 0 { (EDGE_MISS, pending.saturating_sub(free)) } else { (MISS, pending) };
                decades += each * count;
                misses += count;
                hits += 1;
                pending = 0;
            }
            None => pending += 1,
        }
        if decades + pending.saturating_sub(SET_UP_MAX) * EDGE_MISS >= limit {
            return None;
        }
    }
    decades += pending * EDGE_MISS;
    (hits > 0 && decades < limit).then_some((decades, hits, misses + pending))
}

/// How widely the delays between sending and arrival spread: their median distance from their median, ns. `None` where too
/// few rows fit.
fn spread(rows: &[Row], flown: &[Flown], tolerance: i64) -> Option<i64> {
    let rows = &rows[..rows.len().min(ROWS_MAX)];
    let delay = |row: &Row| sample_of(flown, row, tolerance).map(|index| row.arrived - flown[index].sent);
    let mut delays: Vec<i64> = rows.iter().filter_map(delay).collect();
    if delays.len() < DELAYS_MIN as usize {
        return None;
    }
    let middle = delays.len() / 2;
    let median = *delays.select_nth_unstable(middle).1;
    delays.iter_mut().for_each(|delay| *delay = (*delay - median).abs());
    Some(*delays.select_nth_unstable(middle).1)
}
