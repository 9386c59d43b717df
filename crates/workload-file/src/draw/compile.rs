//! From definitions of values to draws: parameters are put in, ranges and types are checked.

use super::fixed::{fixed, scaled, too_fine};
use super::{Draw, DrawList, Law, Ranks};
use crate::definition::*;
use crate::document::{Place, shown};
use crate::expression::{Expression, Found, Number, Scope};
use driver::ValueType;
use units::Seed;
use workload::distribution::{GrayZipf, Hotspot, NuRand, ScrambledZipf, Zipf};
use workload::names;

/// The longest text that is drawn.
const LONGEST: i64 = 1 << 20;

/// What draws are made with.
pub(crate) struct Compiler<'a> {
    pub(crate) scope: &'a Scope,
    /// Of all values; each derives its own by its name.
    pub(crate) seed: Seed,
    /// This client's number and how many there are: sequences of several go side by side.
    pub(crate) client: (u64, u64),
}

impl Compiler<'_> {
    /// The draws of the values called `wanted`, and of those that these must differ from.
    pub(crate) fn list(&self, values: &[&ValueDefinition], wanted: &[&str]) -> Result<DrawList, String> {
        let mut list = DrawList::default();
        for name in wanted {
            self.add(values, name, &mut list, &mut Vec::new())?;
        }
        Ok(list)
    }

    fn add<'v>(
        &self,
        values: &[&'v ValueDefinition],
        name: &str,
        list: &mut DrawList,
        on_the_way: &mut Vec<&'v str>,
    ) -> Result<usize, String> {
        if let Some(there) = list.draws.iter().position(|draw| draw.name == name) {
            return Ok(there);
        }
        let Some(value) = values.iter().find(|value| value.name == name) else {
            return Err(format!("there is no value `{}`", shown(name)));
        };
        if on_the_way.contains(&name) {
            return Err(value.place.error("must differ from a value that must differ from it"));
        }
        on_the_way.push(&value.name);
        let unlike = match &value.unlike {
            None => None,
            Some(other) if !values.iter().any(|value| value.name == *other) => {
                let valid: Vec<&str> = values.iter().map(|value| value.name.as_str()).collect();
                let suggestion = names::suggestion(other, &valid);
                return Err(value.place.error(format!("`unlike`: no value `{}`{suggestion}", shown(other))));
            }
            Some(other) => Some(self.add(values, other, list, on_the_way)?),
        };
        on_the_way.pop();
        let mut draw = self.draw(value)?;
        draw.unlike = unlike;
        if let Some(other) = unlike.map(|index| &list.draws[index]) {
            check_unlike(value, &draw, other)?;
        }
        list.draws.push(draw);
        Ok(list.draws.len() - 1)
    }

    /// How one value is drawn.
    pub(crate) fn draw(&self, value: &ValueDefinition) -> Result<Draw, String> {
        let law = self.law(value)?;
        let value_type = value_type(value, &law)?;
        let text_most = match &law {
            Law::Text { alphabet, least, more } => {
                let widest = alphabet.iter().map(|c| c.len_utf8()).max().unwrap_or(1);
                (least + more) as usize * widest
            }
            _ if value_type == ValueType::Text => {
                let form = value.form.clone().unwrap_or_default();
                form.prefix.len() + form.width.max(20) + 1
            }
            _ => 0,
        };
        Ok(Draw {
            name: value.name.clone(),
            seed: self.seed.derive(&value.name),
            law,
            value_type,
            form: value.form.clone(),
            hash: value.hash,
            unlike: None,
            text_most,
        })
    }

    fn law(&self, value: &ValueDefinition) -> Result<Law, String> {
        match &value.kind {
            Kind::Constant(scalar) => fixed(value, std::slice::from_ref(scalar), Vec::new()),
            Kind::Computed(amount) => {
                let scalar = match self.number(amount)? {
                    Number::Int(n) => Scalar::Int(n),
                    Number::Float(x) => Scalar::Float(x),
                };
                fixed(value, &[scalar], Vec::new())
            }
            Kind::Choice { of, weights } => fixed(value, of, self.cumulative(value, of.len(), weights)?),
            Kind::Uniform { from, to } => self.uniform(value, from, to),
            Kind::Zipf { shape, from, to, theta } => self.zipf(value, *shape, (from, to), theta.as_ref()),
            Kind::Nurand { a, from, to, c } => self.nurand(value, a, (from, to), c.as_ref()),
            Kind::Hotspot { from, to, hot, share } => {
                let (from, count) = self.range(value, from, to)?;
                let hotspot = Hotspot { data_fraction: self.share(hot)?, draw_fraction: self.share(share)? };
                Ok(Law::Whole { from, count, ranks: Ranks::Hotspot(hotspot, count) })
            }
            Kind::Sequence { from, after } => self.sequence(from.as_ref(), after.as_ref()),
            Kind::Text { alphabet, least, most } => self.text(value, alphabet, least, most),
            Kind::Timestamp { from, to } if from <= to => {
                Ok(Law::Moment { from: *from, count: to.abs_diff(*from).saturating_add(1) })
            }
            Kind::Timestamp { .. } => Err(value.place.error("`from` is later than `to`")),
            Kind::Now => Ok(Law::Now),
        }
    }

    fn number(&self, amount: &Amount) -> Result<Number, String> {
        amount.expression.value(self.scope).map_err(|why| amount.place.error(why))
    }

    /// A whole number.
    pub(crate) fn whole(&self, amount: &Amount) -> Result<i64, String> {
        let number = self.number(amount)?;
        number.whole().ok_or_else(|| {
            amount
                .place
                .error(format!("{number} is not a whole number; floor(…), ceil(…) and round(…) make one"))
        })
    }

    fn share(&self, amount: &Amount) -> Result<f64, String> {
        let share = self.number(amount)?.as_f64();
        if (0.0..=1.0).contains(&share) {
            Ok(share)
        } else {
            Err(amount.place.error(format!("{share} is not in 0 to 1")))
        }
    }

    /// The first number of a range, and how many there are.
    fn range(&self, value: &ValueDefinition, from: &Amount, to: &Amount) -> Result<(i64, u64), String> {
        let (from, to) = (self.whole(from)?, self.whole(to)?);
        check_order(&value.place, from <= to, Number::Int(from), Number::Int(to))?;
        let count = u64::try_from(i128::from(to) - i128::from(from) + 1).ok().filter(|n| *n <= 1 << 62);
        let count = count.ok_or_else(|| value.place.error(format!("{from} to {to} is too wide a range")))?;
        Ok((from, count))
    }

    fn uniform(&self, value: &ValueDefinition, from: &Amount, to: &Amount) -> Result<Law, String> {
        if let Some(ValueType::Decimal(scale)) = value.stated {
            let unscaled = |amount: &Amount| {
                let number = self.number(amount)?;
                scaled(number, scale).ok_or_else(|| amount.place.error(too_fine(number, scale)))
            };
            let (low, high) = (unscaled(from)?, unscaled(to)?);
            check_order(&value.place, low <= high, self.number(from)?, self.number(to)?)?;
            let count = high.abs_diff(low).saturating_add(1);
            return Ok(Law::Whole { from: low, count, ranks: Ranks::Uniform(count) });
        }
        if value.stated == Some(ValueType::Float)
            || (value.stated.is_none() && (from.has_point || to.has_point))
        {
            let (low, high) = (self.number(from)?, self.number(to)?);
            check_order(&value.place, low.as_f64() <= high.as_f64(), low, high)?;
            return Ok(Law::Real { from: low.as_f64(), to: high.as_f64() });
        }
        let (from, count) = self.range(value, from, to)?;
        Ok(Law::Whole { from, count, ranks: Ranks::Uniform(count) })
    }

    fn zipf(
        &self,
        value: &ValueDefinition,
        shape: ZipfShape,
        (from, to): (&Amount, &Amount),
        theta: Option<&Amount>,
    ) -> Result<Law, String> {
        let (from, count) = self.range(value, from, to)?;
        let skew = theta.map_or(Ok(0.99), |amount| self.number(amount).map(Number::as_f64))?;
        let fits = match shape {
            ZipfShape::Exact => (0.0..=100.0).contains(&skew),
            _ => 0.0 < skew && skew < 1.0,
        };
        if !fits {
            let place = theta.map_or(&value.place, |amount| &amount.place);
            return Err(place.error(match shape {
                ZipfShape::Exact => format!("{skew} is not in 0 to 100"),
                _ => format!(
                    "YCSB's method needs a theta between 0 and 1, not {skew}; `draw = \"zipf\"` takes any"
                ),
            }));
        }
        let ranks = match shape {
            ZipfShape::Exact => Ranks::Zipf(Zipf::new(count, skew)),
            ZipfShape::Ycsb => Ranks::Ycsb(GrayZipf::new(count, skew)),
            ZipfShape::Scrambled => {
                Ranks::Scrambled(ScrambledZipf::new(count.saturating_add(1), skew), count)
            }
        };
        Ok(Law::Whole { from, count, ranks })
    }

    fn nurand(
        &self,
        value: &ValueDefinition,
        a: &Amount,
        (from, to): (&Amount, &Amount),
        c: Option<&Amount>,
    ) -> Result<Law, String> {
        let (low, count) = self.range(value, from, to)?;
        let positive = |amount: &Amount| {
            let whole = self.whole(amount)?;
            let fits = u64::try_from(whole).ok().filter(|n| *n < 1 << 62);
            fits.ok_or_else(|| amount.place.error(format!("{whole}: NURand needs 0 or more")))
        };
        let (first, spread) = (positive(from)?, positive(a)?);
        let constant = match c {
            Some(amount) => positive(amount)?,
            // A constant of the run: TPC-C 2.1.6.
            None => self.seed.derive(&value.name).derive("C").rng().below(spread + 1),
        };
        let nurand = NuRand::new(spread, first, first + (count - 1), constant);
        Ok(Law::Whole { from: low, count, ranks: Ranks::Nurand(nurand, first) })
    }

    fn sequence(&self, from: Option<&Amount>, after: Option<&(String, String)>) -> Result<Law, String> {
        let from = from.map_or(Ok(1), |amount| self.whole(amount))?;
        let found = after
            .and_then(|(table, column)| self.scope.found.get(&Found::Highest(table.clone(), column.clone())));
        let free = found.map_or(from, |highest| from.max(highest.saturating_add(1)));
        let (number, clients) = self.client;
        // The first that is this client's own: those of others may be there already.
        let ahead = (i128::from(number) - i128::from(free)).rem_euclid(i128::from(clients.max(1)));
        Ok(Law::Sequence { from: free.wrapping_add(ahead as i64), stride: clients.max(1) })
    }

    fn text(
        &self,
        value: &ValueDefinition,
        alphabet: &[char],
        least: &Amount,
        most: &Amount,
    ) -> Result<Law, String> {
        let length = |amount: &Amount| {
            let length = self.whole(amount)?;
            let fits = u64::try_from(length).ok().filter(|_| length <= LONGEST);
            fits.ok_or_else(|| amount.place.error(format!("{length} characters; expected 0 to {LONGEST}")))
        };
        let (shortest, longest) = (length(least)?, length(most)?);
        if shortest > longest {
            return Err(value
                .place
                .error(format!("the least length {shortest} is above the most {longest}")));
        }
        Ok(Law::Text { alphabet: alphabet.to_vec(), least: shortest, more: longest - shortest })
    }

    fn cumulative(
        &self,
        value: &ValueDefinition,
        count: usize,
        weights: &Option<Vec<Amount>>,
    ) -> Result<Vec<f64>, String> {
        let weights: Vec<f64> = match weights {
            None => vec![1.0; count],
            Some(amounts) => {
                let weight = |amount: &Amount| {
                    let weight = self.number(amount)?.as_f64();
                    if weight >= 0.0 {
                        Ok(weight)
                    } else {
                        Err(amount.place.error(format!("{weight} is below 0")))
                    }
                };
                amounts.iter().map(weight).collect::<Result<_, String>>()?
            }
        };
        let total: f64 = weights.iter().sum();
        if total <= 0.0 || !total.is_finite() {
            return Err(value.place.error("the weights are all 0; one must be above 0"));
        }
        let mut sum = 0.0;
        Ok(weights
            .iter()
            .map(|weight| {
                sum += weight / total;
                sum
            })
            .collect())
    }
}

