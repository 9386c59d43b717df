//! Which failed requests are tried again, how often, and after which pause.
//!
//! A retry carries the same plan out again: the same keys and values. All attempts and the pauses between them lie between
//! the request's `sent` and `completed`, so that whoever waits for a transaction waits for its retries, too. A request whose
//! fate nobody knows (its connection was lost, or it was given up) is not tried again unless that is asked for: it may have
//! been carried out.

use driver::OpError;
use std::fmt;
use units::{Nanos, Outcome, Seed};
use workload::names::nearest;

/// A set of outcomes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Classes(u16);

/// What a policy can name, widest first.
const NAMED: &[(&str, &[Outcome])] = &[
    ("conflicts", &[Outcome::Serialization, Outcome::Deadlock, Outcome::Busy]),
    (
        "refused",
        &[
            Outcome::Serialization,
            Outcome::Deadlock,
            Outcome::Busy,
            Outcome::Unavailable,
            Outcome::Redirected,
        ],
    ),
    ("serialization", &[Outcome::Serialization]),
    ("deadlock", &[Outcome::Deadlock]),
    ("busy", &[Outcome::Busy]),
    ("unavailable", &[Outcome::Unavailable]),
    ("redirected", &[Outcome::Redirected]),
    ("lost", &[Outcome::ConnectionLost]),
];

impl Classes {
    /// Serialization failures, deadlocks, and what was locked or busy: the database says itself that nothing was done.
    pub const CONFLICTS: Classes = Classes::of(NAMED[0].1);

    const fn of(outcomes: &[Outcome]) -> Classes {
        let (mut bits, mut at) = (0, 0);
        while at < outcomes.len() {
            bits |= 1 << outcomes[at] as u16;
            at += 1;
        }
        Classes(bits)
    }

    /// Whether an outcome is among them.
    #[inline]
    pub fn has(self, outcome: Outcome) -> bool {
        self.0 & (1 << outcome.code()) != 0
    }
}

impl fmt::Display for Classes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut left = self.0;
        let mut first = true;
        // The wide names stand first, so that they are taken where they fit. `refused` holds `conflicts`.
        let order = [1, 0].into_iter().chain(2..NAMED.len());
        for (name, outcomes) in order.map(|index| NAMED[index]) {
            let bits = Classes::of(outcomes).0;
            if bits & left == bits {
                left &= !bits;
                f.write_str(if first { "" } else { "+" })?;
                f.write_str(name)?;
                first = false;
            }
        }
        Ok(())
    }
}

/// How long a session rests before it tries again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pause {
    /// Not at all.
    None,
    /// Always the same.
    Constant(Nanos),
    /// Twice as long after each attempt, up to `most`; of that a share drawn from [½, 1), so that those who met once do not
    /// meet again.
    Exponential {
        /// Before the first retry.
        first: Nanos,
        /// The longest.
        most: Nanos,
    },
}

/// A pause that doubles ends here, unless it is said where.
const LONGEST: Nanos = Nanos::from_secs(1);

impl Pause {
    /// Reads `0`, `1ms`, `exp:1ms`, `exp:1ms..100ms`.
    ///
    /// # Errors
    /// One line that names the text and what is accepted.
    pub fn parse(text: &str) -> Result<Pause, String> {
        let time = |part: &str| {
            units::parse_duration(part)
                .map_err(|error| format!("`{text}`: {error}; expected a time such as 1ms, or exp:1ms..100ms"))
        };
        let Some(range) = text.strip_prefix("exp:") else {
            return Ok(match time(text)? {
                Nanos::ZERO => Pause::None,
                constant => Pause::Constant(constant),
            });
        };
        let (first, most) = match range.split_once("..") {
            None => {
                let first = time(range)?;
                (first, first.max(LONGEST))
            }
            Some((first, most)) => (time(first)?, time(most)?),
        };
        if first == Nanos::ZERO || most < first {
            return Err(format!(
                "`{text}`: the first pause must be longer than 0 and no longer than the longest, as in exp:1ms..100ms"
            ));
        }
        Ok(Pause::Exponential { first, most })
    }

