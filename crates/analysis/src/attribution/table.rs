//! From the slow requests and the causes to what is said of them.

use super::causes::Met;
use super::collect::{Collected, Hunt, Slow};
use super::cut::cut;
use super::lanes::Lanes;
use super::ran::{during, held};
use super::{
    Attribution, Cause, CauseInterval, CauseRow, Held, Mark, Piece, SlowPoint, SlowRequest, Watched,
};
use crate::input::Options;
use crate::limits::{ASSOCIATION_P, MOST_DRAWN, MOST_MARKS, MOST_POINTS};
use stats::{Association, IntervalSeries, association};
use units::{Instant, Nanos};

/// Everything that is said of the slow requests; `None` when there are none. `measured` is the measured time on the
/// common axis, and what was collected is finished. Cost: a second at most for the tests of each cause, and ≈ 1 µs for each slow request.
pub(crate) fn attribute(
    hunt: &Hunt,
    collected: &Collected,
    measured: (Instant, Instant),
    options: &Options,
) -> Option<Attribution> {
    let slow: u64 = collected.counts.iter().sum();
    let last = collected.slow.iter().map(|request| request.completed).max()?;
    let span = (measured.0.0, measured.1.0.max(last));
    let unions: Vec<Unions> = hunt.observed.met.iter().map(|met| Unions::of(met, span)).collect();
    let associations = associations(hunt, &collected.slow, span, options);
    let is_shown = |cause: Cause| is_shown(cause, associations[cause.index()].as_ref());
    let lanes: Vec<Lanes> = (hunt.observed.met.iter().enumerate())
        .map(|(recording, met)| Lanes::new(met, is_shown, |end| hunt.recovered(recording, end, collected)))
        .collect();
    let mut tally = Tally::default();
    let mut points = Vec::new();
    let mut worst = Vec::new();
    for request in &collected.slow {
        let recording = usize::from(request.recording);
        let pieces = cut(request, &lanes[recording], hunt.usual_service(request.op));
        let largest = tally.add(request, &pieces, &unions[recording]);
        if points.len() < MOST_POINTS {
            points.push(SlowPoint { at: Instant(request.at), whole: Nanos(request.whole()), largest });
        }
        if worst.len() < hunt.worst {
            worst.push(shown(hunt, request, pieces, largest));
        }
    }
    points.sort_unstable_by_key(|point| (point.at, point.whole));
    let intervals = drawn(is_shown, &unions);
    let examined = collected.slow.len() as u64;
    let mut notes = hunt.observed.notes.clone();
    notes.extend(watched_in_part(hunt, &unions));
    if examined < slow {
        notes.push(format!(
            "of {slow} slow requests only the slowest {examined} were looked at: raise the limit with `--above`"
        ));
    }
    Some(Attribution {
        measure: hunt.measure(),
        threshold: hunt.threshold,
        limits: hunt.slow_limits(&collected.counts),
        slow,
        examined,
        time: Nanos(tally.total()),
        causes: tally.rows(hunt, &collected.slow, associations, &unions, span),
        notes,
        worst,
        points,
        intervals,
    })
}

/// Whether an observed cause may explain time. An outage needs no test: without a session, nothing can be served.
fn is_shown(cause: Cause, association: Option<&Association>) -> bool {
    association.is_some_and(|found| cause == Cause::Outage || found.p_value <= ASSOCIATION_P)
}

/// The longest intervals of each cause that is shown.
fn drawn(is_shown: impl Fn(Cause) -> bool, unions: &[Unions]) -> Vec<CauseInterval> {
    let of_cause = |cause: Cause| {
        let mut all: Vec<(u64, u64)> = unions.iter().flat_map(|u| u.of_cause(cause)).copied().collect();
        all.sort_unstable();
        all.dedup();
        all.sort_by_key(|(begin, end)| std::cmp::Reverse(end - begin));
        all.truncate(MOST_DRAWN);
        all.sort_unstable();
        all.into_iter().map(move |(begin, end)| CauseInterval {
            cause,
            begin: Instant(begin),
            end: Instant(end),
        })
    };
    Cause::ALL.into_iter().filter(|cause| is_shown(*cause)).flat_map(of_cause).collect()
}

