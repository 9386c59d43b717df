//! Which column of a table of requests is what.

use super::map::ColumnMap;
use super::steps::Steps;
use crate::figures::{decimal, elapsed};
use crate::format::{TimeUnit, quoted};
use crate::report::StatedFrom;
use std::borrow::Cow;
use units::{Nanos, Outcome};

/// What a column can be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// When the schedule wanted the request.
    Intended,
    /// When the elapsed time begins, whichever moment that is.
    Start,
    /// When it was sent.
    Sent,
    /// When its answer was there.
    Completed,
    /// From the schedule to the answer.
    Response,
    /// From sending to the answer.
    Service,
    /// To the answer, from a moment that the file does not tell.
    Elapsed,
    /// How much later than scheduled it was sent.
    Lag,
    /// Its operation.
    Operation,
    /// Who sent it.
    Session,
    /// Whether it did what it was meant to do, or how it ended.
    Ok,
    /// The part of the load that it is of; `warm-up` does not count.
    Phase,
}

/// Names of a phase that does not count, in any case.
const WARM_UP: [&str; 2] = ["warm-up", "warmup"];

impl Role {
    /// All of them, times first.
    pub(super) const ALL: [(Role, &'static str); 12] = [
        (Role::Intended, "intended"),
        (Role::Start, "start"),
        (Role::Sent, "sent"),
        (Role::Completed, "completed"),
        (Role::Response, "response"),
        (Role::Service, "service"),
        (Role::Elapsed, "elapsed"),
        (Role::Lag, "lag"),
        (Role::Operation, "operation"),
        (Role::Session, "session"),
        (Role::Ok, "ok"),
        (Role::Phase, "phase"),
    ];

    pub(super) fn parse(name: &str) -> Option<Role> {
        Role::ALL.iter().find(|(_, known)| *known == name).map(|(role, _)| *role)
    }

    fn is_time(self) -> bool {
        !matches!(self, Role::Operation | Role::Session | Role::Ok | Role::Phase)
    }

    pub(super) fn is_moment(self) -> bool {
        matches!(self, Role::Intended | Role::Start | Role::Sent | Role::Completed)
    }

    /// What a column of this name is when nobody says it; names of times without their unit.
    fn of_name(name: &str) -> Option<Role> {
        Role::parse(name).or(match name {
            "end" | "finished" => Some(Role::Completed),
            "response_time" => Some(Role::Response),
            "service_time" => Some(Role::Service),
            "latency" | "duration" => Some(Role::Elapsed),
            "op" | "label" | "transaction" => Some(Role::Operation),
            "thread" | "worker" | "connection" => Some(Role::Session),
            "success" | "outcome" => Some(Role::Ok),
            _ => None,
        })
    }
}

/// A unit as it stands behind a column's name: `lat_ms`, `lat (ms)`, `Latency (microseconds)`; and the name before it.
fn unit_of(name: &str) -> Option<(&str, TimeUnit)> {
    let words = |word: &str| match word {
        "microseconds" => Some(TimeUnit::Micros),
        "milliseconds" => Some(TimeUnit::Millis),
        "nanoseconds" => Some(TimeUnit::Nanos),
        "seconds" => Some(TimeUnit::Seconds),
        other => TimeUnit::parse(other),
    };
    if let Some((before, unit)) = name.strip_suffix(')').and_then(|name| name.rsplit_once('(')) {
        return Some((before.trim_end(), words(unit)?));
    }
    let (before, unit) = name.rsplit_once('_')?;
    Some((before, words(unit)?))
}

/// Where the columns are. Indices are below `count`.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    found: Vec<(Role, usize, TimeUnit)>,
    pub(crate) count: usize,
}

/// A length of time that counts from somewhere: the first that there is decides.
const MEASURES: [(Role, &str, StatedFrom); 3] = [
    (Role::Response, "response", StatedFrom::Schedule),
    (Role::Elapsed, "elapsed", StatedFrom::Unsaid),
    (Role::Service, "service", StatedFrom::Send),
];

impl Columns {
    /// Of a header whose names speak for themselves. `None` if this is no header; an error if it is one and can't be used.
    pub(crate) fn of(header: &str) -> Option<Result<Columns, String>> {
        let names = crate::csv::fields(header).ok()?;
        if let Some(columns) = jmeter(&names) {
            return Some(Ok(columns));
        }
        let mut found: Vec<(Role, usize, TimeUnit)> = Vec::new();
        for (at, name) in names.iter().enumerate() {
            let name = name.to_ascii_lowercase();
            let timed = unit_of(&name).and_then(|(before, unit)| Some((Role::of_name(before)?, unit)));
            let plain = || {
                Role::of_name(&name).map(|role| (role, TimeUnit::Nanos)).filter(|(role, _)| !role.is_time())
            };
            let is = timed.filter(|(role, _)| role.is_time()).or_else(plain);
            // The first column of a role is the one; a later one with the same is another's.
            if let Some((role, unit)) = is.filter(|(role, _)| !found.iter().any(|(known, ..)| known == role))
            {
                found.push((role, at, unit));
            }
        }
        let columns = Columns { found, count: names.len() };
        if columns.measure().is_some() || (columns.has_begin() && columns.has(Role::Completed)) {
            return Some(Ok(columns));
        }
        let bare = MEASURES.iter().find(|(_, name, _)| names.iter().any(|column| column == name));
        bare.map(|(_, name, _)| {
            Err(format!("the column `{name}` has no unit; call it `{name}_us` or the like"))
        })
    }

