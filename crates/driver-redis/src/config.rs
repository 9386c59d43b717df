//! What a URL says.

use driver::{TargetUrl, UrlError};
use std::path::PathBuf;

/// Where the server is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Host {
    Tcp(String),
    Unix(PathBuf),
}

/// All that is needed to connect.
#[derive(Clone)]
pub(crate) struct Config {
    pub(crate) host: Host,
    pub(crate) port: u16,
    pub(crate) user: String,
    pub(crate) password: Option<String>,
    pub(crate) database: u32,
    /// The URL without its password.
    pub(crate) address: String,
}

impl std::fmt::Debug for Config {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.address)
    }
}

const PORT: u16 = 6379;

impl Config {
    pub(crate) fn new(url: &TargetUrl) -> Result<Config, UrlError> {
        if let Some((name, _)) = url.options.iter().find(|(name, _)| name != "socket") {
            return Err(
                url.error(format!("unknown option `{name}`; there is `socket`, a unix socket's path"))
            );
        }
        let host = match (url.option("socket"), url.host.as_str()) {
            (Some(_), host) if !host.is_empty() => {
                return Err(url.error("a host and a `socket`; name one of them"));
            }
            (Some(path), _) => Host::Unix(path.into()),
            (None, "") => Host::Tcp("127.0.0.1".to_owned()),
            (None, host) => Host::Tcp(host.to_owned()),
        };
        let database = match url.path.trim_matches('/') {
            "" => 0,
            path => path.parse().map_err(|_| {
                url.error(format!(
                    "database `{path}` is not a number; databases of a RESP store are numbered"
                ))
            })?,
        };
        Ok(Config {
            host,
            port: url.port.unwrap_or(PORT),
            user: url.user.clone(),
            password: url.password.clone(),
            database,
            address: url.to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> Result<Config, String> {
        Config::new(&TargetUrl::parse(text).unwrap()).map_err(|e| e.to_string())
    }

    #[test]
    fn urls_say_where_and_who() {
        let all = config("redis://ann:s3cret@db1:7000/3").unwrap();
        assert_eq!((all.host, all.port, all.database), (Host::Tcp("db1".to_owned()), 7000, 3));
        assert_eq!((all.user.as_str(), all.password.as_deref()), ("ann", Some("s3cret")));
        assert!(!all.address.contains("s3cret"), "{}", all.address);
        let least = config("redis:").unwrap();
        assert_eq!((least.host, least.port, least.database), (Host::Tcp("127.0.0.1".to_owned()), 6379, 0));
        let unix = config("redis:///?socket=/run/redis.sock").unwrap();
        assert_eq!(unix.host, Host::Unix("/run/redis.sock".into()));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        assert!(config("redis://h/shop").unwrap_err().contains("`shop` is not a number"));
        assert!(config("redis://h/?timeout=1").unwrap_err().contains("unknown option `timeout`"));
        assert!(config("redis://h/?socket=/x").unwrap_err().contains("name one of them"));
    }
}
