//! The servers of an experiment: somebody's, or of its own; and fresh data for each run.
//!
//! The paper copies the data directory before each run. Here PostgreSQL makes a database from a template, and MariaDB, which has none,
//! gets its tables loaded anew; so that the rows that a run inserted or changed are not there in the next one, whichever harness
//! made it.

use super::lines::{expected_loading, tables};
use super::matrix::Workload;
use super::preset::Size;
use crate::registry::{self, AnyTarget};
use crate::{output, process};
use anyhow::{Context, anyhow, bail};
use driver::{Administration, Target, TargetUrl};
use servers::{mariadb, postgres};
use units::Nanos;

/// How the names of the experiment's databases begin.
const PREFIX: &str = "truetail_tell_tale";

/// How the experiment's own PostgreSQL differs from what `initdb` makes: its data does not wait for a disk (the paper's lay in
/// memory), and the test server's small buffers get their usual size back.
const POSTGRES: [(&str, &str); 1] = [("shared_buffers", "128MB")];
/// The same of MariaDB.
const MARIADB: [(&str, &str); 1] = [("innodb_buffer_pool_size", "128M")];

/// The kinds of servers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Server {
    PostgreSql,
    MariaDb,
}

impl Server {
    pub(super) const ALL: [Server; 2] = [Server::PostgreSql, Server::MariaDb];

    pub(super) fn name(self) -> &'static str {
        match self {
            Server::PostgreSql => "PostgreSQL",
            Server::MariaDb => "MariaDB",
        }
    }

    /// Whose URL it is.
    pub(super) fn of(url: &TargetUrl) -> Server {
        if matches!(url.scheme.as_str(), "mysql" | "mariadb") { Server::MariaDb } else { Server::PostgreSql }
    }

    /// What `--postgres` or `--mariadb` names, checked without a connection.
    ///
    /// # Errors
    /// One line: a URL that is none, or of another server.
    pub(super) fn given(self, url: Option<&str>) -> anyhow::Result<Option<TargetUrl>> {
        let Some(text) = url else { return Ok(None) };
        let url = TargetUrl::parse(text)?;
        let (flag, schemes) = match self {
            Server::PostgreSql => ("--postgres", ["postgres", "postgresql"]),
            Server::MariaDb => ("--mariadb", ["mysql", "mariadb"]),
        };
        if !schemes.contains(&url.scheme.as_str()) {
            bail!("{flag} {url}: give the URL of a {}, such as {}://app@db1/test", self.name(), schemes[0]);
        }
        Ok(Some(url))
    }

    /// Where a password comes from that no URL has, for the server's own clients and for truetail; and how one is handed over.
    fn variable(self) -> &'static str {
        match self {
            Server::PostgreSql => "PGPASSWORD",
            Server::MariaDb => "MYSQL_PWD",
        }
    }
}

