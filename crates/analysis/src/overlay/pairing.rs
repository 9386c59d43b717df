//! Which session each connection belongs to.
//!
//! Of a connection and its own session, every row lies inside of a sample; but for a few of the connection's set-up. Of any
//! other session a row lies inside of a sample by chance: with the probability that it is busy. A row that lies in none
//! makes that session less likely to be the one, by a factor that is put at a hundred, or at ten before the first row that
//! fits and behind the last one: that may be set-up. A session is ruled out when it is 10⁸ times less likely than
//! the best one.
//!
//! Sessions that wait for each other's answers, such as those of a saturated store, may be busy in step, so that all rows
//! of a connection fit into samples of several of them. Then the delay between sending and arrival decides, among those that
//! no other connection has at the same time: that of the right pair varies by some microseconds, that of a wrong one by the
//! delays of two sessions. It must be half as wide.

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
/// Rows that may lie in no sample of the session that a connection is paired with, beside a tenth of all.
const MISSES_MAX: u32 = 8;
/// Decades by which its rows must speak for a session, and against nobody's.
const SURE: u32 = 1;
/// Rows that must fit a session for a connection to be its own: fewer fit by chance, such as those of set-up alone.
const HITS_MIN: u32 = 8;
/// A connection with so many rows for each one of all others that may have a session, and so many more, has it.
const FAR_MORE: u32 = 4;
/// Rows that a connection is judged by at most.
const ROWS_MAX: usize = 4096;
/// Requests that fit, from which on their delays are compared, …
const DELAYS_MIN: usize = 32;
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
    reach: Reach,
}

/// The first and the last sample of a session that rows of one connection lie in, without tolerance if any do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Reach {
    first: usize,
    last: usize,
}

/// How two connections' samples of one session lie.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Meeting {
    /// One after the other: the session may have had both.
    Apart,
    /// One sample is the last of one and the first of the other: the session may have had both, if it was connected
    /// anew within a request; or rows of the one are not its own.
    Touching,
    /// At the same time: the session had one of them at most.
    Crossing,
}

impl Reach {
    fn meets(self, other: Reach) -> Meeting {
        if self.last < other.first || other.last < self.first {
            Meeting::Apart
        } else if self.last == other.first || other.last == self.first {
            Meeting::Touching
        } else {
            Meeting::Crossing
        }
    }
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
    /// Per session: how far the connections paired with it reach.
    taken: Vec<Vec<Reach>>,
}

/// A connection that may have a session.
struct Claim {
    connection: usize,
    hits: u32,
    reach: Reach,
}