/// For each cause, whether the slow requests meet it more often than by chance.
fn associations(hunt: &Hunt, slow: &[Slow], span: (u64, u64), options: &Options) -> Vec<Option<Association>> {
    let requests = |until: fn(&Slow) -> u64| -> Vec<Vec<(u64, u64)>> {
        let mut by_recording = vec![Vec::new(); hunt.observed.met.len()];
        slow.iter().for_each(|one| by_recording[usize::from(one.recording)].push((one.at, until(one))));
        by_recording
    };
    let (whole, waiting) = (requests(|one| one.completed), requests(|one| one.ready));
    let test = |cause: Cause| {
        let requests = if cause == Cause::Reconnect { &waiting } else { &whole };
        let series: Vec<IntervalSeries<'_>> = (requests.iter().zip(&hunt.observed.met))
            .map(|(first, met)| IntervalSeries { first, second: met.of(cause) })
            .collect();
        association(&series, span, options.level, options.seed.derive(cause.key()))
    };
    Cause::ALL.into_iter().map(test).collect()
}

/// Each cause's intervals within the time looked at, in order and apart.
struct Unions([Vec<(u64, u64)>; Cause::ALL.len()]);

impl Unions {
    fn of(met: &Met, span: (u64, u64)) -> Unions {
        Unions(Cause::ALL.map(|cause| united(met.of(cause), span)))
    }

    fn of_cause(&self, cause: Cause) -> &[(u64, u64)] {
        &self.0[cause.index()]
    }

    fn touch(&self, cause: Cause, from: u64, to: u64) -> bool {
        let list = self.of_cause(cause);
        let first = list.partition_point(|interval| interval.1 <= from);
        list.get(first).is_some_and(|interval| interval.0 < to)
    }
}

fn united(intervals: &[(u64, u64)], span: (u64, u64)) -> Vec<(u64, u64)> {
    let clip = |&(begin, end): &(u64, u64)| (begin.max(span.0), end.min(span.1));
    let mut all: Vec<(u64, u64)> = intervals.iter().map(clip).filter(|(begin, end)| begin < end).collect();
    all.sort_unstable();
    all.dedup_by(|next, last| {
        let touches = next.0 <= last.1;
        if touches {
            last.1 = last.1.max(next.1);
        }
        touches
    });
    all
}

/// Sums over the slow requests, by [`Cause::index`].
#[derive(Default)]
struct Tally {
    time: [u64; Cause::ALL.len()],
    behind: [u64; Cause::ALL.len()],
    largest: [u64; Cause::ALL.len()],
    touched: [u64; Cause::ALL.len()],
}

impl Tally {
    /// Adds a request and gives the cause of its largest part.
    fn add(&mut self, request: &Slow, pieces: &[Piece], unions: &Unions) -> Cause {
        let mut own = [0u64; Cause::ALL.len()];
        for piece in pieces {
            let index = piece.cause.index();
            own[index] += piece.length.0;
            let behind = if piece.is_behind { piece.length.0 } else { 0 };
            self.behind[index] = self.behind[index].saturating_add(behind);
        }
        for (index, cause) in Cause::ALL.into_iter().enumerate() {
            let until = if cause == Cause::Reconnect { request.ready } else { request.completed };
            self.time[index] = self.time[index].saturating_add(own[index]);
            self.touched[index] += u64::from(own[index] > 0 || unions.touch(cause, request.at, until));
        }
        // Of equal ones the first; a request without any length is the database's.
        let first = |cause: &Cause| (own[cause.index()], std::cmp::Reverse(cause.index()));
        let largest = Cause::ALL.into_iter().filter(|cause| own[cause.index()] > 0).max_by_key(first);
        let largest = largest.unwrap_or(Cause::Database);
        self.largest[largest.index()] += 1;
        largest
    }

    fn total(&self) -> u64 {
        self.time.iter().fold(0, |sum, time| sum.saturating_add(*time))
    }