fn check_order(place: &Place, is_ordered: bool, from: Number, to: Number) -> Result<(), String> {
    if is_ordered { Ok(()) } else { Err(place.error(format!("`from` = {from} is above `to` = {to}"))) }
}

fn check_unlike(value: &ValueDefinition, draw: &Draw, other: &Draw) -> Result<(), String> {
    let whole = |draw: &Draw| matches!(draw.law, Law::Whole { .. } | Law::Sequence { .. });
    let name = &other.name;
    if !whole(other) || !matches!(draw.law, Law::Whole { .. }) {
        return Err(value.place.error(format!("`unlike`: it and `{name}` must both be whole numbers")));
    }
    match draw.law {
        Law::Whole { count: 1, .. } => {
            Err(value.place.error(format!("can't differ from `{name}`: there is one number to draw from")))
        }
        _ => Ok(()),
    }
}

/// The type of what is drawn, which must agree with the one that is stated.
fn value_type(value: &ValueDefinition, law: &Law) -> Result<ValueType, String> {
    let cannot = |drawn: &str| {
        let wanted = value.stated.map_or_else(|| "text".to_owned(), type_name);
        Err(value.place.error(format!("{drawn} can't be of type {wanted}")))
    };
    match (law, value.stated) {
        (Law::Fixed { values, .. }, _) => Ok(values[0].value_type()),
        (Law::Whole { .. } | Law::Sequence { .. }, stated) => match (stated, &value.form) {
            (None | Some(ValueType::Text), Some(_)) => Ok(ValueType::Text),
            (_, Some(_)) => Err(value.place.error("`prefix` and `width` make text; drop `type`, or these")),
            (None, None) => Ok(ValueType::Int),
            (Some(ValueType::Decimal(_)), None) if !matches!(value.kind, Kind::Uniform { .. }) => {
                cannot("whole numbers")
            }
            (Some(ValueType::Decimal(_) | ValueType::Text), None)
                if value.hash && stated != Some(ValueType::Text) =>
            {
                cannot("a hash")
            }
            (Some(ValueType::Timestamp), None) => cannot("numbers"),
            (Some(stated), None) => Ok(stated),
        },
        (Law::Real { .. }, _) if value.form.is_some() || value.hash || value.unlike.is_some() => {
            let words = "`prefix`, `width`, `hash` and `unlike` go with whole numbers";
            Err(value.place.error(words))
        }
        (Law::Real { .. }, None | Some(ValueType::Float)) => Ok(ValueType::Float),
        (Law::Real { .. }, _) => cannot("numbers with a point"),
        (Law::Moment { .. } | Law::Now, None | Some(ValueType::Timestamp)) => Ok(ValueType::Timestamp),
        (Law::Moment { .. } | Law::Now, _) => cannot("moments"),
        (Law::Text { .. }, None | Some(ValueType::Text)) => Ok(ValueType::Text),
        (Law::Text { .. }, _) => cannot("strings"),
    }
}

