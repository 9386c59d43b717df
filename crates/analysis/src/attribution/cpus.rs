//! Who uses which CPU of the host, as far as the recording says.

use super::Cause;
use super::names::WORKER_CPUS;
use crate::stated::facts;
use record::RunHeader;
use std::collections::BTreeSet;
use units::{Nanos, parse_duration};

/// The CPUs of both sides; `None` where the recording does not tell.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Users {
    pub(crate) client: Option<BTreeSet<usize>>,
    pub(crate) server: Option<BTreeSet<usize>>,
    /// Why the server's are not known, where that was found out.
    pub(crate) server_unknown: Option<String>,
}

impl Users {
    /// The CPUs that were watched for each side, where the recording says so; else those that the workers were pinned to,
    /// and those that were stated for the server.
    pub(crate) fn of(header: &RunHeader) -> Users {
        let value = |name: &str| {
            let found = header.capabilities.iter().find(|(asked, _)| asked == name);
            found.map(|(_, value)| value.as_str())
        };
        let stated = |prefix: &str, holds: fn(&str) -> bool| {
            let list = header
                .capabilities
                .iter()
                .find_map(|(asked, found)| asked.strip_prefix(prefix).filter(|_| holds(found)))?;
            cpus(list)
        };
        let pinned = || stated(WORKER_CPUS, |found| found == "granted");
        // A server that was stated to run there and can't be looked at is believed; one that runs elsewhere is not.
        let meant = || {
            stated(facts::SERVER_CPUS, |found| {
                found == facts::AS_ASKED || found.starts_with(facts::NOT_VERIFIED)
            })
        };
        let of_server = value(facts::SERVER_CPUS_WATCHED);
        Users {
            client: value(facts::CLIENT_CPUS_WATCHED).and_then(cpus).or_else(pinned),
            server: of_server.map_or_else(meant, cpus),
            server_unknown: of_server
                .and_then(|why| why.strip_prefix(facts::NOT_WATCHED))
                .map(|why| why.trim_start_matches([':', ' ']).to_owned()),
        }
    }

    /// Whose stall it is when this CPU stands still; `None` when neither side runs there.
    pub(super) fn cause(&self, cpu: usize) -> Option<Cause> {
        let uses = |side: &Option<BTreeSet<usize>>| side.as_ref().map(|cpus| cpus.contains(&cpu));
        match (uses(&self.client), uses(&self.server)) {
            (Some(false), Some(false)) => None,
            (Some(true), None | Some(false)) => Some(Cause::ClientStall),
            (None | Some(false), Some(true)) => Some(Cause::ServerStall),
            _ => Some(Cause::HostStall),
        }
    }
}

/// What of a stall may lie before it is seen: the period of the threads that look for it; zero where it is not stated.
pub(crate) fn unseen(header: &RunHeader) -> Nanos {
    let stated = header.capabilities.iter().find(|(name, _)| name == facts::HICCUPS);
    let period = stated.and_then(|(_, value)| value.rsplit_once(facts::HICCUPS_EACH));
    let period = period.and_then(|(_, each)| parse_duration(&each.replace(' ', "")).ok());
    period.unwrap_or(Nanos::ZERO)
}

/// The CPUs of a list such as `0,2-5`; `None` for what is none.
pub(crate) fn cpus(list: &str) -> Option<BTreeSet<usize>> {
    let mut all = BTreeSet::new();
    for part in list.split(',') {
        let (from, to) = part.trim().split_once('-').unwrap_or((part.trim(), part.trim()));
        let (from, to): (usize, usize) = (from.parse().ok()?, to.parse().ok()?);
        if from > to || to >= 1024 {
            return None;
        }
        all.extend(from..=to);
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_as_they_are_written() {
        assert_eq!(cpus("0,2-4"), Some(BTreeSet::from([0, 2, 3, 4])));
        for bad in ["", "a", "3-1", "0-99999999", "1,,2"] {
            assert_eq!(cpus(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_cpu_is_its_users() {
        let users = |client: &str, server: &str| Users {
            client: cpus(client),
            server: cpus(server),
            server_unknown: None,
        };
        let both = users("0-1", "1-2");
        assert_eq!(
            [0, 1, 2, 3].map(|cpu| both.cause(cpu)),
            [Some(Cause::ClientStall), Some(Cause::HostStall), Some(Cause::ServerStall), None]
        );
        let client = users("0", "");
        assert_eq!([0, 1].map(|cpu| client.cause(cpu)), [Some(Cause::ClientStall), Some(Cause::HostStall)]);
        assert_eq!(Users::default().cause(0), Some(Cause::HostStall));
    }
}