    /// The pause before retry `retry`, from 1, of request `seq`: a pure function of the seed.
    pub(crate) fn before(self, retry: u8, seq: u64, seed: Seed) -> Nanos {
        match self {
            Pause::None => Nanos::ZERO,
            Pause::Constant(time) => time,
            Pause::Exponential { first, most } => {
                let doublings = u32::from(retry.saturating_sub(1)).min(63);
                let whole = first.0.checked_shl(doublings).filter(|time| time >> doublings == first.0);
                let whole = whole.map_or(most, Nanos).min(most);
                let share = 0.5 + 0.5 * seed.at(seq.wrapping_mul(256).wrapping_add(retry.into())).unit();
                Nanos((whole.0 as f64 * share) as u64)
            }
        }
    }
}

impl fmt::Display for Pause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = |t: &Nanos| format!("{t}").replace(' ', "");
        match self {
            Pause::None => f.write_str("0s"),
            Pause::Constant(t) => f.write_str(&time(t)),
            Pause::Exponential { first, most } => write!(f, "exp:{}..{}", time(first), time(most)),
        }
    }
}

/// Which failed requests are tried again, and how.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Retry {
    /// How often at most.
    pub most: u8,
    /// After which outcomes.
    pub classes: Classes,
    /// After which pause.
    pub pause: Pause,
}

impl Retry {
    /// Nothing is tried again: a failure is an outcome.
    pub const NONE: Retry = Retry { most: 0, classes: Classes(0), pause: Pause::None };

    /// Conflicts are tried again up to `most` times, at once.
    pub fn conflicts(most: u8) -> Retry {
        match most {
            0 => Retry::NONE,
            most => Retry { most, classes: Classes::CONFLICTS, pause: Pause::None },
        }
    }

    /// Reads `none`, `3`, `conflicts:3`, `deadlock+unavailable:5`; the pause is none.
    ///
    /// # Errors
    /// One line that names the text and what is accepted.
    pub fn parse(text: &str) -> Result<Retry, String> {
        if text == "none" {
            return Ok(Retry::NONE);
        }
        let (classes, count) = text.rsplit_once(':').unwrap_or(("conflicts", text));
        let mut bits = 0;
        for name in classes.split('+') {
            let Some((_, outcomes)) = NAMED.iter().find(|(known, _)| *known == name) else {
                return Err(unknown(text, name));
            };
            bits |= Classes::of(outcomes).0;
        }
        let most = count.parse::<u8>().map_err(|_| match text.contains(':') {
            false if !count.bytes().all(|b| b.is_ascii_digit()) => unknown(text, text),
            _ => format!("`{text}`: `{count}` retries; expected a whole number in 0..255"),
        })?;
        match most {
            0 => Ok(Retry::NONE),
            most => Ok(Retry { most, classes: Classes(bits), pause: Pause::None }),
        }
    }

    /// Whether a request that failed so after `retries` retries is tried again. What was given up never is, nor what was
    /// answered with bytes that nobody understands.
    #[inline]
    pub(crate) fn wants(&self, error: OpError, retries: u8) -> bool {
        if retries >= self.most {
            return false;
        }
        if error.session_usable {
            return self.classes.has(error.outcome);
        }
        let given_up = error.outcome.is_censored() || error.outcome == Outcome::Protocol;
        !given_up && self.classes.has(Outcome::ConnectionLost)
    }
}

fn unknown(text: &str, name: &str) -> String {
    let known: Vec<&str> = NAMED.iter().map(|(name, _)| *name).collect();
    if name == text && text.bytes().all(|b| b.is_ascii_alphabetic()) && known.contains(&text) {
        return format!("`{text}`: how often? Write `{text}:3`");
    }
    let near = nearest(name, &known).map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    format!(
        "`{text}`: no outcome `{name}`{near}; expected none, N, or CLASS[+CLASS]:N of {}",
        known.join(", ")
    )
}

