//! What a URL says.

use driver::{TargetUrl, UrlError};
use std::path::PathBuf;
use units::Nanos;

/// Where the server is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Host {
    Tcp(String),
    Unix(PathBuf),
}

/// What a write waits for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Durability {
    pub(crate) nodes: Option<Nodes>,
    /// Whether for the journal on disk.
    pub(crate) journal: Option<bool>,
}

/// How many nodes must have a write.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Nodes {
    Number(i32),
    /// `majority`, or a name of the replica set's own.
    Named(String),
}

impl Durability {
    /// Whether nothing was said of it.
    #[inline]
    pub(crate) fn is_the_servers(&self) -> bool {
        self.nodes.is_none() && self.journal.is_none()
    }
}

/// All that is needed to connect.
#[derive(Clone)]
pub(crate) struct Config {
    pub(crate) host: Host,
    pub(crate) port: u16,
    pub(crate) user: String,
    pub(crate) password: String,
    pub(crate) database: String,
    /// The database that knows the user.
    pub(crate) user_database: String,
    pub(crate) durability: Durability,
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

const PORT: u16 = 27017;
/// As YCSB's binding has it.
const DATABASE: &str = "ycsb";
const OPTIONS: [&str; 5] = ["socket", "connect_timeout", "w", "journal", "authSource"];

impl Config {
    pub(crate) fn new(url: &TargetUrl) -> Result<Config, UrlError> {
        if let Some((name, _)) = url.options.iter().find(|(name, _)| !OPTIONS.contains(&name.as_str())) {
            let advice = match name.as_str() {
                "tls" | "ssl" => "; this driver has no TLS",
                "replicaSet" | "readPreference" => "; this driver talks to the one server that is named",
                "retryWrites" | "retryReads" => {
                    "; this driver retries nothing, `--retry` says what a load does"
                }
                _ => "",
            };
            let known = OPTIONS.join(", ");
            return Err(url.error(format!("unknown option `{name}`{advice}; known are {known}")));
        }
        let host = match (url.option("socket"), url.host.as_str()) {
            (Some(_), host) if !host.is_empty() => {
                return Err(url.error("a host and a `socket`; name one of them"));
            }
            (Some(path), _) => Host::Unix(path.into()),
            (None, "") => Host::Tcp("127.0.0.1".to_owned()),
            (None, host) if host.contains(',') => {
                return Err(url.error("several hosts; name the one server to talk to"));
            }
            (None, host) => Host::Tcp(host.to_owned()),
        };
        let database = match url.path.trim_matches('/') {
            "" => DATABASE,
            path if path.contains(['/', '\\', '.', ' ', '"', '$', '\0']) || path.len() > 63 => {
                return Err(url.error(format!("`{path}` can't be the name of a database")));
            }
            path => path,
        };
        let password = url.password.clone().unwrap_or_default();
        if password.is_empty() && !url.user.is_empty() {
            let user = &url.user;
            return Err(
                url.error(format!("user `{user}` without a password; write mongodb://{user}:PASSWORD@…"))
            );
        }
        Ok(Config {
            limit: limit(url)?,
            host,
            port: url.port.unwrap_or(PORT),
            user: url.user.clone(),
            password,
            database: database.to_owned(),
            user_database: url.option("authSource").unwrap_or("admin").to_owned(),
            durability: durability(url)?,
            address: url.to_string(),
        })
    }
}

fn durability(url: &TargetUrl) -> Result<Durability, UrlError> {
    let nodes = match url.option("w") {
        None => None,
        Some("0") => {
            return Err(
                url.error("w=0: a write that nobody acknowledges has no end that could be measured; w=1")
            );
        }
        Some("") => return Err(url.error("w is empty; a number of nodes, or `majority`")),
        Some(text) => Some(match text.parse() {
            Ok(number @ 1..=50) => Nodes::Number(number),
            Ok(_) => return Err(url.error(format!("w=`{text}`: a replica set has 1..50 nodes"))),
            Err(_) => Nodes::Named(text.to_owned()),
        }),
    };
    let journal = match url.option("journal") {
        None => None,
        Some("true") => Some(true),
        Some("false") => Some(false),
        Some(other) => return Err(url.error(format!("journal=`{other}`: true or false"))),
    };
    Ok(Durability { nodes, journal })
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
        let url = TargetUrl::parse(text).map_err(|error| error.to_string())?;
        Config::new(&url).map_err(|error| error.to_string())
    }

    #[test]
    fn urls_say_where_and_who() {
        let all =
            config("mongodb://ann:s3cret@db1:7000/shop?w=majority&journal=true&authSource=shop").unwrap();
        assert_eq!((all.host, all.port, all.database.as_str()), (Host::Tcp("db1".to_owned()), 7000, "shop"));
        assert_eq!(
            (all.user.as_str(), all.password.as_str(), all.user_database.as_str()),
            ("ann", "s3cret", "shop")
        );
        let expected = Durability { nodes: Some(Nodes::Named("majority".to_owned())), journal: Some(true) };
        assert_eq!(all.durability, expected);
        assert!(!all.address.contains("s3cret"), "{}", all.address);
        let least = config("mongodb:").unwrap();
        assert_eq!((least.host, least.port), (Host::Tcp("127.0.0.1".to_owned()), 27017));
        assert_eq!((least.database.as_str(), least.user_database.as_str()), ("ycsb", "admin"));
        assert!(least.durability.is_the_servers());
        assert_eq!(config("mongodb://h/?w=2").unwrap().durability.nodes, Some(Nodes::Number(2)));
        let unix = config("mongodb:///?socket=/run/mongo.sock").unwrap();
        assert_eq!(unix.host, Host::Unix("/run/mongo.sock".into()));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (text, named) in [
            ("mongodb://h/?w=0", "nobody acknowledges"),
            ("mongodb://h/?w=99", "1..50"),
            ("mongodb://h/?w=", "majority"),
            ("mongodb://h/?journal=yes", "true or false"),
            ("mongodb://h/?retryWrites=true", "retries nothing"),
            ("mongodb://h/?tls=true", "no TLS"),
            ("mongodb://h/?x=1", "known are"),
            ("mongodb://a,b/shop", "several hosts"),
            ("mongodb://h/a.b", "`a.b` can't be the name"),
            ("mongodb://ann@h/", "without a password"),
            ("mongodb://h/?socket=/x", "name one of them"),
            ("mongodb://h/?connect_timeout=11", "1..10"),
        ] {
            let problem = config(text).unwrap_err();
            assert!(problem.contains(named), "{text}: {problem}");
        }
    }
}