impl<'a> Table<'a> {
    fn new(loaded: &'a Loaded, tolerance: i64) -> Table<'a> {
        let of = |connection: &Connection| candidates(connection, &loaded.sessions, tolerance);
        Table {
            loaded,
            tolerance,
            candidates: loaded.connections.iter().map(of).collect(),
            paired: vec![None; loaded.connections.len()],
            taken: vec![Vec::new(); loaded.sessions.len()],
        }
    }

    fn take_known(&mut self, known: &Known) {
        let ids: HashMap<Id, usize> =
            self.loaded.sessions.iter().enumerate().map(|(i, s)| (id(s), i)).collect();
        for (index, connection) in self.loaded.connections.iter().enumerate() {
            let Some(&session) = known.0.get(&connection.number).and_then(|id| ids.get(id)) else { continue };
            self.paired[index] = Some(session);
            let flown = &self.loaded.sessions[session].flown;
            self.taken[session].extend(reach(&connection.rows, flown, self.tolerance));
        }
    }

    /// Pairs every connection that its rows alone leave one session; whether there was any. What others have rules nothing out
    /// here: into sessions that are nearly always busy a stranger's rows fit by chance, too, and the last one that nobody is
    /// known to have would be his.
    fn decide(&mut self) -> bool {
        let claims = self.claims();
        let found: Vec<(usize, Candidate)> = self
            .open()
            .filter_map(|connection| {
                let [only] = self.candidates[connection][..] else { return None };
                self.may_have(connection, &only, &claims).then_some((connection, only))
            })
            .collect();
        self.take_all(found)
    }

    /// Pairs every connection and session of which each fits the other far better, by its delays, than all others do;
    /// whether there was any.
    fn decide_by_delays(&mut self) -> bool {
        let claims = self.claims();
        let spreads: HashMap<usize, Vec<(i64, Candidate)>> =
            self.open().filter_map(|connection| Some((connection, self.spreads(connection)?))).collect();
        let found: Vec<(usize, Candidate)> = spreads
            .iter()
            .filter_map(|(&connection, own)| {
                let &(best, candidate) = far_narrower(own)?;
                let of_session = spreads.iter().filter_map(|(other, list)| {
                    let (spread, theirs) = list.iter().find(|(_, c)| c.session == candidate.session)?;
                    let at_once = theirs.reach.meets(candidate.reach) > Meeting::Apart;
                    (at_once && *other != connection).then_some(*spread)
                });
                let alone = of_session.min().is_none_or(|next| is_far_wider(next, best));
                // Of these nobody knows how their delays spread.
                let untold = |claim: &&Claim| !spreads.contains_key(&claim.connection);
                let claimed = self.claimed(connection, &candidate, &claims, untold);
                let is_alone = alone && is_far_more(candidate.hits, claimed);
                (is_alone && self.is_free(&candidate)).then_some((connection, candidate))
            })
            .collect();
        self.take_all(found)
    }

    /// How widely delays spread with each candidate that is left, the narrowest first; `None` where one has too few.
    fn spreads(&self, connection: usize) -> Option<Vec<(i64, Candidate)>> {
        let rows = &self.loaded.connections[connection].rows;
        let one = |candidate: Candidate| {
            let flown = &self.loaded.sessions[candidate.session].flown;
            Some((spread(rows, flown, self.tolerance)?, candidate))
        };
        let mut spreads = self.left(connection).into_iter().map(one).collect::<Option<Vec<_>>>()?;
        spreads.sort_unstable_by_key(|(spread, _)| *spread);
        Some(spreads)
    }

    /// Takes what was found, but for pairs that contradict each other: then neither. Whether any was taken.
    fn take_all(&mut self, found: Vec<(usize, Candidate)>) -> bool {
        let mut any = false;
        for (connection, candidate) in &found {
            let mut rivals = found.iter().filter(|(other, theirs)| {
                other != connection
                    && theirs.session == candidate.session
                    && theirs.reach.meets(candidate.reach) > Meeting::Apart
            });
            if rivals.next().is_none() {
                self.paired[*connection] = Some(candidate.session);
                self.taken[candidate.session].push(candidate.reach);
                any = true;
            }
        }
        any
    }

    fn open(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.paired.len()).filter(|connection| self.paired[*connection].is_none())
    }

    /// Candidates that no other connection certainly has at the same time.
    fn left(&self, connection: usize) -> Vec<Candidate> {
        let candidates = self.candidates[connection].iter();
        candidates.filter(|candidate| self.meeting(candidate) < Meeting::Crossing).copied().collect()
    }

    /// Whether no other connection even touches what a pairing would take.
    fn is_free(&self, candidate: &Candidate) -> bool {
        self.meeting(candidate) == Meeting::Apart
    }

    fn meeting(&self, candidate: &Candidate) -> Meeting {
        let taken = self.taken[candidate.session].iter().map(|reach| reach.meets(candidate.reach));
        taken.max().unwrap_or(Meeting::Apart)
    }

    /// Per session: connections without a session that may have it.
    fn claims(&self) -> HashMap<usize, Vec<Claim>> {
        let mut claims: HashMap<usize, Vec<Claim>> = HashMap::new();
        for connection in self.open() {
            for Candidate { session, hits, reach, .. } in self.left(connection) {
                claims.entry(session).or_default().push(Claim { connection, hits, reach });
            }
        }
        claims
    }

    /// Whether enough rows fit and nearly all do, and no other connection claims the session for the same time; claims of far fewer rows
    /// count for nothing.
    fn may_have(
        &self,
        connection: usize,
        candidate: &Candidate,
        claims: &HashMap<usize, Vec<Claim>>,
    ) -> bool {
        let fits = candidate.hits >= HITS_MIN && candidate.misses <= MISSES_MAX + candidate.hits / 10;
        let claimed = self.claimed(connection, candidate, claims, |_| true);
        fits && self.is_free(candidate)
            && is_far_more(candidate.hits, claimed)
            && self.speaks_for(connection, candidate) >= f64::from(SURE)
    }

    /// Decades by which the rows speak for the session, and against nobody's: in which a row lies in a sample by chance. Of
    /// several rows in one sample one counts.
    fn speaks_for(&self, connection: usize, candidate: &Candidate) -> f64 {
        let flown = &self.loaded.sessions[candidate.session].flown;
        let rows = &self.loaded.connections[connection].rows;
        let chance = Chance::of(flown, self.tolerance);
        let mut before = None;
        let mut decades = -f64::from(candidate.decades);
        for row in &rows[..rows.len().min(ROWS_MAX)] {
            let by_chance = chance.of_length(row.end - row.arrived);
            match sample_of(flown, row, self.tolerance) {
                index @ Some(_) if index == before => {}
                index @ Some(_) => {
                    decades -= by_chance.log10();
                    before = index;
                }
                None => decades -= (1.0 - by_chance).max(0.01).log10(),
            }
        }
        decades
    }

