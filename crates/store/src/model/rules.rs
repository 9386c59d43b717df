//! Service times, slow keys, a node that joins.

use super::{LATEST, read_draw, read_operation};
use crate::text::{self, TextError};
use crate::{Draw, Operation};
use std::fmt;
use std::str::FromStr;
use units::{Nanos, PerSecond};

/// A service time, `exp:1ms` or `read=exp:1ms`.
#[derive(Clone, PartialEq, Debug)]
pub struct Service {
    /// The operation that it is for; `None`: all.
    pub operation: Option<Operation>,
    /// How long it takes.
    pub draw: Draw,
}

impl From<Draw> for Service {
    /// For all operations.
    fn from(draw: Draw) -> Service {
        Service { operation: None, draw }
    }
}

impl fmt::Display for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.operation {
            Some(operation) => write!(f, "{}={}", operation.name(), self.draw),
            None => self.draw.fmt(f),
        }
    }
}

impl FromStr for Service {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Service, TextError> {
        let read = || -> Result<Service, String> {
            let Some((operation, draw)) = text.split_once('=') else {
                return Ok(Service { operation: None, draw: read_draw(text)? });
            };
            Ok(Service { operation: Some(read_operation(operation)?), draw: read_draw(draw)? })
        };
        read().map_err(|why| TextError::new("service time", text, &why))
    }
}

/// Keys that take longer, `KEY=TIME` or `PREFIX*=TIME`: the time is added to the service time.
#[derive(Clone, PartialEq, Debug)]
pub struct SlowKey {
    /// The key, or its beginning; not empty unless it is a prefix.
    pub key: String,
    /// Whether `key` is only the beginning.
    pub prefix: bool,
    /// How much longer.
    pub extra: Draw,
}

impl SlowKey {
    /// Whether it is for `key`.
    pub fn fits(&self, key: &[u8]) -> bool {
        if self.prefix { key.starts_with(self.key.as_bytes()) } else { key == self.key.as_bytes() }
    }
}

impl fmt::Display for SlowKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}={}", self.key, if self.prefix { "*" } else { "" }, self.extra)
    }
}

impl FromStr for SlowKey {
    type Err = TextError;

    fn from_str(text: &str) -> Result<SlowKey, TextError> {
        let read = || -> Result<SlowKey, String> {
            // No distribution has a `=`, keys may have some.
            let (key, extra) = text.rsplit_once('=').ok_or("expected `user1=50ms` or `user1*=50ms`")?;
            let (key, prefix) = match key.strip_suffix('*') {
                Some(key) => (key, true),
                None => (key, false),
            };
            if key.is_empty() && !prefix {
                return Err("the key is empty, expected `user1=50ms` or `user1*=50ms`".to_owned());
            }
            Ok(SlowKey { key: key.to_owned(), prefix, extra: read_draw(extra)? })
        };
        read().map_err(|why| TextError::new("slow key", text, &why))
    }
}

/// A second node that joins, `at=30s streaming=20s dip=60% then=2000/s`.
///
/// Up to `at` the capacity is the model's; while the new node is sent its data, `dip` per cent of it are lost; from then
/// on it is `then`. `streaming` and `dip` may be left out and are zero then. Both ends are instants of real time,
/// counted from the first request, that no hiccup moves.
#[derive(Clone, PartialEq, Debug)]
pub struct Join {
    /// When it begins, counted from the first request; at most a week.
    pub at: Nanos,
    /// How long the new node is sent its data; at most a week.
    pub streaming: Nanos,
    /// How much of the capacity is lost meanwhile, in per cent, in [0, 100]; with 100 nothing begins.
    pub dip_percent: f64,
    /// The capacity from then on.
    pub then: PerSecond,
}

impl fmt::Display for Join {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (at, streaming) = (text::exact(self.at), text::exact(self.streaming));
        write!(f, "at={at} streaming={streaming} dip={}% then=", self.dip_percent)?;
        f.write_str(&text::exact_rate(self.then))
    }
}

impl FromStr for Join {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Join, TextError> {
        read_join(text).map_err(|why| TextError::new("join", text, &why))
    }
}

fn read_join(text: &str) -> Result<Join, String> {
    let expected = "expected `at=30s streaming=20s dip=60% then=2000/s`";
    let (mut at, mut streaming, mut dip, mut then) = (None, None, None, None);
    for word in text.split_whitespace() {
        let (name, value) = word.split_once('=').ok_or_else(|| format!("`{word}`: {expected}"))?;
        let again = match name {
            "at" => at.replace(text::duration(value, LATEST)?).is_some(),
            "streaming" => streaming.replace(text::duration(value, LATEST)?).is_some(),
            "dip" => dip.replace(read_dip(value)?).is_some(),
            "then" => then.replace(text::rate(value)?).is_some(),
            _ => return Err(format!("`{name}`: {expected}")),
        };
        if again {
            return Err(format!("`{name}` is there twice: {expected}"));
        }
    }
    Ok(Join {
        at: at.ok_or_else(|| format!("`at` is missing: {expected}"))?,
        streaming: streaming.unwrap_or(Nanos::ZERO),
        dip_percent: dip.unwrap_or(0.0),
        then: then.ok_or_else(|| format!("`then` is missing: {expected}"))?,
    })
}

fn read_dip(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').and_then(|text| text::number(text, 0.0, 100.0));
    number.ok_or_else(|| format!("`{text}` is not a dip, expected 0% to 100%"))
}
