//! The servers, and the data that all contenders ask for.

use crate::bench::builds::Builds;
use crate::bench::child;
use anyhow::{Context, anyhow};
use std::path::Path;
use std::process::Command;
use testkit::{mariadb, postgres, redis};

/// A kind of server, in the order of the page.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum System {
    Postgres,
    MariaDb,
    Redis,
}

impl System {
    pub(crate) const ALL: [System; 3] = [System::Postgres, System::MariaDb, System::Redis];

    /// As the page calls it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            System::Postgres => "PostgreSQL",
            System::MariaDb => "MariaDB",
            System::Redis => "Redis",
        }
    }

    /// Sessions of every contender: those of redis-benchmark's default, or one for each of sysbench's threads.
    pub(crate) fn sessions(self) -> u32 {
        if self == System::Redis { 50 } else { 8 }
    }

    /// What everybody asks for.
    pub(crate) fn statement(self) -> &'static str {
        match self {
            System::Postgres | System::MariaDb => "SELECT c FROM sbtest1 WHERE id = …",
            System::Redis => "HGETALL user…",
        }
    }

    /// The program whose `--version` names it.
    pub(crate) fn program(self) -> &'static str {
        match self {
            System::Postgres => "postgres",
            System::MariaDb => "mariadbd",
            System::Redis => "redis-server",
        }
    }
}

/// Rows of the table, and records of the store.
pub(crate) const ROWS: u32 = 10_000;

/// The properties that make the records of Redis the same for truetail and YCSB, and their keys those that redis-benchmark asks
/// for: `user` and twelve digits.
const RECORDS: [&str; 6] = [
    "insertorder=ordered",
    "zeropadding=12",
    "fieldcount=1",
    "fieldlength=100",
    "requestdistribution=uniform",
    "recordcount=10000",
];

/// The records' properties as flags of truetail and of YCSB, which are the same.
pub(crate) fn properties() -> impl Iterator<Item = &'static str> {
    RECORDS.into_iter().flat_map(|property| ["-p", property])
}

/// A server that runs, with its data.
pub(crate) enum Server {
    Postgres(postgres::Server),
    MariaDb(mariadb::Server),
    Redis(redis::Server),
}

impl Server {
    /// Starts one and fills it. `scratch` is a directory for what that leaves behind.
    pub(crate) fn start(system: System, builds: &Builds, scratch: &Path) -> anyhow::Result<Server> {
        let server = match system {
            System::Postgres => postgres::Server::start(&postgres::Options::default()).map(Server::Postgres),
            System::MariaDb => mariadb::Server::start(&mariadb::Options::default()).map(Server::MariaDb),
            System::Redis => redis::Server::start(&redis::Options::default()).map(Server::Redis),
        }
        .map_err(|reason| anyhow!(reason))?;
        server.fill(builds, scratch).with_context(|| format!("filling {}", system.name()))?;
        Ok(server)
    }

    fn fill(&self, builds: &Builds, scratch: &Path) -> anyhow::Result<()> {
        let mut command = match self {
            Server::Redis(_) => {
                let mut command = builds.truetail(&["load", &self.url(), "-w", "ycsb-c"]);
                command.args(properties());
                command
            }
            Server::Postgres(_) | Server::MariaDb(_) => {
                let mut command = self.sysbench();
                command.arg("prepare");
                command
            }
        };
        child::run(command.current_dir(scratch), &[0]).map(drop)
    }

    /// Over TCP.
    pub(crate) fn url(&self) -> String {
        match self {
            Server::Postgres(server) => server.tcp_url(),
            Server::MariaDb(server) => server.tcp_url(),
            Server::Redis(server) => server.tcp_url(),
        }
    }

    pub(crate) fn port(&self) -> u16 {
        match self {
            Server::Postgres(server) => server.port(),
            Server::MariaDb(server) => server.port(),
            Server::Redis(server) => server.port(),
        }
    }

    /// sysbench's point select on this server; the verb, threads and time are still to be said.
    pub(crate) fn sysbench(&self) -> Command {
        let mut command = Command::new("sysbench");
        command.arg("oltp_point_select");
        let port = self.port();
        let words = match self {
            Server::MariaDb(server) => [
                "--db-driver=mysql".to_owned(),
                "--mysql-host=127.0.0.1".to_owned(),
                format!("--mysql-port={port}"),
                format!("--mysql-user={}", server.user()),
                "--mysql-db=truetail".to_owned(),
            ],
            Server::Postgres(_) | Server::Redis(_) => [
                "--db-driver=pgsql".to_owned(),
                "--pgsql-host=127.0.0.1".to_owned(),
                format!("--pgsql-port={port}"),
                "--pgsql-user=postgres".to_owned(),
                "--pgsql-db=postgres".to_owned(),
            ],
        };
        command.args(words).args(["--tables=1", &format!("--table-size={ROWS}"), "--rand-type=uniform"]);
        command
    }

    /// Stops the server in the middle of whatever it does; connections stay open.
    pub(crate) fn freeze(&self) -> anyhow::Result<()> {
        match self {
            Server::Postgres(server) => server.freeze(),
            Server::MariaDb(server) => server.freeze(),
            Server::Redis(server) => server.freeze(),
        }
        .map_err(|reason| anyhow!(reason))
    }

    /// Lets a frozen server go on.
    pub(crate) fn thaw(&self) -> anyhow::Result<()> {
        match self {
            Server::Postgres(server) => server.thaw(),
            Server::MariaDb(server) => server.thaw(),
            Server::Redis(server) => server.thaw(),
        }
        .map_err(|reason| anyhow!(reason))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_of_redis_benchmark() {
        let says = |property: &str| RECORDS.contains(&property);
        assert!(says("insertorder=ordered") && says("zeropadding=12"));
        assert!(says(&format!("recordcount={ROWS}")));
    }
}
