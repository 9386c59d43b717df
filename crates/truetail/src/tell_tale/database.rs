//! The PostgreSQL of an experiment: somebody's, or one of its own; and a fresh copy of the data for each run.
//!
//! The paper copies the data directory before each run. Here a database is made from a template, so that the rows that a run
//! inserted or changed are not there in the next one, whichever harness made it.

use super::preset::Size;
use crate::process;
use crate::registry::{self, AnyTarget};
use anyhow::{Context, anyhow, bail};
use driver::{Administration, Target, TargetUrl};
use servers::postgres::{Options, Server};
use units::Nanos;

/// The loaded data, which nobody changes.
const DATA: &str = "truetail_tell_tale_data";
/// Its copy, which a run may change.
const COPY: &str = "truetail_tell_tale_run";

/// How the experiment's own server differs from what `initdb` makes: its data does not wait for a disk (the paper's lay in
/// memory), and the test server's small buffers get their usual size back.
const SETTINGS: [(&str, &str); 1] = [("shared_buffers", "128MB")];

/// A PostgreSQL; its own server ends when this is dropped.
#[derive(Debug)]
pub(super) struct Database {
    url: TargetUrl,
    _server: Option<Server>,
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
            let database = Database { url: url.clone(), _server: None };
            database.administer(&url.path.clone())?.facts()?;
            return Ok(database);
        }
        let settings = SETTINGS.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let server = Server::start(&Options { settings, ..Options::default() });
        let server = server.map_err(|reason| anyhow!("no PostgreSQL: {reason}"))?;
        Ok(Database { url: TargetUrl::parse(&server.tcp_url())?, _server: Some(server) })
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
    pub(super) fn load(&self, size: &Size, limit: Nanos) -> anyhow::Result<()> {
        let why = || format!("{}: can't make the database {DATA}; its user must be allowed to", self.url);
        self.script(&format!("DROP DATABASE IF EXISTS {DATA} WITH (FORCE)")).with_context(why)?;
        self.script(&format!("CREATE DATABASE {DATA}")).with_context(why)?;
        let mut words = vec!["load".to_owned(), secret(&self.named(DATA))];
        words.extend(super::lines::table(size));
        process::truetail(&words, limit, std::path::Path::new(""), || ())
    }

    /// A copy of the template in place of the last run's.
    ///
    /// # Errors
    /// One line: what the server said.
    pub(super) fn copy(&self) -> anyhow::Result<TargetUrl> {
        let why = || format!("{}: can't copy the loaded data", self.url);
        self.script(&format!("DROP DATABASE IF EXISTS {COPY} WITH (FORCE)")).with_context(why)?;
        self.script(&format!("CREATE DATABASE {COPY} TEMPLATE {DATA}")).with_context(why)?;
        Ok(self.named(COPY))
    }

    /// Drops both databases; for a server that stays. What can't be dropped stays, and is told.
    ///
    /// # Errors
    /// One line: what the server said.
    pub(super) fn clean_up(&self) -> anyhow::Result<()> {
        [COPY, DATA].iter().try_for_each(|name| {
            self.script(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"))
                .with_context(|| format!("{}: the database {name} of the experiment stays", self.url))
        })
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

/// The URL with its password, for a process of our own; never shown or written.
pub(super) fn secret(url: &TargetUrl) -> String {
    let shown = url.to_string();
    match &url.password {
        Some(password) => {
            let user = format!("{}@", url.user);
            let escaped: String = password.bytes().map(|byte| format!("%{byte:02X}")).collect();
            shown.replacen(&user, &format!("{}:{escaped}@", url.user), 1)
        }
        None => shown,
    }
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

    #[test]
    fn a_secret_url_is_read_back_with_its_password() {
        for text in ["postgres://app:p%40:%2F@db1:5433/test?sslmode=disable", "postgres://app@db1/test"] {
            let url = TargetUrl::parse(text).expect("a URL");
            assert_eq!(TargetUrl::parse(&secret(&url)).expect("the same"), url);
        }
    }
}