/// What keeps a server of the experiment's own alive.
#[derive(Debug)]
enum Own {
    PostgreSql(#[expect(dead_code, reason = "it ends when it is dropped")] postgres::Server),
    MariaDb(#[expect(dead_code, reason = "it ends when it is dropped")] mariadb::Server),
}

/// A server. When this is dropped one of its own ends, and somebody else's gets rid of the experiment's databases.
#[derive(Debug)]
pub(super) struct Database {
    url: TargetUrl,
    /// The beginning of the names of its databases.
    prefix: String,
    /// Those that may be there.
    made: std::cell::RefCell<Vec<String>>,
    own: Option<Own>,
}

impl Database {
    /// That of the URL, or a new server: some seconds.
    ///
    /// # Errors
    /// One line: why there is none.
    pub(super) fn open(server: Server, given: Option<&TargetUrl>) -> anyhow::Result<Database> {
        if let Some(url) = given {
            let database = Database::at(url.clone(), None);
            database.administer(&url.path)?.facts()?;
            return Ok(database);
        }
        let pairs = |settings: &[(&str, &str)]| {
            settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let (url, own) = match server {
            Server::PostgreSql => {
                let options = postgres::Options { settings: pairs(&POSTGRES), ..Default::default() };
                let server =
                    postgres::Server::start(&options).map_err(|why| anyhow!("no PostgreSQL: {why}"))?;
                (server.tcp_url(), Own::PostgreSql(server))
            }
            Server::MariaDb => {
                let options = mariadb::Options { settings: pairs(&MARIADB), ..Default::default() };
                let server = mariadb::Server::start(&options).map_err(|why| anyhow!("no MariaDB: {why}"))?;
                (server.tcp_url(), Own::MariaDb(server))
            }
        };
        Ok(Database::at(TargetUrl::parse(&url)?, Some(own)))
    }

    /// With databases of this experiment alone: others may be run on the same server at the same time.
    fn at(url: TargetUrl, own: Option<Own>) -> Database {
        let prefix = format!("{PREFIX}_{:x}_{:x}", clock::wall_time_ns(), std::process::id());
        Database { url, prefix, made: std::cell::RefCell::default(), own }
    }

    pub(super) fn server(&self) -> Server {
        Server::of(&self.url)
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

    /// Whether a database can be made from another one.
    pub(super) fn has_templates(&self) -> bool {
        self.server() == Server::PostgreSql
    }

    /// Loads a workload's tables into its template, which nobody changes.
    ///
    /// # Errors
    /// One line: what the server or the loading said.
    pub(super) fn load(&mut self, workload: Workload, size: &Size) -> anyhow::Result<()> {
        let data = self.data(workload);
        self.create(&data, "")?;
        self.fill(&data, workload, size)
    }

    /// A workload's tables as they were loaded, in place of the last run's.
    ///
    /// # Errors
    /// One line: what the server said.
    pub(super) fn copy(&self, workload: Workload, size: &Size) -> anyhow::Result<TargetUrl> {
        let copy = self.copy_name();
        if self.has_templates() {
            self.remove(&copy)
                .and_then(|()| self.create(&copy, &format!(" TEMPLATE {}", self.data(workload))))?;
        } else {
            self.empty()?;
            self.fill(&copy, workload, size)?;
        }
        Ok(self.named(&copy))
    }

    /// A database without tables in place of the last run's.
    ///
    /// # Errors
    /// One line: what the server said.
    pub(super) fn empty(&self) -> anyhow::Result<TargetUrl> {
        let copy = self.copy_name();
        self.remove(&copy)?;
        self.create(&copy, "")?;
        Ok(self.named(&copy))
    }

    /// The loaded data of a workload.
    fn data(&self, workload: Workload) -> String {
        let name = if workload == Workload::TpcC { "tpcc" } else { "ycsb" };
        format!("{}_{name}", self.prefix)
    }

    /// What a run may change.
    fn copy_name(&self) -> String {
        format!("{}_run", self.prefix)
    }

    fn create(&self, name: &str, template: &str) -> anyhow::Result<()> {
        self.made.borrow_mut().push(name.to_owned());
        let why = || format!("{}: can't make the database {name}; its user must be allowed to", self.url);
        self.script(&format!("CREATE DATABASE {name}{template}")).with_context(why)
    }

    fn remove(&self, name: &str) -> anyhow::Result<()> {
        let force = if self.has_templates() { " WITH (FORCE)" } else { "" };
        self.script(&format!("DROP DATABASE IF EXISTS {name}{force}"))
            .with_context(|| format!("{}: can't drop the database {name}", self.url))
    }

    fn fill(&self, name: &str, workload: Workload, size: &Size) -> anyhow::Result<()> {
        let mut words = vec!["load".to_owned(), self.named(name).to_string()];
        words.extend(tables(workload, size));
        let limit = Nanos::from_secs(120) + Nanos::from_secs_f64(10.0 * expected_loading(workload, size));
        process::truetail(&words, &secrets(&self.url), limit, std::path::Path::new(""), || ())
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
            AnyTarget::MySql(target) => Ok(target.administer()?),
            _ => bail!("{}: no {}", self.url, self.server().name()),
        }
    }
}

impl Drop for Database {
    /// A server of our own goes with all that is in it. What can't be dropped stays, and is told.
    fn drop(&mut self) {
        if self.own.is_some() {
            return;
        }
        let mut made = self.made.take();
        made.sort_unstable();
        made.dedup();
        for name in made {
            let dropped = self
                .remove(&name)
                .with_context(|| format!("{}: the database {name} of the experiment stays", self.url));
            dropped.err().iter().for_each(output::error);
        }
    }
}

/// The password for a server, wherever truetail itself takes it from: the URL or the environment.
pub(super) fn password(url: &TargetUrl) -> Option<String> {
    let of_url = url.password.as_deref().filter(|password| !password.is_empty());
    let of_url = of_url.or_else(|| url.option("password").filter(|password| !password.is_empty()));
    let variable = Server::of(url).variable();
    of_url.map(str::to_owned).or_else(|| std::env::var(variable).ok()).filter(|password| !password.is_empty())
}

/// The same for a truetail that is told the URL without it.
pub(crate) fn secrets(url: &TargetUrl) -> Vec<(&'static str, String)> {
    password(url).map(|password| (Server::of(url).variable(), password)).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_server_of_the_kind_is_taken() {
        let wrong = Server::PostgreSql.given(Some("redis://db1")).expect_err("refused").to_string();
        assert_eq!(
            wrong,
            "--postgres redis://db1/: give the URL of a PostgreSQL, such as postgres://app@db1/test"
        );
        assert_eq!(Server::PostgreSql.given(None).expect("nothing"), None);
        let wrong = Server::MariaDb.given(Some("postgres://db1/x")).expect_err("refused").to_string();
        assert_eq!(
            wrong,
            "--mariadb postgres://db1/x: give the URL of a MariaDB, such as mysql://app@db1/test"
        );
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
        let url = TargetUrl::parse("mysql://app:pw@db1/test").expect("a URL");
        assert_eq!(secrets(&url), [("MYSQL_PWD", "pw".to_owned())]);
    }

    #[test]
    fn the_databases_are_the_experiments_own() {
        let url = TargetUrl::parse("postgres://app@db1/test").expect("a URL");
        let database = Database::at(url, None);
        let process = format!("_{:x}_", std::process::id());
        let names = [database.data(Workload::Ycsb), database.data(Workload::TpcC), database.copy_name()];
        for name in &names {
            // PostgreSQL cuts what is longer.
            assert!(name.len() <= 63 && name.starts_with(PREFIX) && name.contains(&process), "{name}");
        }
        assert!(names[0] != names[1] && names[1] != names[2] && names[0] != names[2]);
    }
}
