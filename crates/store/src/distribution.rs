//! Distributions of times, as flags write them.
//!
//! | text | distribution |
//! |---|---|
//! | `1ms` | always the same |
//! | `exp:1ms` | exponential with this mean |
//! | `uniform:1ms..2ms` | uniform between these |
//! | `lognormal:1ms,2.3` | log-normal with this *mean*, and this standard deviation of the logarithm |
//! | `pareto:1ms,1.5` | Pareto with this minimum and this tail index |
//! | `99% 1ms + 1% 100ms` | one of these, by its share; the shares make 100 % |
//!
//! A log-normal is given by its mean, not by its median, since it is the mean that decides how much load a server can
//! take: with both at hand, ρ = λ·mean. Whatever is drawn is a whole number of nanoseconds between zero and one hour
//! ([`Draw::LONGEST`]), so that a tail without a mean (a Pareto's at index 1 or less) can't stop the store for good;
//! [`Draw::mean`] is that of the capped distribution.
//!
//! ```
//! use units::{Nanos, Seed};
//! let service: store::Draw = "exp:1ms".parse().unwrap();
//! assert_eq!(service.at(Seed(1), 7), service.at(Seed(1), 7)); // request 7 of this seed, whoever asks
//! assert_eq!(service.to_string(), "exp:1ms");
//! ```

use crate::text::{self, TextError};
use std::fmt;
use std::str::FromStr;
use units::{Nanos, Rng, Seed};

/// A distribution of times. See `docs/store.md` for its texts; `Display` gives them back.
#[derive(Clone, PartialEq, Debug)]
pub struct Draw(Form);

#[derive(Clone, PartialEq, Debug)]
enum Form {
    Constant(Nanos),
    Exponential {
        mean: Nanos, // above 0
    },
    Uniform {
        low: Nanos,
        high: Nanos, // not below `low`
    },
    LogNormal {
        mean: Nanos, // above 0
        sigma: f64,  // in (0, 10]
    },
    Pareto {
        minimum: Nanos, // above 0
        index: f64,     // in [0.1, 100]
    },
    /// Shares in per cent, which make 100; no mix in a mix.
    Mix(Vec<(f64, Form)>),
}

/// The most parts that a mix may have.
const PARTS_MAX: usize = 16;
const EXPECTED: &str = "such as `1ms`, `exp:1ms` (mean), `uniform:1ms..2ms`, `lognormal:1ms,0.5` (mean, sigma), \
     `pareto:1ms,1.5` (minimum, index), or a mix such as `99% 1ms + 1% 100ms`";

impl Draw {
    /// No time at all.
    pub const ZERO: Draw = Draw(Form::Constant(Nanos::ZERO));
    /// What is drawn is never longer.
    pub const LONGEST: Nanos = Nanos::from_secs(3600);

    /// Always `time`, or [`Draw::LONGEST`] if that is shorter.
    pub fn constant(time: Nanos) -> Draw {
        Draw(Form::Constant(time.min(Draw::LONGEST)))
    }

    /// Exponential with this mean; constant zero if that is zero.
    pub fn exponential(mean: Nanos) -> Draw {
        if mean == Nanos::ZERO {
            return Draw::ZERO;
        }
        Draw(Form::Exponential { mean: mean.min(Draw::LONGEST) })
    }

    /// The one value if there is just one.
    pub fn as_constant(&self) -> Option<Nanos> {
        match self.0 {
            Form::Constant(time) => Some(time),
            _ => None,
        }
    }

    /// The value number `index` of the stream `seed`: the same for the same two numbers, whatever was drawn before.
    /// Cost: nothing for a constant, else 10–60 ns.
    pub fn at(&self, seed: Seed, index: u64) -> Nanos {
        match &self.0 {
            Form::Constant(time) => *time,
            form => nanos(form.sample(&mut seed.at(index))),
        }
    }

    /// The mean of what is drawn: the cap at [`Draw::LONGEST`] is taken into account, the rounding to nanoseconds is not.
    pub fn mean(&self) -> Nanos {
        nanos(self.0.mean_ns())
    }
}

impl Default for Draw {
    fn default() -> Draw {
        Draw::ZERO
    }
}

/// Nearest whole number in the range; `as` saturates, and makes zero of what is no number.
fn nanos(value: f64) -> Nanos {
    Nanos(value.round() as u64).min(Draw::LONGEST)
}

impl Form {
    fn sample(&self, rng: &mut Rng) -> f64 {
        match self {
            Form::Constant(time) => time.0 as f64,
            Form::Exponential { mean } => mean.0 as f64 * rng.exponential(),
            Form::Uniform { low, high } => low.0 as f64 + (high.0 - low.0) as f64 * rng.unit(),
            Form::LogNormal { mean, sigma } => {
                mean.0 as f64 * (sigma * rng.normal() - sigma * sigma / 2.0).exp()
            }
            Form::Pareto { minimum, index } => minimum.0 as f64 * rng.unit_positive().powf(-1.0 / index),
            Form::Mix(parts) => {
                let mut left = rng.unit() * 100.0;
                let chosen = parts.iter().find(|(share, _)| {
                    left -= share;
                    left < 0.0
                });
                // Shares that make a rounding error less than 100 leave a sliver, which is the last part's.
                chosen.or(parts.last()).map_or(0.0, |(_, form)| form.sample(rng))
            }
        }
    }

