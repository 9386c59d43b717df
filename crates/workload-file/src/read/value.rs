//! Values and how they are drawn.

use super::behind;
use crate::definition::*;
use crate::document::{Item, Section, shown};
use crate::expression::{Expression, Number};
use driver::{Decimal, ValueType};
use toml::de::DeValue;
use workload::names;

/// The draws, each with the keys that it takes besides `draw` and `type`; `?` behind one that may be missing.
const DRAWS: [(&str, &[&str]); 13] = [
    ("uniform", &["from", "to"]),
    ("zipf", &["from", "to", "theta?"]),
    ("zipf-ycsb", &["from", "to", "theta?"]),
    ("zipf-scrambled", &["from", "to", "theta?"]),
    ("nurand", &["a", "from", "to", "c?"]),
    ("hotspot", &["from", "to", "hot", "share"]),
    ("sequence", &["from?", "after?"]),
    ("string", &["length", "alphabet?"]),
    ("digits", &["length"]),
    ("choice", &["of", "weights?"]),
    ("timestamp", &["from", "to"]),
    ("now", &[]),
    ("constant", &["value"]),
];
/// What all draws of whole numbers take.
const OF_NUMBERS: [&str; 4] = ["prefix", "width", "hash", "unlike"];
const KEYS: [&str; 20] = [
    "draw", "type", "from", "to", "theta", "a", "c", "hot", "share", "after", "length", "alphabet", "of",
    "weights", "value", "prefix", "width", "hash", "unlike", "scale",
];
const TYPES: &str = "valid are int, float, text, timestamp and decimal(N)";
/// What strings are made of unless told otherwise.
const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/// A plain value of the document.
pub(super) fn scalar(item: &Item<'_>) -> Result<Scalar, String> {
    match item.value() {
        DeValue::String(text) => Ok(Scalar::Text(text.to_string())),
        DeValue::Integer(_) => integer(item).map(Scalar::Int),
        DeValue::Float(_) => float(item).map(Scalar::Float),
        DeValue::Datetime(_) => moment(item).map(Scalar::Timestamp),
        _ => Err(item.wanted("a number, text or a date")),
    }
}

fn integer(item: &Item<'_>) -> Result<i64, String> {
    let number = item.value().as_integer().ok_or_else(|| item.wanted("a whole number"))?;
    i64::from_str_radix(number.as_str(), number.radix())
        .map_err(|_| item.error(format!("{} does not fit into 64 bits", shown(number.as_str()))))
}

fn float(item: &Item<'_>) -> Result<f64, String> {
    let number = item.value().as_float().ok_or_else(|| item.wanted("a number"))?;
    let parsed: Option<f64> = number.as_str().parse().ok().filter(|x: &f64| x.is_finite());
    parsed.ok_or_else(|| item.error(format!("{} is not a number that fits", shown(number.as_str()))))
}

/// A number, or text with parameters that gives one.
pub(super) fn amount(item: &Item<'_>) -> Result<Amount, String> {
    let (expression, has_point) = match item.value() {
        DeValue::Integer(_) => (Expression::Number(Number::Int(integer(item)?)), false),
        DeValue::Float(_) => (Expression::Number(Number::Float(float(item)?)), true),
        DeValue::String(text) => (Expression::parse(text).map_err(|why| item.error(why))?, false),
        _ => return Err(item.wanted("a number, or text such as \"accounts - 1\"")),
    };
    Ok(Amount { expression, has_point, place: item.place() })
}

/// A type by its name.
pub(super) fn value_type(name: &str, item: &Item<'_>) -> Result<ValueType, String> {
    let digits = name.strip_prefix("decimal(").and_then(|rest| rest.strip_suffix(')'));
    match (name, digits.map(|digits| digits.trim().parse::<u8>())) {
        ("int", _) => Ok(ValueType::Int),
        ("float", _) => Ok(ValueType::Float),
        ("text", _) => Ok(ValueType::Text),
        ("timestamp", _) => Ok(ValueType::Timestamp),
        (_, Some(Ok(scale))) if scale <= Decimal::MOST_SCALE => Ok(ValueType::Decimal(scale)),
        (_, Some(_)) => Err(item.error(format!("`{}`: digits after the point are 0 to 18", shown(name)))),
        _ => Err(item.error(format!("no type `{}`; {TYPES}", shown(name)))),
    }
}