    /// Of a header, as the user says which column is what.
    pub(crate) fn mapped(header: &str, map: &ColumnMap) -> Result<Columns, String> {
        let names = crate::csv::fields(header)?;
        let mut found = Vec::new();
        for entry in map.entries() {
            let role = entry.role;
            let place = |column: &str| names.iter().position(|name| name == column);
            let (at, column, unit) =
                entry.find(place).map_err(|why| format!("{why}: the header is {}", quoted(header)))?;
            let unit = match unit.or_else(|| unit_of(&column.to_ascii_lowercase()).map(|(_, unit)| unit)) {
                Some(unit) => unit,
                None if role.is_time() => {
                    return Err(format!(
                        "the unit of column {} is not known; write {column}:us or the like",
                        quoted(column)
                    ));
                }
                None => TimeUnit::Nanos,
            };
            found.push((role, at, unit));
        }
        let columns = Columns { found, count: names.len() };
        if columns.measure().is_none() && !(columns.has_begin() && columns.has(Role::Completed)) {
            return Err(
                "the map names no length of time: say response, service or elapsed, or a begin and completed"
                    .to_owned(),
            );
        }
        Ok(columns)
    }

    fn at(&self, role: Role) -> Option<(usize, TimeUnit)> {
        self.found.iter().find(|(known, ..)| *known == role).map(|(_, at, unit)| (*at, *unit))
    }

    pub(crate) fn has(&self, role: Role) -> bool {
        self.at(role).is_some()
    }

    fn has_begin(&self) -> bool {
        [Role::Intended, Role::Start, Role::Sent].into_iter().any(|role| self.has(role))
    }

    /// Name and origin of the length of time that there is a column of.
    pub(crate) fn measure(&self) -> Option<(&'static str, StatedFrom)> {
        MEASURES.iter().find(|(role, ..)| self.has(*role)).map(|(_, name, from)| (*name, *from))
    }

    /// The role of that column.
    pub(crate) fn measured(&self) -> Option<Role> {
        MEASURES.iter().map(|(role, ..)| *role).find(|role| self.has(*role))
    }

    /// The values of a line.
    pub(crate) fn row<'a>(&self, line: &'a str) -> Result<Row<'a>, String> {
        let fields = crate::csv::fields(line).map_err(|why| format!("{}: {why}", quoted(line)))?;
        if fields.len() != self.count {
            return Err(format!("{} has {} fields, the header {}", quoted(line), fields.len(), self.count));
        }
        let text = |role: Role| self.at(role).map(|(at, unit)| (fields[at].as_ref(), unit));
        let mut steps = Steps::default();
        for (role, at, unit) in
            self.found.iter().filter(|(role, at, _)| role.is_time() && !fields[*at].is_empty())
        {
            steps.take(*role, &fields[*at], unit.one());
        }
        let moment = |role: Role| match text(role) {
            None | Some(("", _)) => Ok(None),
            Some((text, unit)) => decimal(text, unit.one()).map(Some).ok_or_else(|| no_moment(text, unit)),
        };
        let length = |role: Role| match text(role) {
            None | Some(("", _)) => Ok(None),
            Some((text, unit)) => {
                elapsed(text, unit.one()).map(Some).ok_or_else(|| format!("{} is no time", quoted(text)))
            }
        };
        let owned = |role: Role| self.at(role).map(|(at, _)| fields[at].clone());
        Ok(Row {
            intended: moment(Role::Intended)?,
            start: moment(Role::Start)?,
            sent: moment(Role::Sent)?,
            completed: moment(Role::Completed)?,
            response: length(Role::Response)?,
            service: length(Role::Service)?,
            elapsed: length(Role::Elapsed)?,
            lag: length(Role::Lag)?,
            operation: owned(Role::Operation).unwrap_or_default(),
            session: owned(Role::Session).filter(|session| !session.is_empty()),
            outcome: text(Role::Ok).map(|(text, _)| outcome(text)).transpose()?,
            is_of_warm_up: text(Role::Phase)
                .is_some_and(|(name, _)| WARM_UP.iter().any(|known| name.eq_ignore_ascii_case(known))),
            steps,
        })
    }
}

