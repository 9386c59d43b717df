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

/// All that is needed to connect.
#[derive(Clone)]
pub(crate) struct Config {
    pub(crate) host: Host,
    pub(crate) port: u16,
    pub(crate) user: String,
    pub(crate) password: Option<String>,
    pub(crate) database: u32,
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

const PORT: u16 = 6379;
const OPTIONS: [&str; 2] = ["socket", "connect_timeout"];
/// Holds the password where the URL has none, as for `redis-cli`.
const PASSWORD: &str = "REDISCLI_AUTH";

impl Config {
    /// Reads a URL; `variable` looks into the environment.
    pub(crate) fn new(
        url: &TargetUrl,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Config, UrlError> {
        if let Some((name, _)) = url.options.iter().find(|(name, _)| !OPTIONS.contains(&name.as_str())) {
            return Err(url.error(format!("unknown option `{name}`; known are {}", OPTIONS.join(", "))));
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
        let given = |password: &String| !password.is_empty();
        let password = url.password.clone().filter(given).or_else(|| variable(PASSWORD).filter(given));
        if password.is_none() && !url.user.is_empty() {
            let user = &url.user;
            return Err(url.error(format!(
                "user `{user}` without a password; write redis://{user}:PASSWORD@…, or set {PASSWORD}"
            )));
        }
        Ok(Config {
            limit: limit(url)?,
            host,
            port: url.port.unwrap_or(PORT),
            user: url.user.clone(),
            password,
            database,
            address: url.to_string(),
        })
    }
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

    fn config_with(text: &str, password: Option<&str>) -> Result<Config, String> {
        let variable = |name: &str| password.filter(|_| name == "REDISCLI_AUTH").map(str::to_owned);
        Config::new(&TargetUrl::parse(text).unwrap(), &variable).map_err(|e| e.to_string())
    }

    fn config(text: &str) -> Result<Config, String> {
        config_with(text, None)
    }

    #[test]
    fn a_password_comes_from_the_url_or_the_environment() {
        let password = |text: &str, variable| config_with(text, variable).unwrap().password;
        assert_eq!(password("redis://:url@h", Some("variable")).as_deref(), Some("url"));
        assert_eq!(password("redis://h", Some("variable")).as_deref(), Some("variable"));
        assert_eq!(password("redis://ann@h", Some("variable")).as_deref(), Some("variable"));
        assert_eq!(password("redis://h", Some("")), None);
        assert_eq!(password("redis://h", None), None);
        // To connect as somebody else than was asked for would be worse than not to connect.
        assert!(config("redis://ann@h").unwrap_err().contains("user `ann` without a password"));
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
        assert!(config("redis://h/-1").unwrap_err().contains("`-1` is not a number"));
        assert!(config("redis://h/?timeout=1").unwrap_err().contains("unknown option `timeout`"));
        assert_eq!(config("redis://h/?connect_timeout=3").unwrap().limit, Nanos::from_secs(3));
        for seconds in ["0", "11", "-1", "1s", ""] {
            let problem = config(&format!("redis://h/?connect_timeout={seconds}")).unwrap_err();
            assert!(problem.contains(&format!("`{seconds}` is not a whole number of seconds")), "{problem}");
        }
        assert!(config("redis://h/?socket=/x").unwrap_err().contains("name one of them"));
    }
}
