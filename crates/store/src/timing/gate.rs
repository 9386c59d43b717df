//! Capacity: one request may begin each 1/μ.

use super::fixed::Fine;
use super::freezes::Freezes;
use crate::Join;
use units::{Nanos, PerSecond};

/// The rate of a stretch of time.
#[derive(Clone, Copy, Debug)]
struct Piece {
    /// Its end in real time, counted from the first request; `None`: it has none.
    until: Option<Nanos>,
    /// 1/μ; `None`: nothing begins.
    interval: Option<Fine>,
}

/// The gate, in store time but for the ends of its pieces.
#[derive(Clone, Debug)]
pub struct Gate {
    pieces: Vec<Piece>,
    /// The first request's arrival, from which the pieces count. Before it there is only the first of them.
    origin: Option<Nanos>,
    /// The piece in which `next` lies, or an earlier one.
    current: usize,
    /// When the next may begin.
    next: Fine,
}

impl Gate {
    /// Open; `capacity` up to a join.
    pub fn new(capacity: PerSecond, join: Option<&Join>) -> Gate {
        let before = Fine::interval(capacity);
        let mut pieces = Vec::new();
        if let Some(join) = join {
            let left = PerSecond::new(capacity.get() * (100.0 - join.dip_percent) / 100.0);
            let dip = left.filter(|rate| rate.get() > 0.0).map(Fine::interval);
            pieces.push(Piece { until: Some(join.at), interval: Some(before) });
            pieces.push(Piece { until: Some(join.at + join.streaming), interval: dip });
        }
        let last = join.map_or(before, |join| Fine::interval(join.then));
        pieces.push(Piece { until: None, interval: Some(last) });
        Gate { pieces, origin: None, current: 0, next: Fine::default() }
    }

    /// The pieces' ends count from `origin`.
    pub fn start(&mut self, origin: Nanos) {
        self.origin = Some(origin);
    }

    /// The end of the current piece in real time, and its 1/μ.
    fn current(&self) -> (Option<Nanos>, Option<Fine>) {
        let piece = self.pieces[self.current];
        (self.origin.zip(piece.until).map(|(origin, until)| origin + until), piece.interval)
    }

    /// The turn of a request that came at `came`.
    pub fn pass(&mut self, came: Fine, freezes: &mut Freezes) -> Fine {
        let mut turn = came.max(self.next);
        let interval = loop {
            match self.current() {
                (Some(until), _) if freezes.real_time(turn).floor() >= until => self.current += 1,
                (Some(until), None) => turn = turn.max(freezes.store_time_ahead(until)),
                (_, interval) => break interval.unwrap_or_default(),
            }
        };
        self.next = self.after(turn, interval, freezes);
        turn
    }

    /// When ∫μ dt since `turn`, which lies in the current piece with 1/μ = `interval`, reaches one.
    fn after(&mut self, turn: Fine, interval: Fine, freezes: &mut Freezes) -> Fine {
        let (mut from, mut unit, mut rest) = (turn, interval, interval);
        while let (Some(until), interval) = self.current() {
            if interval.is_some() && freezes.real_time(from + rest).floor() < until {
                break;
            }
            let edge = freezes.store_time_ahead(until);
            if interval.is_some() {
                rest = rest.since(edge.since(from));
            }
            from = edge;
            self.current += 1;
            if let Some(interval) = self.current().1 {
                rest = rest.scaled(interval, unit);
                unit = interval;
            }
        }
        from + rest
    }
}