/// A value: plain, or a table that says how it is drawn.
pub(super) fn value(name: String, item: &Item<'_>) -> Result<ValueDefinition, String> {
    let plain = |kind| ValueDefinition {
        name: name.clone(),
        kind,
        stated: None,
        form: None,
        hash: false,
        unlike: None,
        place: item.place(),
    };
    if item.value().as_table().is_none() {
        return scalar(item).map(|scalar| plain(Kind::Constant(scalar)));
    }
    let section = item.section(&KEYS)?;
    let draw = section.get("draw").ok_or_else(|| {
        section.error("says nothing of how it is drawn; add `draw`, such as `draw = \"uniform\"`")
    })?;
    let draw_name = draw.text()?;
    let Some((_, takes)) = DRAWS.iter().find(|(known, _)| *known == draw_name) else {
        let valid = DRAWS.map(|(name, _)| name);
        let suggestion = names::suggestion(draw_name, &valid);
        return Err(draw.error(format!("nothing is drawn by `{}`{suggestion}", shown(draw_name))));
    };
    check_keys(&section, draw_name, takes)?;
    let stated = match section.get("type") {
        Some(item) => Some(value_type(item.text()?.trim(), &item)?),
        None => None,
    };
    let unlike = section.text("unlike")?;
    Ok(ValueDefinition {
        kind: kind(&section, draw_name, stated)?,
        stated,
        form: form(&section)?,
        hash: section.flag("hash")?.unwrap_or(false),
        unlike,
        place: section.place(),
        name,
    })
}

fn is_of_numbers(draw: &str) -> bool {
    matches!(draw, "uniform" | "zipf" | "zipf-ycsb" | "zipf-scrambled" | "nurand" | "hotspot" | "sequence")
}

fn check_keys(section: &Section<'_>, draw: &str, takes: &[&str]) -> Result<(), String> {
    let takes_it = |key: &str| {
        ["draw", "type"].contains(&key)
            || takes.iter().any(|taken| taken.trim_end_matches('?') == key)
            || (is_of_numbers(draw) && OF_NUMBERS.contains(&key))
    };
    let mut valid: Vec<&str> = takes.iter().map(|key| key.trim_end_matches('?')).collect();
    valid.push("type");
    if is_of_numbers(draw) {
        valid.extend(OF_NUMBERS);
    }
    if let Some(key) = KEYS.iter().find(|key| section.has(key) && !takes_it(key)) {
        let valid = valid.join(", ");
        return Err(
            section.error(format!("`{key}` does not go with `draw = \"{draw}\"`, which takes {valid}"))
        );
    }
    match takes.iter().find(|key| !key.ends_with('?') && !section.has(key)) {
        Some(key) => Err(section.error(format!("`draw = \"{draw}\"` needs `{key}`"))),
        None => Ok(()),
    }
}

fn kind(section: &Section<'_>, draw: &str, stated: Option<ValueType>) -> Result<Kind, String> {
    let item = |key: &str| section.get(key).ok_or_else(|| section.error(format!("needs `{key}`")));
    let required = |key: &str| item(key).and_then(|item| amount(&item));
    let optional = |key: &str| section.get(key).map(|item| amount(&item)).transpose();
    let zipf = |shape| {
        Ok(Kind::Zipf { shape, from: required("from")?, to: required("to")?, theta: optional("theta")? })
    };
    match draw {
        "uniform" => Ok(Kind::Uniform { from: required("from")?, to: required("to")? }),
        "zipf" => zipf(ZipfShape::Exact),
        "zipf-ycsb" => zipf(ZipfShape::Ycsb),
        "zipf-scrambled" => zipf(ZipfShape::Scrambled),
        "nurand" => Ok(Kind::Nurand {
            a: required("a")?,
            from: required("from")?,
            to: required("to")?,
            c: optional("c")?,
        }),
        "hotspot" => Ok(Kind::Hotspot {
            from: required("from")?,
            to: required("to")?,
            hot: required("hot")?,
            share: required("share")?,
        }),
        "sequence" => Ok(Kind::Sequence {
            from: optional("from")?,
            after: section.get("after").map(|item| behind(&item)).transpose()?,
        }),
        "string" => string(section, &section.text("alphabet")?.unwrap_or_else(|| LETTERS.to_owned())),
        "digits" => string(section, "0123456789"),
        "choice" => choice(section),
        "timestamp" => Ok(Kind::Timestamp { from: moment(&item("from")?)?, to: moment(&item("to")?)? }),
        "now" => Ok(Kind::Now),
        _ => constant(&item("value")?, stated),
    }
}