    /// E[min(X, c)] with the cap c = [`Draw::LONGEST`].
    fn mean_ns(&self) -> f64 {
        let cap = Draw::LONGEST.0 as f64;
        match self {
            Form::Constant(time) => time.0 as f64,
            // ∫₀ᶜ e^(−x/m) dx
            Form::Exponential { mean } => mean.0 as f64 * -(-cap / mean.0 as f64).exp_m1(),
            Form::Uniform { low, high } => low.0.midpoint(high.0) as f64,
            Form::LogNormal { mean, sigma } => mean_log_normal(mean.0 as f64, *sigma, cap),
            // m + ∫ₘᶜ (m/x)^α dx
            Form::Pareto { minimum, index } => {
                let (m, beyond) = (minimum.0 as f64, index - 1.0);
                let logarithm = (cap / m).ln();
                let tail = if beyond == 0.0 { logarithm } else { -(-beyond * logarithm).exp_m1() / beyond };
                m + m * tail
            }
            Form::Mix(parts) => parts.iter().map(|(share, form)| share / 100.0 * form.mean_ns()).sum(),
        }
    }
}

/// The mean of a log-normal that is cut at `cap`: Simpson's rule over the normal variable, to both sides of the kink.
fn mean_log_normal(mean: f64, sigma: f64, cap: f64) -> f64 {
    let value = |z: f64| mean * (sigma * z - sigma * sigma / 2.0).exp();
    let density = |z: f64| (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt();
    let (low, high) = (-12.0, 12.0 + sigma);
    let kink = (((cap / mean).ln() + sigma * sigma / 2.0) / sigma).clamp(low, high);
    let below = simpson(low, kink, |z| value(z) * density(z));
    below + simpson(kink, high, |z| cap * density(z))
}

fn simpson(from: f64, to: f64, f: impl Fn(f64) -> f64) -> f64 {
    const HALVES: u32 = 2_000;
    let step = (to - from) / f64::from(2 * HALVES);
    let inner: f64 = (1..2 * HALVES)
        .map(|i| f(from + step * f64::from(i)) * if i.is_multiple_of(2) { 2.0 } else { 4.0 })
        .sum();
    (f(from) + inner + f(to)) * step / 3.0
}

impl fmt::Display for Draw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use text::exact as exactly;
        match self {
            Form::Constant(time) => f.write_str(&exactly(*time)),
            Form::Exponential { mean } => write!(f, "exp:{}", exactly(*mean)),
            Form::Uniform { low, high } => write!(f, "uniform:{}..{}", exactly(*low), exactly(*high)),
            Form::LogNormal { mean, sigma } => write!(f, "lognormal:{},{sigma}", exactly(*mean)),
            Form::Pareto { minimum, index } => write!(f, "pareto:{},{index}", exactly(*minimum)),
            Form::Mix(parts) => {
                for (number, (share, form)) in parts.iter().enumerate() {
                    let plus = if number == 0 { "" } else { " + " };
                    write!(f, "{plus}{share}% {form}")?;
                }
                Ok(())
            }
        }
    }
}

impl FromStr for Draw {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Draw, TextError> {
        let refuse = |why: String| TextError::new("distribution of times", text, &why);
        let form = if text.contains('%') { mix(text) } else { simple(text) };
        form.map(Draw).map_err(refuse)
    }
}

fn mix(text: &str) -> Result<Form, String> {
    let parts: Vec<(f64, Form)> = text.split('+').map(part).collect::<Result<_, _>>()?;
    if parts.len() > PARTS_MAX {
        return Err(format!("{} parts, at most {PARTS_MAX} are possible", parts.len()));
    }
    let sum: f64 = parts.iter().map(|(share, _)| share).sum();
    if (sum - 100.0).abs() > 1e-6 {
        return Err(format!("the shares make {sum}%, they must make 100%"));
    }
    Ok(Form::Mix(parts))
}

fn part(text: &str) -> Result<(f64, Form), String> {
    let text = text.trim();
    let (share, form) =
        text.split_once('%').ok_or_else(|| format!("`{text}` has no share, such as `1% 100ms`"))?;
    let share = text::number(share.trim(), 0.0, 100.0)
        .ok_or_else(|| format!("`{share}%` is not a share, expected a number from 0% to 100%"))?;
    Ok((share, simple(form.trim())?))
}

fn simple(text: &str) -> Result<Form, String> {
    let Some((name, rest)) = text.split_once(':') else {
        return time(text).map(Form::Constant).map_err(|why| format!("{why}; or a distribution {EXPECTED}"));
    };
    match name.trim() {
        "exp" => Ok(Form::Exponential { mean: positive(rest)? }),
        "uniform" => {
            let (low, high) = rest.split_once("..").ok_or("expected `uniform:1ms..2ms`")?;
            let (low, high) = (time(low)?, time(high)?);
            if low > high {
                return Err("the first limit is above the second".to_owned());
            }
            Ok(Form::Uniform { low, high })
        }
        "lognormal" => {
            let (mean, sigma) = rest.split_once(',').ok_or("expected `lognormal:MEAN,SIGMA`")?;
            let sigma = text::number(sigma.trim(), 1e-6, 10.0)
                .ok_or_else(|| format!("sigma `{sigma}` is not a number from 0.000001 to 10"))?;
            Ok(Form::LogNormal { mean: positive(mean)?, sigma })
        }
        "pareto" => {
            let (minimum, index) = rest.split_once(',').ok_or("expected `pareto:MINIMUM,INDEX`")?;
            let index = text::number(index.trim(), 0.1, 100.0)
                .ok_or_else(|| format!("index `{index}` is not a number from 0.1 to 100"))?;
            Ok(Form::Pareto { minimum: positive(minimum)?, index })
        }
        _ => Err(format!("expected a distribution {EXPECTED}")),
    }
}

fn time(text: &str) -> Result<Nanos, String> {
    text::duration(text.trim(), Draw::LONGEST)
}

fn positive(text: &str) -> Result<Nanos, String> {
    match time(text)? {
        Nanos::ZERO => Err(format!("`{}` is zero, expected more", text.trim())),
        time => Ok(time),
    }
}