fn no_moment(text: &str, unit: TimeUnit) -> String {
    format!(
        "{} is no moment: there must be a number, here of {} since 1970 or another beginning; convert what is none, such as a date, \
         and tell a unit by the column's name, as in sent_us, or by --map sent=COLUMN:us (ns, us, ms, s)",
        quoted(text),
        unit.name()
    )
}

/// JMeter's own names, whose times are milliseconds and count from just before sending.
fn jmeter(names: &[Cow<'_, str>]) -> Option<Columns> {
    let at = |name: &str| names.iter().position(|column| column == name);
    let found = vec![
        (Role::Sent, at("timeStamp")?, TimeUnit::Millis),
        (Role::Service, at("elapsed")?, TimeUnit::Millis),
        (Role::Operation, at("label")?, TimeUnit::Nanos),
        (Role::Ok, at("success")?, TimeUnit::Nanos),
    ];
    let session = at("threadName").map(|at| (Role::Session, at, TimeUnit::Nanos));
    Some(Columns { found: found.into_iter().chain(session).collect(), count: names.len() })
}

/// The values of one line; empty fields are absent. Moments are ns of the file's clock.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Row<'a> {
    pub(crate) intended: Option<u64>,
    pub(crate) start: Option<u64>,
    pub(crate) sent: Option<u64>,
    pub(crate) completed: Option<u64>,
    pub(crate) response: Option<Nanos>,
    pub(crate) service: Option<Nanos>,
    pub(crate) elapsed: Option<Nanos>,
    pub(crate) lag: Option<Nanos>,
    pub(crate) operation: Cow<'a, str>,
    pub(crate) session: Option<Cow<'a, str>>,
    pub(crate) outcome: Option<Outcome>,
    /// Whether it does not count.
    pub(crate) is_of_warm_up: bool,
    /// How finely its times are told.
    pub(crate) steps: Steps,
}

fn outcome(text: &str) -> Result<Outcome, String> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "true" => Ok(Outcome::Ok),
        "0" | "false" => Ok(Outcome::Server),
        name => Outcome::ALL
            .into_iter()
            .find(|outcome| outcome.name() == name)
            .ok_or_else(|| format!("ok is {}; write 1 or 0", quoted(text))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_are_read_or_say_what_is_wrong() {
        let header = "Begin,lat_ms,what,who,fine";
        let map = ColumnMap::parse("intended=Begin:s,service=lat_ms,operation=what,session=who,ok=fine")
            .expect("a map");
        let columns = Columns::mapped(header, &map).expect("columns");
        let row = columns.row("1795246148.305398001,1.5,GET,\"a, b\",true").expect("a row");
        assert_eq!(row.intended, Some(1_795_246_148_305_398_001), "no digit is rounded away");
        assert_eq!((row.service, row.outcome), (Some(Nanos(1_500_000)), Some(Outcome::Ok)));
        assert_eq!((row.operation.as_ref(), row.session.as_deref()), ("GET", Some("a, b")));
        let wrong = |map: &str| match ColumnMap::parse(map) {
            Ok(map) => Columns::mapped(header, &map).expect_err("wrong"),
            Err(error) => error.to_string(),
        };
        for (map, words) in [
            ("service", "`service` is not ROLE=COLUMN"),
            ("speed=x", "`speed` is no role: there are intended, start"),
            ("service=lat:h", "`h` is no unit"),
            ("service=a,service=b", "`service` is there twice"),
            ("service=nope", "there is no column `nope`: the header is `Begin,lat_ms"),
            ("service=Begin", "the unit of column `Begin` is not known; write Begin:us"),
            ("operation=what", "names no length of time"),
        ] {
            assert!(wrong(map).contains(words), "{map}: {}", wrong(map));
        }
    }

    #[test]
    fn sensible_names_are_known_and_others_are_no_header() {
        let roles = |header: &str| {
            Columns::of(header).map(|columns| {
                columns.map(|c| c.found.into_iter().map(|(role, ..)| role).collect::<Vec<_>>())
            })
        };
        assert_eq!(
            roles("op,start_us,Latency (ms),thread,success"),
            Some(Ok(vec![Role::Operation, Role::Start, Role::Elapsed, Role::Session, Role::Ok,]))
        );
        assert_eq!(
            roles("intended_ns,sent_ns,completed_ns"),
            Some(Ok(vec![Role::Intended, Role::Sent, Role::Completed]))
        );
        assert_eq!(
            roles("timeStamp,elapsed,label,responseCode,threadName,success"),
            Some(Ok(vec![Role::Sent, Role::Service, Role::Operation, Role::Ok, Role::Session,]))
        );
        assert_eq!(roles("hello,world"), None);
        assert!(roles("elapsed,ok").expect("a header").expect_err("no unit").contains("`elapsed_us`"));
    }
}
