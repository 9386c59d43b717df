//! Phases of a load and the rate profile that they make.

use std::fmt;
use units::{Nanos, PerSecond};

/// One phase as the user asked for it.
#[derive(Clone, PartialEq, Debug)]
pub struct Phase {
    /// As written, e.g. `30s@1000/s`.
    pub name: String,
    /// How long.
    pub duration: Nanos,
    /// Rate at its begin and end; `None` in a closed loop.
    pub rate: Option<(PerSecond, PerSecond)>,
    /// Sessions that take part; `None` is all.
    pub sessions: Option<u32>,
    /// Weights by operation name; `None` is the load's mix.
    pub mix: Option<Vec<(String, f64)>>,
    /// Whether it is warm-up.
    pub warm_up: bool,
}

/// A phase text that can't be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParsePhasesError {
    text: String,
    problem: String,
}

impl fmt::Display for ParsePhasesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "phase `{}`: {}", self.text, self.problem)
    }
}

impl std::error::Error for ParsePhasesError {}

/// Reads `30s@1000/s, 10s@1000..5000/s, 30s@5000/s sessions=16 mix=Read=90+Update=10`.
///
/// # Errors
/// Names the phase and the part of it that is wrong.
pub fn parse_phases(text: &str) -> Result<Vec<Phase>, ParsePhasesError> {
    text.split(',').map(|part| parse_phase(part.trim())).collect()
}

fn parse_phase(text: &str) -> Result<Phase, ParsePhasesError> {
    let fail = |problem: String| ParsePhasesError { text: text.to_owned(), problem };
    let mut words = text.split_whitespace();
    let head = words.next().unwrap_or("");
    let (duration, rate) = match head.split_once('@') {
        Some((duration, rate)) => (duration, Some(rate)),
        None => (head, None),
    };
    let duration = units::parse_duration(duration).map_err(|e| fail(e.to_string()))?;
    if duration == Nanos::ZERO {
        return Err(fail("a phase must last longer than 0".to_owned()));
    }
    let rate = rate.map(parse_rate_range).transpose().map_err(fail)?;
    let mut phase =
        Phase { name: text.to_owned(), duration, rate, sessions: None, mix: None, warm_up: false };
    for word in words {
        match word.split_once('=') {
            None if word == "warm-up" => phase.warm_up = true,
            Some(("sessions", count)) => {
                let count = count.parse().ok().filter(|&c| c > 0);
                phase.sessions =
                    Some(count.ok_or_else(|| fail(format!("`{word}`: expected a number above 0")))?);
            }
            Some(("mix", mix)) => phase.mix = Some(parse_mix(&mix.replace('+', ",")).map_err(fail)?),
            _ => {
                return Err(fail(format!(
                    "`{word}`: expected `sessions=N`, `mix=Type=weight+Type=weight` or `warm-up`"
                )));
            }
        }
    }
    Ok(phase)
}

fn parse_rate_range(text: &str) -> Result<(PerSecond, PerSecond), String> {
    match text.split_once("..") {
        Some((from, to)) => {
            // `1000..5000/s`: the unit stands once, behind the second number.
            let unit = to.find(|c: char| !(c.is_ascii_digit() || c == '.')).map_or("", |at| &to[at..]);
            let from = if from.ends_with(|c: char| c.is_ascii_digit()) {
                format!("{from}{unit}")
            } else {
                from.into()
            };
            let from = units::parse_rate(&from).map_err(|e| e.to_string())?;
            Ok((from, units::parse_rate(to).map_err(|e| e.to_string())?))
        }
        None => units::parse_rate(text).map(|rate| (rate, rate)).map_err(|e| e.to_string()),
    }
}