    /// Those that explain most first; then what was seen and explains nothing, then what was not looked for.
    fn rows(
        &self,
        hunt: &Hunt,
        slow: &[Slow],
        associations: Vec<Option<Association>>,
        unions: &[Unions],
        span: (u64, u64),
    ) -> Vec<CauseRow> {
        let total = self.total().max(1) as f64;
        let row = |(index, (cause, association)): (usize, (Cause, Option<Association>))| {
            let watched = if cause.is_observed() {
                match hunt.observed.watched.get(&cause)? {
                    Watched::No(_) if intervals(cause, unions) > 0 => Watched::Yes,
                    watched => watched.clone(),
                }
            } else {
                by_stamps(cause, hunt, slow)?
            };
            Some(CauseRow {
                cause,
                watched,
                intervals: intervals(cause, unions),
                is_shown: !cause.is_observed() || is_shown(cause, association.as_ref()),
                association,
                share: self.time[index] as f64 / total,
                time: Nanos(self.time[index]),
                behind: Nanos(self.behind[index]),
                largest: self.largest[index],
                touched: self.touched[index],
                ran: during(&hunt.observed.turns, cause, span),
            })
        };
        let mut rows: Vec<CauseRow> =
            Cause::ALL.into_iter().zip(associations).enumerate().filter_map(row).collect();
        rows.sort_by_key(|row| {
            let unwatched = row.watched != Watched::Yes;
            (unwatched, std::cmp::Reverse(row.time), row.cause)
        });
        rows
    }
}

/// What was seen was watched, though not all the time: whatever has intervals may explain time, and must be shown.
fn watched_in_part(hunt: &Hunt, unions: &[Unions]) -> Vec<String> {
    let said = |(cause, watched): (&Cause, &Watched)| match watched {
        Watched::No(why) if intervals(*cause, unions) > 0 => {
            Some(format!("{}s were watched in part: {why}", cause.name()))
        }
        _ => None,
    };
    hunt.observed.watched.iter().filter_map(said).collect()
}

/// What stamps tell: a closed loop has neither pool wait nor lag; without the kernel's stamps there is no pick-up.
fn by_stamps(cause: Cause, hunt: &Hunt, slow: &[Slow]) -> Option<Watched> {
    let stamped = slow.iter().filter(|request| request.is_stamped).count();
    match cause {
        Cause::PoolWait | Cause::Lag if hunt.measure() == record::Measure::Service => None,
        Cause::BeforeSending if slow.iter().all(|request| request.knows_ready) => None,
        Cause::PoolWait | Cause::Lag if slow.iter().all(|request| !request.knows_ready) => None,
        Cause::PickUp if stamped == 0 => {
            Some(Watched::No("no request has a kernel stamp; it is in the database's time".to_owned()))
        }
        _ => Some(Watched::Yes),
    }
}

/// Those on the server's side are the same for all recordings.
fn intervals(cause: Cause, unions: &[Unions]) -> u64 {
    if super::causes::is_shared_in_part(cause) {
        let all: Vec<(u64, u64)> = unions.iter().flat_map(|unions| unions.of_cause(cause)).copied().collect();
        return united(&all, (0, u64::MAX)).len() as u64;
    }
    let counts = unions.iter().map(|unions| unions.of_cause(cause).len() as u64);
    if super::causes::is_shared(cause) { counts.max().unwrap_or(0) } else { counts.sum() }
}

fn shown(hunt: &Hunt, request: &Slow, pieces: Vec<Piece>, largest: Cause) -> SlowRequest {
    let moments = &hunt.observed.met[usize::from(request.recording)].moments;
    let first = moments.partition_point(|moment| moment.0 < request.at);
    let within = moments[first..].iter().take_while(|moment| moment.0 <= request.completed);
    let mark = |(at, kind, subject): &(u64, record::EventKind, String)| Mark {
        at: Instant(*at),
        kind: *kind,
        subject: subject.clone(),
    };
    SlowRequest {
        at: Instant(request.at),
        whole: Nanos(request.whole()),
        seq: request.seq,
        client: request.client,
        session: request.session,
        operation: hunt.operation(request.op).to_owned(),
        outcome: request.outcome,
        largest,
        held: pieces.iter().map(|piece| held_in(hunt, request, piece)).collect(),
        pieces,
        queued: hunt.observed.run_queues[usize::from(request.recording)]
            .around(request.at, request.completed),
        marks: within.take(MOST_MARKS).map(mark).collect(),
    }
}

/// What is behind a stall was held by nobody any more.
fn held_in(hunt: &Hunt, request: &Slow, piece: &Piece) -> Option<Held> {
    let span = (piece.begin.0, piece.begin.0 + piece.length.0);
    let recording = usize::from(request.recording);
    (!piece.is_behind).then(|| held(&hunt.observed.turns, recording, piece.cause, span)).flatten()
}
