//! The PostgreSQL of an experiment: somebody's, or one of its own; and a fresh copy of the data for each run.
//!
//! The paper copies the data directory before each run. Here a database is made from a template, so that the rows that a run
//! inserted or changed are not there in the next one, whichever harness made it.

use super::preset::Size;
use crate::registry::{self, AnyTarget};
use crate::{output, process};
use anyhow::{Context, anyhow, bail};
use driver::{Administration, Target, TargetUrl};
use servers::postgres::{Options, Server};
use units::Nanos;

/// How the names of the experiment's databases begin.
const PREFIX: &str = "truetail_tell_tale";
/// Where a password comes from that no URL has, for libpq and for truetail; and how one is handed over.
const PASSWORD: &str = "PGPASSWORD";

/// How the experiment's own server differs from what `initdb` makes: its data does not wait for a disk (the paper's lay in
/// memory), and the test server's small buffers get their usual size back.
const SETTINGS: [(&str, &str); 1] = [("shared_buffers", "128MB")];

/// A PostgreSQL. When this is dropped its own server ends, and somebody else's gets rid of the experiment's databases.
#[derive(Debug)]
pub(super) struct Database {
    url: TargetUrl,
    /// The loaded data, which nobody changes.
    data: String,
    /// Its copy, which a run may change.
    copy: String,
    /// Whether either may be there.
    is_made: bool,
    server: Option<Server>,
}

/// What `--postgres` names, checked without a connection.
///
/// # Errors
/// One line: a URL that is none, or not of PostgreSQL.
pub(super) fn given(url: Option<&str>) -> anyhow::Result<Option<TargetUrl>> {
    let Some(text) = url else { return Ok(None) };
    let url = TargetUrl::parse(text)?;
    if !matches!(url.scheme.as_str(), "postgres" | "postgresql") {
        bail!("--postgres {url}: give the URL of a PostgreSQL, such as postgres://app@db1/test");
    }
    Ok(Some(url))
}

impl Database {
    /// That of the URL, or a new server: some seconds.
    ///
    /// # Errors
    /// One line: why there is none.
    pub(super) fn open(given: Option<&TargetUrl>) -> anyhow::Result<Database> {
        if let Some(url) = given {
            let database = Database::at(url.clone(), None);
            database.administer(&url.path)?.facts()?;
            return Ok(database);
        }
        let settings = SETTINGS.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let server = Server::start(&Options { settings, ..Options::default() });
        let server = server.map_err(|reason| anyhow!("no PostgreSQL: {reason}"))?;
        Ok(Database::at(TargetUrl::parse(&server.tcp_url())?, Some(server)))
    }

    /// With databases of this experiment alone: others may be run on the same server at the same time.
    fn at(url: TargetUrl, server: Option<Server>) -> Database {
        let own = format!("{PREFIX}_{:x}_{:x}", clock::wall_time_ns(), std::process::id());
        let (data, copy) = (format!("{own}_data"), format!("{own}_run"));
        Database { url, data, copy, is_made: false, server }
    }

    /// What it says of itself: version and settings, for people.
    ///
    /// # Errors
    /// What the connection said.
    pub(super) fn described(&self) -> anyhow::Result<String> {
        let mut administration = self.administer(&self.url.path)?;
        let rows = administration.query("SELECT version()")?;
        Ok(rows.into_iter().flatten().flatten().next().unwrap_or_default())
    }

    /// The database without tables: for requests that ask for nothing.
    pub(super) fn plain(&self) -> TargetUrl {
        self.url.clone()
    }

    /// Loads YCSB's table into the template.
    ///
    /// # Errors
    /// One line: what the server or the loading said.
    pub(super) fn load(&mut self, size: &Size, limit: Nanos) -> anyhow::Result<()> {
        self.is_made = true;
        let why =
            || format!("{}: can't make the database {}; its user must be allowed to", self.url, self.data);
        self.script(&format!("CREATE DATABASE {}", self.data)).with_context(why)?;
        let mut words = vec!["load".to_owned(), self.named(&self.data).to_string()];
        words.extend(super::lines::table(size));
        process::truetail(&words, &secrets(&self.url), limit, std::path::Path::new(""), || ())
    }

