//! The servers of the experiment: somebody's, or of its own.

use super::arguments::PredictabilityArguments;
use crate::registry;
use anyhow::{anyhow, bail};
use driver::TargetUrl;
use servers::{mariadb, postgres};

/// Which server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    PostgreSql,
    MariaDb,
}

impl Kind {
    pub(super) const ALL: [Kind; 2] = [Kind::PostgreSql, Kind::MariaDb];

    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::PostgreSql => "PostgreSQL",
            Kind::MariaDb => "MariaDB",
        }
    }

    /// Those that are asked for.
    ///
    /// # Errors
    /// A name that is none of a server.
    pub(super) fn asked(names: &[String]) -> anyhow::Result<Vec<Kind>> {
        if names.is_empty() {
            return Ok(Kind::ALL.to_vec());
        }
        let of = |name: &String| Kind::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(name));
        match names.iter().find(|name| of(name).is_none()) {
            Some(name) => bail!("--server {name}: there are postgresql and mariadb"),
            None => {
                Ok(Kind::ALL.into_iter().filter(|kind| names.iter().any(|n| of(n) == Some(*kind))).collect())
            }
        }
    }

    /// The URL that was given for it, checked without a connection.
    ///
    /// # Errors
    /// One line: a URL that is none, or of another server.
    pub(super) fn given(self, arguments: &PredictabilityArguments) -> anyhow::Result<Option<TargetUrl>> {
        let (flag, text, schemes): (_, _, &[&str]) = match self {
            Kind::PostgreSql => ("--postgres", &arguments.postgres, &["postgres", "postgresql"]),
            Kind::MariaDb => ("--mariadb", &arguments.mariadb, &["mysql", "mariadb"]),
        };
        let Some(text) = text else { return Ok(None) };
        let url = TargetUrl::parse(text)?;
        if !schemes.contains(&url.scheme.as_str()) {
            bail!("{flag} {url}: give the URL of a {}, such as {}://app@db1/test", self.name(), schemes[0]);
        }
        registry::driver_of(&url)?;
        Ok(Some(url))
    }
}

/// What keeps a server of the experiment's own alive.
#[derive(Debug)]
enum Own {
    PostgreSql(#[expect(dead_code, reason = "it ends when it is dropped")] postgres::Server),
    MariaDb(#[expect(dead_code, reason = "it ends when it is dropped")] mariadb::Server),
}

/// A server that can be asked.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) url: TargetUrl,
    _own: Option<Own>,
}

/// How the experiment's own PostgreSQL differs from a throw-away one: it flushes at each commit, which is much of what makes
/// a database unpredictable, and its buffers have their usual size.
const POSTGRES: [(&str, &str); 3] =
    [("fsync", "on"), ("shared_buffers", "128MB"), ("max_connections", "200")];

/// The same of MariaDB: flushes at each commit, and buffers of the usual size.
const MARIADB: [(&str, &str); 3] = [
    ("innodb_flush_log_at_trx_commit", "1"),
    ("innodb_buffer_pool_size", "128M"),
    ("max_connections", "200"),
];

impl Place {
    /// That of the URL, or a new server: some seconds.
    ///
    /// # Errors
    /// One line: why there is none.
    pub(super) fn open(kind: Kind, given: Option<TargetUrl>) -> anyhow::Result<Place> {
        if let Some(url) = given {
            return Ok(Place { url, _own: None });
        }
        let pairs = |settings: &[(&str, &str)]| {
            settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        match kind {
            Kind::PostgreSql => {
                let options = postgres::Options { settings: pairs(&POSTGRES), ..Default::default() };
                let server =
                    postgres::Server::start(&options).map_err(|why| anyhow!("no PostgreSQL: {why}"))?;
                let url = TargetUrl::parse(&server.tcp_url())?;
                Ok(Place { url, _own: Some(Own::PostgreSql(server)) })
            }
            Kind::MariaDb => {
                let options = mariadb::Options { settings: pairs(&MARIADB), ..Default::default() };
                let server = mariadb::Server::start(&options).map_err(|why| anyhow!("no MariaDB: {why}"))?;
                let url = TargetUrl::parse(&server.tcp_url())?;
                Ok(Place { url, _own: Some(Own::MariaDb(server)) })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_picked_by_name() {
        let asked = |names: &[&str]| Kind::asked(&names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>());
        assert_eq!(asked(&[]).expect("all"), Kind::ALL);
        assert_eq!(asked(&["MariaDB", "mariadb"]).expect("one"), [Kind::MariaDb]);
        assert_eq!(
            asked(&["oracle"]).expect_err("refused").to_string(),
            "--server oracle: there are postgresql and mariadb"
        );
    }

    #[test]
    fn another_servers_url_is_refused() {
        let postgres = Some("redis://db1".to_owned());
        let arguments = PredictabilityArguments { postgres, ..Default::default() };
        assert_eq!(
            Kind::PostgreSql.given(&arguments).expect_err("refused").to_string(),
            "--postgres redis://db1/: give the URL of a PostgreSQL, such as postgres://app@db1/test"
        );
    }
}