/// Reads `ReadRecord=90,UpdateRecord=10`; whether the names exist is for the workload to say.
///
/// # Errors
/// One line that names the pair.
pub fn parse_mix(text: &str) -> Result<Vec<(String, f64)>, String> {
    let mix: Vec<(String, f64)> = text
        .split(',')
        .map(|pair| {
            let (name, weight) = pair
                .trim()
                .split_once('=')
                .ok_or_else(|| format!("mix `{pair}`: expected Type=weight, such as `ReadRecord=90`"))?;
            match weight.trim().parse::<f64>() {
                Ok(weight) if weight.is_finite() && weight >= 0.0 => Ok((name.trim().to_owned(), weight)),
                _ => Err(format!("mix `{pair}`: `{weight}` is not a weight of at least 0")),
            }
        })
        .collect::<Result<_, String>>()?;
    for (at, (name, _)) in mix.iter().enumerate() {
        if mix[..at].iter().any(|(other, _)| other.eq_ignore_ascii_case(name)) {
            return Err(format!("mix `{text}`: `{name}` is there twice; give it one weight"));
        }
    }
    match missed_whole(mix.iter().map(|(_, weight)| weight).sum()) {
        Some((sum, whole)) => Err(format!(
            "mix `{text}`: the weights make {sum} and not {whole}; correct one, or give plain weights that make another \
             sum, such as `{}=1`",
            mix[0].0
        )),
        None => Ok(mix),
    }
}

/// Weights that are meant as per cent or as shares of 1, and miss it by more than rounding: what they make, and the whole.
/// Weights that come nowhere near either are meant as weights.
fn missed_whole(sum: f64) -> Option<(f64, f64)> {
    let is_near = |whole: &f64| (0.9..=1.1).contains(&(sum / whole));
    let is_rounded = |whole: f64| (sum / whole - 1.0).abs() <= 0.0101;
    [1.0, 100.0].into_iter().find(is_near).filter(|whole| !is_rounded(*whole)).map(|whole| {
        let plain = (sum * 1e6).round() / 1e6;
        (plain, whole)
    })
}

/// Rate over time: pieces with linear rate, one after the other.
#[derive(Clone, PartialEq, Debug)]
pub struct RateProfile {
    pieces: Vec<Piece>,
}

#[derive(Clone, Copy, PartialEq, Debug)]
struct Piece {
    /// Seconds since the load's start.
    begin: f64,
    seconds: f64,
    rate_begin: f64,
    rate_end: f64,
    /// Expected arrivals before this piece: its begin in operational time.
    operational: f64,
}

impl Piece {
    fn arrivals(&self) -> f64 {
        self.seconds * (self.rate_begin + self.rate_end) / 2.0
    }
}

impl RateProfile {
    /// One rate for all the time.
    pub fn constant(rate: PerSecond, duration: Nanos) -> RateProfile {
        RateProfile::new(&[(duration, rate, rate)])
    }

    /// Pieces of (duration, rate at begin, rate at end).
    pub fn new(parts: &[(Nanos, PerSecond, PerSecond)]) -> RateProfile {
        let (mut begin, mut operational) = (0.0, 0.0);
        let pieces = parts
            .iter()
            .map(|&(duration, from, to)| {
                let seconds = duration.as_secs_f64();
                let piece = Piece { begin, seconds, rate_begin: from.get(), rate_end: to.get(), operational };
                begin += seconds;
                operational += piece.arrivals();
                piece
            })
            .collect();
        RateProfile { pieces }
    }

    /// When it ends.
    pub fn end(&self) -> Nanos {
        self.pieces.last().map_or(Nanos::ZERO, |p| Nanos::from_secs_f64(p.begin + p.seconds))
    }

    /// Arrivals expected before `at`: Λ. Past the end all of them.
    pub(crate) fn expected(&self, at: Nanos) -> f64 {
        let at = at.as_secs_f64();
        let after = self.pieces.partition_point(|p| p.begin <= at);
        let Some(piece) = after.checked_sub(1).map(|index| self.pieces[index]) else { return 0.0 };
        let rest = (at - piece.begin).min(piece.seconds);
        let slope = (piece.rate_end - piece.rate_begin) / piece.seconds;
        piece.operational + rest * (piece.rate_begin + slope * rest / 2.0)
    }

    /// The time at which `operational` arrivals are expected: Λ⁻¹. `None` past the end.
    ///
    /// Within a piece Λ(t) = r₀t + (r₁ − r₀)t²/2T, whose root is taken in the form that stays exact when the
    /// two rates are (nearly) the same.
    pub fn invert(&self, operational: f64) -> Option<Nanos> {
        let after = self.pieces.partition_point(|p| p.operational <= operational);
        let piece = self.pieces[after.checked_sub(1)?];
        let rest = operational - piece.operational;
        if rest >= piece.arrivals() {
            return None;
        }
        let slope = (piece.rate_end - piece.rate_begin) / piece.seconds;
        let root = (piece.rate_begin * piece.rate_begin + 2.0 * slope * rest).max(0.0).sqrt();
        let seconds = 2.0 * rest / (piece.rate_begin + root);
        Some(Nanos::from_secs_f64(piece.begin + if rest == 0.0 { 0.0 } else { seconds }))
    }
}

