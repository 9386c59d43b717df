//! What a URL says.

use crate::codec::{Consistency, LEVELS};
use driver::{TargetUrl, UrlError};
use units::Nanos;

/// All that is needed to connect.
#[derive(Clone)]
pub(crate) struct Config {
    /// At least one. Sessions take them in turns.
    pub(crate) hosts: Vec<String>,
    pub(crate) port: u16,
    /// Name and password.
    pub(crate) user: Option<(String, String)>,
    pub(crate) keyspace: String,
    pub(crate) reads: Consistency,
    pub(crate) writes: Consistency,
    /// Copies of each record in a keyspace that set-up may make; `None` where it must be there.
    pub(crate) replication: Option<u8>,
    /// How long connecting, or one request of set-up, may take.
    pub(crate) limit: Nanos,
    /// The URL without its password.
    pub(crate) address: String,
}

impl std::fmt::Debug for Config {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.address)
    }
}

const PORT: u16 = 9042;
const KEYSPACE: &str = "ycsb";
const OPTIONS: [&str; 5] =
    ["consistency", "read_consistency", "write_consistency", "replication", "connect_timeout"];

impl Config {
    /// Reads a URL.
    pub(crate) fn new(url: &TargetUrl) -> Result<Config, UrlError> {
        if let Some((name, _)) = url.options.iter().find(|(name, _)| !OPTIONS.contains(&name.as_str())) {
            return Err(url.error(format!("unknown option `{name}`; known are {}", OPTIONS.join(", "))));
        }
        let user = match (url.user.as_str(), &url.password) {
            ("", None) => None,
            (user, Some(password)) if !user.is_empty() => Some((user.to_owned(), password.clone())),
            _ => {
                return Err(
                    url.error("a user and a password belong together: cql://USER:PASSWORD@HOST/KEYSPACE")
                );
            }
        };
        let both = level(url, "consistency")?;
        let reads = level(url, "read_consistency")?.or(both).unwrap_or(Consistency::QUORUM);
        let writes = level(url, "write_consistency")?.or(both).unwrap_or(Consistency::QUORUM);
        if reads.name() == "any" {
            return Err(url.error("nothing can be read at consistency `any`; write write_consistency=any"));
        }
        Ok(Config {
            hosts: hosts(url)?,
            port: url.port.unwrap_or(PORT),
            user,
            keyspace: keyspace(url)?,
            reads,
            writes,
            replication: replication(url)?,
            limit: limit(url)?,
            address: url.to_string(),
        })
    }
}

fn hosts(url: &TargetUrl) -> Result<Vec<String>, UrlError> {
    if url.host.is_empty() {
        return Ok(vec!["127.0.0.1".to_owned()]);
    }
    let hosts: Vec<String> = url.host.split(',').map(str::to_owned).collect();
    if hosts.iter().any(String::is_empty) {
        return Err(url.error("a host without a name; write cql://HOST,HOST:PORT/KEYSPACE"));
    }
    Ok(hosts)
}

fn keyspace(url: &TargetUrl) -> Result<String, UrlError> {
    let name = url.path.trim_matches('/');
    let is_plain =
        |name: &str| name.len() <= 48 && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    match name {
        "" => Ok(KEYSPACE.to_owned()),
        name if is_plain(name) => Ok(name.to_owned()),
        name => Err(url.error(format!(
            "keyspace `{name}` has more than letters, digits and `_`, of which it may have 48"
        ))),
    }
}

fn level(url: &TargetUrl, option: &str) -> Result<Option<Consistency>, UrlError> {
    let Some(name) = url.option(option) else { return Ok(None) };
    Consistency::named(name).map(Some).ok_or_else(|| {
        let known: Vec<&str> = LEVELS.iter().map(|(name, _)| *name).collect();
        url.error(format!("{option} `{name}` is none of {}", known.join(", ")))
    })
}

fn replication(url: &TargetUrl) -> Result<Option<u8>, UrlError> {
    let Some(text) = url.option("replication") else { return Ok(None) };
    let copies = text.parse().ok().filter(|copies| (1..=9).contains(copies));
    copies.map(Some).ok_or_else(|| url.error(format!("replication `{text}` is not a whole number in 1..9")))
}

fn limit(url: &TargetUrl) -> Result<Nanos, UrlError> {
    // As long as a target may take to give up.
    const SECONDS: u64 = 10;
    let Some(text) = url.option("connect_timeout") else { return Ok(Nanos::from_secs(SECONDS)) };
    let seconds = text.parse().ok().filter(|seconds| (1..=SECONDS).contains(seconds));
    seconds.map(Nanos::from_secs).ok_or_else(|| {
        url.error(format!("connect_timeout `{text}` is not a whole number of seconds in 1..{SECONDS}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> Result<Config, String> {
        Config::new(&TargetUrl::parse(text).unwrap()).map_err(|error| error.to_string())
    }

    #[test]
    fn urls_say_where_who_and_how_surely() {
        let least = config("cql:").unwrap();
        assert_eq!(
            (least.hosts, least.port, least.keyspace.as_str()),
            (vec!["127.0.0.1".to_owned()], 9042, "ycsb")
        );
        assert_eq!((least.reads.name(), least.writes.name(), least.user), ("quorum", "quorum", None));
        let all =
            config("cql://ann:s3cret@db1,db2:9999/shop?consistency=ONE&write_consistency=all&replication=2")
                .unwrap();
        assert_eq!((all.hosts, all.port), (vec!["db1".to_owned(), "db2".to_owned()], 9999));
        assert_eq!((all.reads.name(), all.writes.name(), all.replication), ("one", "all", Some(2)));
        assert_eq!(all.user, Some(("ann".to_owned(), "s3cret".to_owned())));
        assert!(!all.address.contains("s3cret"), "{}", all.address);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (text, words) in [
            ("cql://h/k?consistency=most", "`most` is none of any, one, two"),
            ("cql://h/k?consistency=any", "write_consistency=any"),
            ("cql://h/k?timeout=1", "unknown option `timeout`"),
            ("cql://h/k?replication=0", "not a whole number in 1..9"),
            ("cql://h/k?connect_timeout=11", "not a whole number of seconds"),
            ("cql://h/a;drop", "keyspace `a;drop` has more than letters"),
            ("cql://ann@h/k", "belong together"),
            ("cql://a,,b/k", "a host without a name"),
        ] {
            let problem = config(text).unwrap_err();
            assert!(problem.contains(words), "{text}: {problem}");
        }
    }
}