impl fmt::Display for Retry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.most {
            0 => f.write_str("none"),
            most => write!(f, "{}:{most}", self.classes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_are_read_and_shown() {
        for text in [
            "none",
            "conflicts:3",
            "refused:2",
            "refused+lost:255",
            "conflicts+lost:1",
            "deadlock+unavailable:7",
        ] {
            assert_eq!(Retry::parse(text).unwrap().to_string(), text);
        }
        for (text, shown) in [
            ("3", "conflicts:3"),
            ("0", "none"),
            ("busy:0", "none"),
            ("busy+serialization+deadlock:1", "conflicts:1"),
        ] {
            assert_eq!(Retry::parse(text).unwrap().to_string(), shown);
        }
        for (text, named) in [
            ("", "`` retries"),
            ("256", "0..255"),
            ("-1", "none, N"),
            ("conflicts", "conflicts:3"),
            ("conflict:3", "did you mean `conflicts`"),
            ("deadlok", "did you mean `deadlock`"),
            ("deadlock+:3", "no outcome ``"),
            ("deadlock:x", "`x` retries"),
            ("constraint:3", "none, N, or CLASS"),
        ] {
            let error = Retry::parse(text).unwrap_err();
            assert!(error.contains(named) && error.contains(text), "{text}: {error}");
        }
    }

    /// What may have been carried out is in no set that does not name it.
    #[test]
    fn what_may_have_been_carried_out_has_to_be_named() {
        for (name, outcomes) in NAMED {
            let classes = Classes::of(outcomes);
            assert_eq!(classes.has(Outcome::ConnectionLost), *name == "lost", "{name}");
            assert_eq!(classes == Classes::CONFLICTS, *name == "conflicts");
            for never in [
                Outcome::Ok,
                Outcome::Miss,
                Outcome::Abort,
                Outcome::Timeout,
                Outcome::Unfinished,
                Outcome::Constraint,
                Outcome::Server,
                Outcome::Protocol,
            ] {
                assert!(!classes.has(never), "{name} holds {never:?}");
            }
        }
    }

    #[test]
    fn pauses_are_read_and_shown() {
        for text in ["0s", "1.00ms", "exp:1.00ms..100ms"] {
            assert_eq!(Pause::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(
            Pause::parse("exp:2ms"),
            Ok(Pause::Exponential { first: Nanos::from_millis(2), most: Nanos::from_secs(1) })
        );
        for text in ["", "soon", "exp:", "exp:x", "exp:1ms..", "exp:5ms..1ms", "exp:0ms..1ms", "-1ms"] {
            let error = Pause::parse(text).unwrap_err();
            assert!(error.contains(text) && error.contains("exp:1ms..100ms"), "{text}: {error}");
        }
    }

    #[test]
    fn a_pause_doubles_up_to_its_most_and_is_a_function_of_the_seed() {
        let pause = Pause::Exponential { first: Nanos(1000), most: Nanos(6000) };
        let seed = Seed(3);
        for (retry, whole) in [(1, 1000), (2, 2000), (3, 4000), (4, 6000), (64, 6000), (255, 6000)] {
            let drawn: Vec<u64> = (0..100).map(|seq| pause.before(retry, seq, seed).0).collect();
            assert!(drawn.iter().all(|time| (whole / 2..whole).contains(time)), "{retry}: {drawn:?}");
            assert!(drawn.iter().any(|time| *time != drawn[0]));
            assert_eq!(pause.before(retry, 7, seed).0, drawn[7]);
        }
        assert_eq!(Pause::Constant(Nanos(5)).before(200, 1, seed), Nanos(5));
        assert_eq!(Pause::None.before(1, 1, seed), Nanos::ZERO);
    }
}