    /// A copy of the template in place of the last run's.
    ///
    /// # Errors
    /// One line: what the server said.
    pub(super) fn copy(&self) -> anyhow::Result<TargetUrl> {
        let why = || format!("{}: can't copy the loaded data", self.url);
        let Database { data, copy, .. } = self;
        self.script(&format!("DROP DATABASE IF EXISTS {copy} WITH (FORCE)")).with_context(why)?;
        self.script(&format!("CREATE DATABASE {copy} TEMPLATE {data}")).with_context(why)?;
        Ok(self.named(copy))
    }

    fn named(&self, database: &str) -> TargetUrl {
        TargetUrl { path: database.to_owned(), ..self.url.clone() }
    }

    fn script(&self, sql: &str) -> anyhow::Result<()> {
        Ok(self.administer(&self.url.path)?.script(sql)?)
    }

    fn administer(&self, database: &str) -> anyhow::Result<Box<dyn Administration>> {
        match registry::open_target(&self.named(database))? {
            AnyTarget::Postgres(target) => Ok(target.administer()?),
            _ => bail!("{}: no PostgreSQL", self.url),
        }
    }
}

impl Drop for Database {
    /// A server of our own goes with all that is in it. What can't be dropped stays, and is told.
    fn drop(&mut self) {
        if self.server.is_some() || !self.is_made {
            return;
        }
        for name in [&self.copy, &self.data] {
            let dropped = self
                .script(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"))
                .with_context(|| format!("{}: the database {name} of the experiment stays", self.url));
            dropped.err().iter().for_each(output::error);
        }
    }
}

/// The password for a server, wherever truetail itself takes it from: the URL or the environment.
pub(super) fn password(url: &TargetUrl) -> Option<String> {
    let of_url = url.password.as_deref().filter(|password| !password.is_empty());
    let of_url = of_url.or_else(|| url.option("password").filter(|password| !password.is_empty()));
    of_url.map(str::to_owned).or_else(|| std::env::var(PASSWORD).ok()).filter(|password| !password.is_empty())
}

/// The same for a truetail that is told the URL without it.
pub(crate) fn secrets(url: &TargetUrl) -> Vec<(&'static str, String)> {
    password(url).map(|password| (PASSWORD, password)).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_postgresql_is_taken() {
        let wrong = given(Some("redis://db1")).expect_err("refused").to_string();
        assert_eq!(
            wrong,
            "--postgres redis://db1/: give the URL of a PostgreSQL, such as postgres://app@db1/test"
        );
        assert_eq!(given(None).expect("nothing"), None);
    }

    /// Whoever needs escapes as a user or has the password as an option, too.
    #[test]
    fn a_process_of_our_own_gets_the_password_and_its_command_line_does_not() {
        for text in [
            "postgres://app:p%40:%2F@db1:5433/test?sslmode=disable",
            "postgres://a%40b%3Ac:p%40:%2F@db1:5433/test?sslmode=disable",
            "postgres://a%40b%3Ac@db1:5433/test?password=p%40:/&sslmode=disable",
        ] {
            let url = TargetUrl::parse(text).expect("a URL");
            assert_eq!(secrets(&url), [("PGPASSWORD", "p@:/".to_owned())]);
            let told = TargetUrl::parse(&url.to_string()).expect("the same without it");
            assert_eq!((&told.user, &told.host, &told.path), (&url.user, &url.host, &url.path));
            assert_eq!((told.option("sslmode"), told.option("password")), (Some("disable"), None));
            assert_eq!(told.password, None);
        }
    }

    #[test]
    fn the_databases_are_the_experiments_own() {
        let url = TargetUrl::parse("postgres://app@db1/test").expect("a URL");
        let database = Database::at(url, None);
        let process = format!("_{:x}_", std::process::id());
        for name in [&database.data, &database.copy] {
            // PostgreSQL cuts what is longer.
            assert!(name.len() <= 63 && name.starts_with(PREFIX) && name.contains(&process), "{name}");
        }
        assert_ne!(database.data, database.copy);
    }
}
