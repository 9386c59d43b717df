//! What a URL says.

use crate::frame::LIMIT;
use driver::{TargetUrl, UrlError};
use std::path::PathBuf;

/// The port of `truetail echo` unless another is said.
pub const PORT: u16 = 7377;

/// Bytes of a payload unless said otherwise: about what a point query and its answer take.
const BYTES: u32 = 64;

const OPTIONS: [&str; 3] = ["request", "answer", "socket"];

/// Where the server is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Host {
    Tcp(String, u16),
    Unix(PathBuf),
}

/// All that is needed to connect and to ask.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Config {
    pub(crate) host: Host,
    /// Bytes of a request's payload.
    pub(crate) request: u32,
    /// Bytes of an answer's payload.
    pub(crate) answer: u32,
    /// The URL.
    pub(crate) address: String,
}

impl Config {
    pub(crate) fn new(url: &TargetUrl) -> Result<Config, UrlError> {
        if let Some((name, _)) = url.options.iter().find(|(name, _)| !OPTIONS.contains(&name.as_str())) {
            return Err(url.error(format!("unknown option `{name}`; known are {}", OPTIONS.join(", "))));
        }
        if !url.user.is_empty() || url.password.is_some() {
            return Err(url.error("a user; an echo server asks nobody who they are: leave it out"));
        }
        if !url.path.trim_matches('/').is_empty() {
            let path = &url.path;
            return Err(url.error(format!("path `{path}`; an echo server has none: write echo://HOST:PORT")));
        }
        let host = match (url.option("socket"), url.host.as_str()) {
            (Some(_), host) if !host.is_empty() => {
                return Err(url.error("a host and a `socket`; name one of them"));
            }
            (Some(path), _) => Host::Unix(path.into()),
            (None, "") => Host::Tcp("127.0.0.1".to_owned(), url.port.unwrap_or(PORT)),
            (None, host) => Host::Tcp(host.to_owned(), url.port.unwrap_or(PORT)),
        };
        Ok(Config {
            host,
            request: bytes(url, "request")?,
            answer: bytes(url, "answer")?,
            address: url.to_string(),
        })
    }
}

fn bytes(url: &TargetUrl, name: &str) -> Result<u32, UrlError> {
    let Some(text) = url.option(name) else { return Ok(BYTES) };
    let bytes = text.parse().ok().filter(|bytes| *bytes <= LIMIT);
    bytes.ok_or_else(|| url.error(format!("{name} `{text}` is not a number of bytes in 0..{LIMIT}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> Result<Config, String> {
        Config::new(&TargetUrl::parse(text).unwrap()).map_err(|error| error.to_string())
    }

    #[test]
    fn urls_say_where_and_how_much() {
        let all = config("echo://db1:7000?request=14&answer=65536").unwrap();
        assert_eq!(all.host, Host::Tcp("db1".to_owned(), 7000));
        assert_eq!((all.request, all.answer), (14, LIMIT));
        let least = config("echo:").unwrap();
        assert_eq!(least.host, Host::Tcp("127.0.0.1".to_owned(), PORT));
        assert_eq!((least.request, least.answer), (64, 64));
        let unix = config("echo:///?socket=/run/echo.sock&request=0").unwrap();
        assert_eq!((unix.host, unix.request), (Host::Unix("/run/echo.sock".into()), 0));
    }

    #[test]
    fn what_would_be_ignored_is_refused() {
        for (text, named) in [
            ("echo://h?size=3", "unknown option `size`"),
            ("echo://h?request=65537", "request `65537` is not a number of bytes in 0..65536"),
            ("echo://h?answer=-1", "answer `-1`"),
            ("echo://h?answer=", "answer ``"),
            ("echo://h/x", "path `x`"),
            ("echo://ann@h", "a user"),
            ("echo://h?socket=/x", "name one of them"),
        ] {
            let problem = config(text).unwrap_err();
            assert!(problem.contains(named), "{text}: {problem}");
        }
    }
}