fn constant(item: &Item<'_>, stated: Option<ValueType>) -> Result<Kind, String> {
    let is_number = matches!(stated, Some(ValueType::Int | ValueType::Float | ValueType::Decimal(_)));
    match item.value() {
        DeValue::String(_) if is_number => Ok(Kind::Computed(amount(item)?)),
        DeValue::String(_) if stated == Some(ValueType::Timestamp) => {
            Ok(Kind::Constant(Scalar::Timestamp(moment(item)?)))
        }
        _ => Ok(Kind::Constant(scalar(item)?)),
    }
}

fn string(section: &Section<'_>, alphabet: &str) -> Result<Kind, String> {
    let Some(length) = section.get("length") else { return Err(section.error("needs `length`")) };
    let (least, most) = match length.value() {
        DeValue::Array(_) => match &length.list()?[..] {
            [least, most] => (amount(least)?, amount(most)?),
            _ => return Err(length.error("expected a length, or the least and the most: [5, 20]")),
        },
        _ => (amount(&length)?, amount(&length)?),
    };
    if alphabet.is_empty() {
        return Err(section.error("`alphabet` has no character"));
    }
    Ok(Kind::Text { alphabet: alphabet.chars().collect(), least, most })
}

fn choice(section: &Section<'_>) -> Result<Kind, String> {
    let Some(of) = section.get("of") else { return Err(section.error("needs `of`")) };
    let of_items = of.list()?;
    let scalars: Vec<Scalar> = of_items.iter().map(scalar).collect::<Result<_, _>>()?;
    if scalars.is_empty() {
        return Err(of.error("there is nothing to choose from"));
    }
    let Some(item) = section.get("weights") else { return Ok(Kind::Choice { of: scalars, weights: None }) };
    let weights: Vec<Amount> = item.list()?.iter().map(amount).collect::<Result<_, _>>()?;
    if weights.len() != scalars.len() {
        return Err(item.error(format!("{} weights for {} values", weights.len(), scalars.len())));
    }
    Ok(Kind::Choice { of: scalars, weights: Some(weights) })
}

fn form(section: &Section<'_>) -> Result<Option<TextForm>, String> {
    let prefix = section.text("prefix")?;
    let width = match section.get("width") {
        Some(item) => {
            let width = integer(&item)?;
            let fits = usize::try_from(width).ok().filter(|width| (1..=64).contains(width));
            Some(fits.ok_or_else(|| item.error(format!("{width} digits; expected 1 to 64")))?)
        }
        None => None,
    };
    if prefix.as_ref().is_some_and(|prefix| prefix.len() > 1_000) {
        return Err(section.error("`prefix` is longer than 1000 bytes"));
    }
    let has = prefix.is_some() || width.is_some();
    Ok(has.then(|| TextForm { prefix: prefix.unwrap_or_default(), width: width.unwrap_or(1) }))
}

/// Microseconds since 1970 of a TOML date, or of text such as `2024-02-29 12:00:00`.
fn moment(item: &Item<'_>) -> Result<i64, String> {
    let wanted = || item.wanted("a date such as 2024-02-29 or 2024-02-29T12:00:00Z");
    let parsed: toml::value::Datetime = match item.value() {
        DeValue::Datetime(datetime) => *datetime,
        DeValue::String(text) => text.trim().parse().map_err(|_| wanted())?,
        _ => return Err(wanted()),
    };
    let date = parsed.date.ok_or_else(wanted)?;
    let mut micros = days_since_1970(date.year.into(), date.month.into(), date.day.into()) * 86_400_000_000;
    if let Some(time) = parsed.time {
        let seconds =
            i64::from(time.hour) * 3_600 + i64::from(time.minute) * 60 + i64::from(time.second.unwrap_or(0));
        micros += seconds * 1_000_000 + i64::from(time.nanosecond.unwrap_or(0) / 1_000);
    }
    if let Some(toml::value::Offset::Custom { minutes }) = parsed.offset {
        micros -= i64::from(minutes) * 60_000_000;
    }
    Ok(micros)
}

/// Days from civil date: Hinnant, *chrono-Compatible Low-Level Date Algorithms*.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::days_since_1970;

    #[test]
    fn days_are_counted() {
        for (date, days) in
            [((1970, 1, 1), 0), ((2000, 2, 29), 11_016), ((1969, 12, 31), -1), ((2026, 11, 22), 20_779)]
        {
            assert_eq!(days_since_1970(date.0, date.1, date.2), days, "{date:?}");
        }
    }
}
