//! Drawing values: each a pure function of the seed, its own name, and the number of the request or row.
//!
//! A value has a stream of its own, so that a value more in the file changes none of the others.

mod compile;
mod fixed;

pub(crate) use compile::{Compiler, amounts, finds};
pub(crate) use fixed::Fixed;

use crate::definition::TextForm;
use driver::{Decimal, Value, ValueType};
use units::{Rng, Seed};
use workload::distribution::{GrayZipf, Hotspot, NuRand, ScrambledZipf, Zipf, ycsb_hash};

/// What a draw is a function of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Position {
    /// Number of the request, or of the row.
    pub(crate) index: u64,
    /// How many values of sequences were given out before.
    pub(crate) ticket: u64,
}

/// Whole numbers from 0 on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ranks {
    Uniform(u64),
    Zipf(Zipf),
    Ycsb(GrayZipf),
    /// Over one number more, which is drawn again, as YCSB does it: that decides which keys are hot.
    Scrambled(ScrambledZipf, u64),
    /// Its own numbers, less the first.
    Nurand(NuRand, u64),
    Hotspot(Hotspot, u64),
}

impl Ranks {
    fn draw(&self, rng: &mut Rng) -> u64 {
        match self {
            Ranks::Uniform(count) => rng.below(*count),
            Ranks::Zipf(zipf) => zipf.draw(rng),
            Ranks::Ycsb(zipf) => zipf.draw(rng),
            Ranks::Scrambled(zipf, count) => loop {
                let drawn = zipf.draw(rng);
                if drawn < *count {
                    break drawn;
                }
            },
            Ranks::Nurand(nurand, first) => nurand.draw(rng) - first,
            Ranks::Hotspot(hotspot, count) => hotspot.draw(rng, *count),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Law {
    /// One of the fixed values; how likely each is or one before it. Empty where there is one alone.
    Fixed {
        values: Vec<Fixed>,
        cumulative: Vec<f64>,
    },
    /// `from` and a rank below `count`.
    Whole {
        from: i64,
        count: u64,
        ranks: Ranks,
    },
    Sequence {
        from: i64,
        stride: u64,
    },
    Real {
        from: f64,
        to: f64,
    },
    Moment {
        from: i64,
        count: u64,
    },
    Now,
    Text {
        alphabet: Vec<char>,
        least: u64,
        more: u64,
    },
}

/// How a value is drawn.
#[derive(Clone, Debug)]
pub(crate) struct Draw {
    pub(crate) name: String,
    pub(crate) seed: Seed,
    pub(crate) law: Law,
    pub(crate) value_type: ValueType,
    pub(crate) form: Option<TextForm>,
    pub(crate) hash: bool,
    /// Place in the list of the value that it must differ from; before its own.
    pub(crate) unlike: Option<usize>,
    /// Bytes of text that it may take.
    pub(crate) text_most: usize,
}

/// A drawn value; text lies in a buffer beside.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) enum Slot {
    #[default]
    Null,
    Int(i64),
    Float(f64),
    Decimal(Decimal),
    Timestamp(i64),
    Text(usize, usize),
    /// One of the draw's fixed values.
    Fixed(usize),
}

/// The values of one request or row, with memory of their own.
#[derive(Clone, Debug, Default)]
pub(crate) struct Drawn {
    slots: Vec<Slot>,
    /// The whole numbers that they were made of.
    wholes: Vec<i64>,
    text: String,
}

/// Values that are drawn together, those that others must differ from first.
#[derive(Clone, Debug, Default)]
pub(crate) struct DrawList {
    pub(crate) draws: Vec<Draw>,
}

impl DrawList {
    /// Bytes of text of all values together, at most.
    pub(crate) fn text_most(&self) -> usize {
        self.draws.iter().map(|draw| draw.text_most).sum()
    }

    pub(crate) fn has_sequence(&self) -> bool {
        self.draws.iter().any(|draw| matches!(draw.law, Law::Sequence { .. }))
    }

    /// Draws all values. Allocates nothing in memory that [`Drawn::with_room`] made.
    pub(crate) fn draw(&self, at: Position, drawn: &mut Drawn) {
        drawn.slots.clear();
        drawn.wholes.clear();
        drawn.text.clear();
        for draw in &self.draws {
            let other = draw.unlike.map(|index| drawn.wholes[index]);
            let (slot, whole) = draw.draw(at, other, &mut drawn.text);
            drawn.slots.push(slot);
            drawn.wholes.push(whole);
        }
    }

    /// A value that was drawn.
    pub(crate) fn value<'a>(&'a self, drawn: &'a Drawn, index: usize) -> Value<'a> {
        match drawn.slots[index] {
            Slot::Null => Value::Null,
            Slot::Int(n) => Value::Int(n),
            Slot::Float(x) => Value::Float(x),
            Slot::Decimal(decimal) => Value::Decimal(decimal),
            Slot::Timestamp(micros) => Value::Timestamp(micros),
            Slot::Text(from, to) => Value::Text(&drawn.text[from..to]),
            Slot::Fixed(which) => match &self.draws[index].law {
                Law::Fixed { values, .. } => values[which].value(),
                _ => Value::Null,
            },
        }
    }
}

impl Drawn {
    /// Room for as many values and as much text, touched.
    pub(crate) fn with_room(values: usize, text: usize) -> Drawn {
        let mut drawn =
            Drawn { slots: vec![Slot::Null; values], wholes: vec![0; values], text: " ".repeat(text) };
        drawn.text.clear();
        drawn
    }
}

impl Draw {
    fn draw(&self, at: Position, other: Option<i64>, text: &mut String) -> (Slot, i64) {
        let mut rng = self.seed.at(at.index);
        match &self.law {
            Law::Fixed { cumulative, .. } => (Slot::Fixed(chosen(cumulative, &mut rng)), 0),
            Law::Whole { from, count, ranks } => {
                let whole =
                    different(other, *from, *count, || from.wrapping_add_unsigned(ranks.draw(&mut rng)));
                (self.formed(whole, text), whole)
            }
            Law::Sequence { from, stride } => {
                let whole = from.wrapping_add_unsigned(at.ticket.wrapping_mul(*stride));
                (self.formed(whole, text), whole)
            }
            Law::Real { from, to } => (Slot::Float(from + rng.unit() * (to - from)), 0),
            Law::Moment { from, count } => {
                (Slot::Timestamp(from.wrapping_add_unsigned(rng.below(*count))), 0)
            }
            Law::Now => (Slot::Timestamp((clock::wall_time_ns() / 1_000) as i64), 0),
            Law::Text { alphabet, least, more } => {
                let from = text.len();
                for _ in 0..least + rng.below(more + 1) {
                    text.push(alphabet[rng.below(alphabet.len() as u64) as usize]);
                }
                (Slot::Text(from, text.len()), 0)
            }
        }
    }

    /// A whole number as the value that it stands for.
    fn formed(&self, whole: i64, text: &mut String) -> Slot {
        let number = if self.hash { ycsb_hash(whole as u64) as i64 } else { whole };
        match self.value_type {
            ValueType::Float => Slot::Float(number as f64),
            ValueType::Decimal(scale) => Slot::Decimal(Decimal { unscaled: number, scale }),
            ValueType::Text => {
                let from = text.len();
                let TextForm { prefix, width } = self.form.as_ref().unwrap_or(&PLAIN);
                text.push_str(prefix);
                push_digits(text, number, *width);
                Slot::Text(from, text.len())
            }
            _ => Slot::Int(number),
        }
    }
}

static PLAIN: TextForm = TextForm { prefix: String::new(), width: 1 };

/// How often a number is drawn again that must differ from another.
const REDRAWS: u32 = 64;

/// A number other than `other`; after too many of the same, the one behind it.
fn different(other: Option<i64>, from: i64, count: u64, mut draw: impl FnMut() -> i64) -> i64 {
    let mut whole = draw();
    let Some(other) = other else { return whole };
    for _ in 0..REDRAWS {
        if whole != other {
            return whole;
        }
        whole = draw();
    }
    if whole != other {
        return whole;
    }
    let rank = (whole.wrapping_sub(from) as u64 + 1) % count;
    from.wrapping_add_unsigned(rank)
}

fn chosen(cumulative: &[f64], rng: &mut Rng) -> usize {
    if cumulative.is_empty() {
        return 0;
    }
    let at = rng.unit();
    cumulative.partition_point(|share| *share <= at).min(cumulative.len() - 1)
}

/// Writes a number with at least `width` digits; without the standard formatter, which may ask for memory.
fn push_digits(text: &mut String, number: i64, width: usize) {
    let mut digits = [b'0'; 20];
    let mut first = digits.len();
    let mut rest = number.unsigned_abs();
    while rest > 0 || first == digits.len() {
        first -= 1;
        digits[first] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    if number < 0 {
        text.push('-');
    }
    for _ in digits.len() - first..width {
        text.push('0');
    }
    digits[first..].iter().for_each(|digit| text.push(char::from(*digit)));
}

#[cfg(test)]
mod tests;