pub(crate) fn type_name(value_type: ValueType) -> String {
    match value_type {
        ValueType::Int => "int".to_owned(),
        ValueType::Float => "float".to_owned(),
        ValueType::Text => "text".to_owned(),
        ValueType::Timestamp => "timestamp".to_owned(),
        ValueType::Decimal(scale) => format!("decimal({scale})"),
    }
}

/// What a list of values looks up in the database.
pub(crate) fn finds(value: &ValueDefinition, see: &mut dyn FnMut(&Found)) {
    amounts(value, &mut |expression| expression.finds(see));
    if let Kind::Sequence { after: Some((table, column)), .. } = &value.kind {
        see(&Found::Highest(table.clone(), column.clone()));
    }
}

/// The numbers that a value is drawn with.
pub(crate) fn amounts(value: &ValueDefinition, see: &mut dyn FnMut(&Expression)) {
    let all: Vec<&Amount> = match &value.kind {
        Kind::Computed(amount) => vec![amount],
        Kind::Uniform { from, to } => vec![from, to],
        Kind::Zipf { from, to, theta, .. } => [from, to].into_iter().chain(theta).collect(),
        Kind::Nurand { a, from, to, c } => [a, from, to].into_iter().chain(c).collect(),
        Kind::Hotspot { from, to, hot, share } => vec![from, to, hot, share],
        Kind::Sequence { from, .. } => from.iter().collect(),
        Kind::Text { least, most, .. } => vec![least, most],
        Kind::Choice { weights: Some(weights), .. } => weights.iter().collect(),
        Kind::Constant(_) | Kind::Choice { .. } | Kind::Timestamp { .. } | Kind::Now => Vec::new(),
    };
    all.into_iter().for_each(|amount| see(&amount.expression));
}
