//! The texts of faults.

use super::{ConnectionFault, Fault, FaultKind, When};
use crate::model::{LATEST, read_operation};
use crate::text::{self, TextError};
use crate::{Draw, ErrorClass, Injection};
use std::fmt;
use std::str::FromStr;
use units::Nanos;

const KINDS: &str = "`delay:800ms`, `freeze:500ms`, `error:CLASS`, `drop:before|after|mid`, `partial:200ms`, `garbage`, \
     `slow-accept:200ms` or `refuse`";
const WHENS: &str = "`next`, `request=1000`, `connection=3`, `every=100`, `p=0.001`, `time=5s` or `always`";
const CLASSES: [(ErrorClass, &str); 5] = [
    (ErrorClass::Serialization, "serialization"),
    (ErrorClass::Deadlock, "deadlock"),
    (ErrorClass::Busy, "busy"),
    (ErrorClass::Retryable, "retryable"),
    (ErrorClass::Internal, "internal"),
];

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let timed = |f: &mut fmt::Formatter<'_>, name, time| write!(f, "{name}:{}", text::exact(time));
        match *self {
            FaultKind::Delay(time) => timed(f, "delay", time),
            FaultKind::Freeze(time) => timed(f, "freeze", time),
            FaultKind::Inject(Injection::Error(class)) => {
                let known = CLASSES.iter().find(|(known, _)| *known == class);
                write!(f, "error:{}", known.map_or("internal", |(_, name)| name))
            }
            FaultKind::Inject(Injection::DropBefore) => f.write_str("drop:before"),
            FaultKind::Inject(Injection::DropAfter) => f.write_str("drop:after"),
            FaultKind::Inject(Injection::DropMidAnswer) => f.write_str("drop:mid"),
            FaultKind::Inject(Injection::Partial(time)) => timed(f, "partial", time),
            FaultKind::Inject(Injection::Garbage) => f.write_str("garbage"),
            FaultKind::Connection(ConnectionFault::SlowAccept(time)) => timed(f, "slow-accept", time),
            FaultKind::Connection(ConnectionFault::Refuse) => f.write_str("refuse"),
        }
    }
}

impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            When::Next => f.write_str("next"),
            When::Request(number) => write!(f, "request={number}"),
            When::Connection(number) => write!(f, "connection={number}"),
            When::Every(number) => write!(f, "every={number}"),
            When::Probability(p) => write!(f, "p={p}"),
            When::Time(time) => write!(f, "time={}", text::exact(time)),
            When::Always => f.write_str("always"),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.kind, self.when)?;
        if let Some(operation) = self.operation {
            write!(f, ",op={}", operation.name())?;
        }
        match &self.key {
            Some(key) => write!(f, ",key={key}"),
            None => Ok(()),
        }
    }
}

impl FromStr for Fault {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Fault, TextError> {
        read(text).map_err(|why| TextError::new("fault", text, &why))
    }
}

fn read(text: &str) -> Result<Fault, String> {
    let (kind, rest) =
        text.trim().split_once('@').ok_or("expected `KIND@WHEN`, such as `delay:800ms@next`")?;
    // Keys may hold anything, so theirs is the last part.
    let (rest, key) = match rest.split_once(",key=") {
        Some((rest, key)) => (rest, Some(key)),
        None => (rest, None),
    };
    let (when, operation) = match rest.split_once(',') {
        Some((when, filter)) => {
            let operation = filter.strip_prefix("op=").ok_or_else(|| {
                format!("`{filter}` is not understood, expected `op=OPERATION` and then `key=PREFIX`")
            })?;
            (when, Some(read_operation(operation)?))
        }
        None => (rest, None),
    };
    if key.is_some_and(str::is_empty) {
        return Err("the key is empty, expected `key=PREFIX`".to_owned());
    }
    let fault =
        Fault { kind: read_kind(kind)?, when: read_when(when)?, operation, key: key.map(str::to_owned) };
    check(&fault)?;
    Ok(fault)
}

/// Whether kind and occasion fit each other: connections have neither operation nor key.
fn check(fault: &Fault) -> Result<(), String> {
    let is_connection = matches!(fault.kind, FaultKind::Connection(_));
    let fits = match fault.when {
        When::Request(_) | When::Time(_) => !is_connection,
        When::Connection(_) => is_connection,
        _ => true,
    };
    let filtered = fault.operation.is_some() || fault.key.is_some();
    match (is_connection, fits && !(is_connection && filtered)) {
        (_, true) => Ok(()),
        (true, false) => Err(format!(
            "`{}` acts on connections, expected `next`, `connection=3`, `every=100`, `p=0.001` or `always`, \
             without `op` and `key`",
            fault.kind
        )),
        (false, false) => Err(format!(
            "`{}` acts on requests, expected `next`, `request=1000`, `every=100`, `p=0.001`, `time=5s` or `always`",
            fault.kind
        )),
    }
}

fn read_kind(text: &str) -> Result<FaultKind, String> {
    let (name, value) = match text.split_once(':') {
        Some((name, value)) => (name.trim(), Some(value.trim())),
        None => (text.trim(), None),
    };
    let time = || read_time(name, value);
    let kind = match (name, value) {
        ("delay", _) => FaultKind::Delay(time()?),
        ("freeze", _) => FaultKind::Freeze(time()?),
        ("partial", _) => FaultKind::Inject(Injection::Partial(time()?)),
        ("slow-accept", _) => FaultKind::Connection(ConnectionFault::SlowAccept(time()?)),
        ("refuse", None) => FaultKind::Connection(ConnectionFault::Refuse),
        ("garbage", None) => FaultKind::Inject(Injection::Garbage),
        ("error", Some(class)) => FaultKind::Inject(Injection::Error(read_class(class)?)),
        ("drop", Some("before")) => FaultKind::Inject(Injection::DropBefore),
        ("drop", Some("after")) => FaultKind::Inject(Injection::DropAfter),
        ("drop", Some("mid")) => FaultKind::Inject(Injection::DropMidAnswer),
        _ => return Err(format!("`{}` is not a kind, expected {KINDS}", text.trim())),
    };
    Ok(kind)
}

fn read_time(name: &str, value: Option<&str>) -> Result<Nanos, String> {
    let value = value.ok_or_else(|| format!("`{name}` needs a time, such as `{name}:200ms`"))?;
    text::duration(value, Draw::LONGEST)
}

fn read_class(text: &str) -> Result<ErrorClass, String> {
    let known = CLASSES.into_iter().find(|(_, name)| *name == text);
    known.map(|(class, _)| class).ok_or_else(|| {
        let names = CLASSES.map(|(_, name)| name).join(", ");
        format!("`{text}` is not a class of errors, expected one of {names}")
    })
}

fn read_when(text: &str) -> Result<When, String> {
    let (name, value) = match text.trim().split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (text.trim(), None),
    };
    let number = |value: &str| match value.parse::<u64>() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(format!("`{value}` is not a number for `{name}`, expected 1 or more")),
    };
    match (name, value) {
        ("next", None) => Ok(When::Next),
        ("always", None) => Ok(When::Always),
        ("request", Some(value)) => number(value).map(When::Request),
        ("connection", Some(value)) => number(value).map(When::Connection),
        ("every", Some(value)) => number(value).map(When::Every),
        ("p", Some(value)) => text::number(value, 0.0, 1.0)
            .map(When::Probability)
            .ok_or_else(|| format!("`{value}` is not a probability, expected 0 to 1")),
        ("time", Some(value)) => text::duration(value, LATEST).map(When::Time),
        _ => Err(format!("`{}` is not an occasion, expected {WHENS}", text.trim())),
    }
}