/// The sessions to connect when `asked` are asked for and phases may ask for more of their own: the most of them
/// all. Phases that say nothing keep to `asked`.
pub fn sessions_to_connect(phases: &mut [Phase], asked: u32) -> u32 {
    let most = phases.iter().filter_map(|p| p.sessions).fold(asked, u32::max);
    if most > asked {
        phases.iter_mut().for_each(|p| p.sessions = p.sessions.or(Some(asked)));
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_are_read() {
        let phases = parse_phases("30s@1000/s, 10s@1000..5000/s, 5s@5k/s sessions=4 mix=A=1+B=2").unwrap();
        let rates: Vec<_> = phases.iter().map(|p| p.rate.map(|(a, b)| (a.get(), b.get()))).collect();
        assert_eq!(rates, [Some((1e3, 1e3)), Some((1e3, 5e3)), Some((5e3, 5e3))]);
        assert_eq!(phases[2].sessions, Some(4));
        assert_eq!(phases[2].mix, Some(vec![("A".into(), 1.0), ("B".into(), 2.0)]));
        assert_eq!(parse_phases("10s").unwrap()[0].rate, None);
        let warm: Vec<bool> = parse_phases("1s warm-up, 10s").unwrap().iter().map(|p| p.warm_up).collect();
        assert_eq!(warm, [true, false]);
    }

    #[test]
    fn bad_phases_name_the_part() {
        let message = |text: &str| parse_phases(text).unwrap_err().to_string();
        assert!(message("30@x").starts_with("phase `30@x`: `x` is not a rate"));
        assert!(message("0s@5/s").contains("longer than 0"));
        assert!(message("5s@5/s foo=1").contains("`foo=1`"));
        assert!(message("5s@5/s, ").starts_with("phase ``"));
        assert!(message("5s@-5/s").contains("`-5/s`"));
    }

    #[test]
    fn a_ramp_is_inverted_exactly() {
        let rate = |r| PerSecond::new(r).unwrap();
        let profile = RateProfile::new(&[
            (Nanos::from_secs(10), rate(100.0), rate(100.0)),
            (Nanos::from_secs(10), rate(100.0), rate(300.0)),
            (Nanos::from_secs(10), rate(300.0), rate(0.0)),
        ]);
        // Λ(20 s) = 1000 + 2000; Λ(15 s) = 1000 + 500 + 10·25 = 1750.
        for (operational, seconds) in [(500.0, 5.0), (1750.0, 15.0), (3000.0, 20.0)] {
            let found = profile.invert(operational).unwrap().as_secs_f64();
            assert!((found - seconds).abs() < 1e-6, "{operational}: {found}");
            let expected = profile.expected(Nanos::from_secs_f64(seconds));
            assert!((expected - operational).abs() < 1e-6, "{seconds} s: {expected}");
        }
        assert_eq!(profile.expected(Nanos::ZERO), 0.0);
        assert_eq!(profile.expected(Nanos::from_secs(31)), 4500.0);
        assert_eq!(profile.invert(4500.0), None);
        assert_eq!(profile.end(), Nanos::from_secs(30));
    }

    #[test]
    fn the_phase_with_most_sessions_says_how_many_to_connect() {
        let connect = |text: &str| {
            let mut phases = parse_phases(text).unwrap();
            let sessions = sessions_to_connect(&mut phases, 8);
            (sessions, phases.iter().map(|p| p.sessions).collect::<Vec<_>>())
        };
        assert_eq!(connect("1s@5/s, 1s@5/s sessions=16"), (16, vec![Some(8), Some(16)]));
        assert_eq!(connect("1s@5/s, 1s@5/s sessions=2"), (8, vec![None, Some(2)]));
        assert_eq!(connect("1s@5/s"), (8, vec![None]));
    }
}