    /// Rows of other connections that would be the session's at the same time, of those claims.
    fn claimed(
        &self,
        connection: usize,
        candidate: &Candidate,
        claims: &HashMap<usize, Vec<Claim>>,
        which: impl Fn(&&Claim) -> bool,
    ) -> u32 {
        let claims = claims.get(&candidate.session).map_or(&[][..], Vec::as_slice);
        let others = claims.iter().filter(|claim| {
            claim.connection != connection && claim.reach.meets(candidate.reach) > Meeting::Apart
        });
        others.filter(which).map(|claim| claim.hits).sum()
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

/// How likely something that happens at any time lies in a sample of one session.
struct Chance {
    /// How long samples took, and the tolerance on both sides; ns, ascending.
    lengths: Vec<i64>,
    /// Of the last so many of them, the sum.
    sums: Vec<i64>,
    /// From the first to the last, ns.
    time: i64,
}

impl Chance {
    fn of(flown: &[Flown], tolerance: i64) -> Chance {
        let mut lengths: Vec<i64> =
            flown.iter().map(|sample| (sample.completed - sample.sent).max(0) + 2 * tolerance).collect();
        lengths.sort_unstable();
        let mut sums = vec![0];
        sums.extend(lengths.iter().rev().scan(0_i64, |sum, length| {
            *sum = sum.saturating_add(*length);
            Some(*sum)
        }));
        let end = flown.iter().map(|sample| sample.completed).max().unwrap_or(0);
        let time = end - flown.first().map_or(0, |sample| sample.sent);
        Chance { lengths, sums, time }
    }

    /// Of something that takes this long, ns; in (0, 1].
    fn of_length(&self, length: i64) -> f64 {
        let longer = self.lengths.len() - self.lengths.partition_point(|of| *of <= length);
        let room = self.sums[longer] as f64 - longer as f64 * length as f64;
        (room / self.time.max(1) as f64).clamp(1e-6, 1.0)
    }
}

/// The first of some spreads, in order, if the next one is far wider.
fn far_narrower(spreads: &[(i64, Candidate)]) -> Option<&(i64, Candidate)> {
    let [best, next, ..] = spreads else { return None };
    is_far_wider(next.0, best.0).then_some(best)
}

/// Whether so many rows outweigh those that others claim.
fn is_far_more(hits: u32, claimed: u32) -> bool {
    claimed == 0 || hits >= FAR_MORE * (claimed + 1)
}

fn is_far_wider(spread: i64, best: i64) -> bool {
    spread >= 2 * best + SPREAD_MIN
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
        if let Some((decades, hits, misses)) = weigh(rows, flown, tolerance, best + RULED_OUT)
            && let Some(reach) = reach(&connection.rows, flown, tolerance)
        {
            best = best.min(decades);
            found.push(Candidate { session, decades, hits, misses, reach });
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

/// How far a connection reaches in a session; `None` where no row fits.
fn reach(rows: &[Row], flown: &[Flown], tolerance: i64) -> Option<Reach> {
    let within = |tolerance: i64| {
        let first = rows.iter().find_map(|row| sample_of(flown, row, tolerance))?;
        let last = rows.iter().rev().find_map(|row| sample_of(flown, row, tolerance))?;
        Some(Reach { first: first.min(last), last: last.max(first) })
    };
    // What lies outside by less than the tolerance may be set-up behind the last request over the connection before.
    within(0).or_else(|| within(tolerance))
}

/// How widely the delays between sending and arrival spread: their median distance from their median, ns. Of the first row of
/// each sample alone: others wait for the answers to those before. `None` where there are too few.
fn spread(rows: &[Row], flown: &[Flown], tolerance: i64) -> Option<i64> {
    let mut delays = Vec::new();
    let mut before = None;
    for row in &rows[..rows.len().min(ROWS_MAX)] {
        let index = sample_of(flown, row, tolerance);
        if let Some(index) = index.filter(|_| index != before) {
            delays.push(row.arrived - flown[index].sent);
        }
        before = index.or(before);
    }
    if delays.len() < DELAYS_MIN {
        return None;
    }
    let middle = delays.len() / 2;
    let median = *delays.select_nth_unstable(middle).1;
    delays.iter_mut().for_each(|delay| *delay = (*delay - median).abs());
    Some(*delays.select_nth_unstable(middle).1)
}
