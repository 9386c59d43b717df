//! When the store stands still.

use super::LATEST;
use crate::Draw;
use crate::text::{self, TextError};
use std::fmt;
use std::str::FromStr;
use units::Nanos;

/// A hiccup, `LENGTH@FIRST`, or `LENGTH@FIRST every PERIOD`.
///
/// `1s@30s` lasts one second and begins 30 s after the first request. `1s@30s every 10s` begins at 30 s, 40 s, 50 s…;
/// the period is from begin to begin. Length and period may be any [`Draw`]: `exp:200ms@10s every exp:5s`. One that
/// lasts longer than its period is followed at once by the next.
#[derive(Clone, PartialEq, Debug)]
pub struct Hiccup {
    /// How long each lasts.
    pub length: Draw,
    /// When the first begins, counted from the first request; at most a week.
    pub first: Nanos,
    /// From the begin of one to the begin of the next; `None`: there is only the first.
    pub every: Option<Draw>,
}

impl Hiccup {
    /// The shortest mean period.
    pub const PERIOD_MIN: Nanos = Nanos::from_millis(10);
    /// The largest share of time that hiccups may take together, in [0, 1].
    pub const SHARE_MAX: f64 = 0.9;

    /// How often one begins in a second, in the mean and in the long run.
    pub(super) fn each_second(&self) -> f64 {
        self.every.as_ref().map_or(0.0, |every| 1e9 / every.mean().max(Nanos(1)).0 as f64)
    }

    /// The share of all time that it takes, in the mean and in the long run; in [0, 1] unless the period is too short.
    pub fn share(&self) -> f64 {
        let Some(every) = &self.every else { return 0.0 };
        self.length.mean().0 as f64 / every.mean().max(Nanos(1)).0 as f64
    }
}

impl fmt::Display for Hiccup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.length, text::exact(self.first))?;
        match &self.every {
            Some(every) => write!(f, " every {every}"),
            None => Ok(()),
        }
    }
}

impl FromStr for Hiccup {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Hiccup, TextError> {
        read(text).map_err(|why| TextError::new("hiccup", text, &why))
    }
}

fn read(text: &str) -> Result<Hiccup, String> {
    let expected = "expected `1s@30s` (length, instant of the first) or `1s@30s every 10s`";
    let (length, rest) = text.split_once('@').ok_or(expected)?;
    let (first, every) = match rest.split_once(" every ") {
        Some((first, every)) => (first, Some(every)),
        None => (rest, None),
    };
    let hiccup = Hiccup {
        length: super::read_draw(length)?,
        first: text::duration(first.trim(), LATEST)?,
        every: every.map(super::read_draw).transpose()?,
    };
    let period = hiccup.every.as_ref().map(Draw::mean);
    if let Some(period) = period.filter(|period| *period < Hiccup::PERIOD_MIN) {
        let (period, shortest) = (text::exact(period), text::exact(Hiccup::PERIOD_MIN));
        return Err(format!("the mean period is {period}, expected at least {shortest}"));
    }
    if hiccup.share() > Hiccup::SHARE_MAX {
        let (share, most) = (hiccup.share() * 100.0, Hiccup::SHARE_MAX * 100.0);
        return Err(format!("it takes {share:.0}% of all time, at most {most:.0}% are possible"));
    }
    Ok(hiccup)
}
