//! Set-up and facts.

use crate::client::{self, Answer, Client};
use crate::config::{Config, Host};
use driver::{Administration, BulkRows, ConnectError, Records, TargetFacts};

/// A connection for set-up.
pub(crate) struct RedisAdministration {
    pub(crate) client: Client,
    config: Config,
}

/// Settings that decide durability and memory, as `CONFIG GET` names them.
const SETTINGS: [&str; 8] = [
    "save",
    "appendonly",
    "appendfsync",
    "maxmemory",
    "maxmemory-policy",
    "io-threads",
    "hz",
    "latency-monitor-threshold",
];

impl RedisAdministration {
    pub(crate) fn connect(config: &Config) -> Result<RedisAdministration, ConnectError> {
        Ok(RedisAdministration { client: client::connect(config)?, config: config.clone() })
    }

    fn without_sql(&self) -> ConnectError {
        let problem = "a RESP store has no SQL; `--workload ycsb` and `--workload noop` do without";
        ConnectError::permanent(format!("{}: {problem}", self.config.address))
    }

    /// `name:value` lines of INFO.
    fn info(&mut self) -> Result<Vec<(String, String)>, ConnectError> {
        let Answer::Text(text) = self.client.ask(&["INFO"])? else { return Ok(Vec::new()) };
        let pair = |line: &str| {
            let (name, value) = line.trim_end().split_once(':')?;
            Some((name.to_owned(), value.to_owned()))
        };
        Ok(text.lines().filter_map(pair).collect())
    }

    /// What the server shows; a server that forbids `CONFIG` shows nothing.
    fn settings(&mut self) -> Result<Vec<(String, String)>, ConnectError> {
        let mut settings = Vec::new();
        for name in SETTINGS {
            if let Answer::Items(items) = self.client.ask(&["CONFIG", "GET", name])?
                && let [Answer::Text(name), Answer::Text(value)] = &items[..]
            {
                settings.push((name.clone(), value.clone()));
            }
        }
        Ok(settings)
    }

    fn is_local(&self) -> bool {
        match (&self.config.host, self.client.socket.peer()) {
            (Host::Unix(_), _) => true,
            (Host::Tcp(_), peer) => peer.is_some_and(|address| address.is_loopback()),
        }
    }
}

/// Name and version out of INFO. Those that stand in for Redis say so in different ways, and tell its version, too.
fn product(find: &dyn Fn(&str) -> Option<String>) -> (String, String) {
    let named = [("valkey", "valkey"), ("dragonfly", "dragonfly"), ("truetail store", "truetail_store")];
    let named = named.map(|(name, field)| (name.to_owned(), find(&format!("{field}_version"))));
    let of_its_own = named.into_iter().find_map(|(name, version)| Some((name, version?)));
    let unknown = || "unknown".to_owned();
    of_its_own.unwrap_or_else(|| match (find("server_name"), find("redis_version")) {
        (Some(name), version) => (name, version.unwrap_or_else(unknown)),
        (None, Some(version)) => ("Redis".to_owned(), version),
        (None, None) => ("RESP store".to_owned(), unknown()),
    })
}

/// The server's process. A server that counts as the first one has been given numbers of its own, in a container; on this
/// host they are somebody else's.
fn process(find: &dyn Fn(&str) -> Option<String>) -> Option<u32> {
    find("process_id")?.parse().ok().filter(|pid| *pid > 1)
}

impl Administration for RedisAdministration {
    fn facts(&mut self) -> Result<TargetFacts, ConnectError> {
        let info = self.info()?;
        let find = |name: &str| info.iter().find(|(n, _)| n == name).map(|(_, value)| value.clone());
        let (product, version) = product(&find);
        let pid = process(&find).filter(|_| self.is_local());
        let transport = if matches!(self.config.host, Host::Unix(_)) { "unix" } else { "tcp" };
        Ok(TargetFacts {
            product,
            version,
            address: self.config.address.clone(),
            transport: transport.to_owned(),
            settings: self.settings()?,
            native: true,
            kernel_stamps: self.client.socket.has_stamps(),
            server_pids: pid.into_iter().collect(),
        })
    }

    fn script(&mut self, _sql: &str) -> Result<(), ConnectError> {
        Err(self.without_sql())
    }

    fn query(&mut self, _sql: &str) -> Result<Vec<Vec<Option<String>>>, ConnectError> {
        Err(self.without_sql())
    }

    fn table_exists(&mut self, _table: &str) -> Result<bool, ConnectError> {
        self.has_index()
    }

    fn bulk(&mut self, _table: &str, columns: &[&str], rows: &mut BulkRows<'_>) -> Result<u64, ConnectError> {
        self.insert_all(columns, rows)
    }

    fn records(&mut self) -> Option<&mut dyn Records> {
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_is_what_it_says_it_is() {
        let named = |info: &[(&str, &str)]| {
            let find = |name: &str| {
                let found = info.iter().find(|(n, _)| *n == name);
                found.map(|(_, value)| (*value).to_owned())
            };
            let (product, version) = product(&find);
            format!("{product} {version}")
        };
        assert_eq!(named(&[("redis_version", "7.0.15")]), "Redis 7.0.15");
        let valkey = [("redis_version", "7.2.4"), ("server_name", "valkey"), ("valkey_version", "8.1.1")];
        assert_eq!(named(&valkey), "valkey 8.1.1");
        assert_eq!(
            named(&[("redis_version", "7.2.0"), ("dragonfly_version", "df-v1.2")]),
            "dragonfly df-v1.2"
        );
        assert_eq!(named(&[("server_name", "truetail store")]), "truetail store unknown");
        // Whoever tells nothing is not taken for Redis.
        assert_eq!(named(&[]), "RESP store unknown");
    }

    #[test]
    fn the_first_process_is_one_of_a_container() {
        assert_eq!(process(&|_| Some("1".to_owned())), None);
        assert_eq!(process(&|_| Some("17".to_owned())), Some(17));
        assert_eq!(process(&|_| None), None);
    }
}
