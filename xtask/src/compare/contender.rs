//! Who takes part, and the command line of each: the mode that its authors recommend for the job.

use super::effort::{Effort, Kind};
use super::server::{ROWS, Server, System, properties};
use crate::bench::builds::Builds;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program that makes a load.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Tool {
    Truetail,
    Pgbench,
    Sysbench,
    RedisBenchmark,
    Ycsb,
}

impl Tool {
    /// Those that ask this system, truetail first.
    pub(crate) fn of(system: System) -> &'static [Tool] {
        match system {
            System::Postgres => &[Tool::Truetail, Tool::Pgbench, Tool::Sysbench],
            System::MariaDb => &[Tool::Truetail, Tool::Sysbench],
            System::Redis => &[Tool::Truetail, Tool::RedisBenchmark, Tool::Ycsb],
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Tool::Truetail => "truetail",
            Tool::Pgbench => "pgbench",
            Tool::Sysbench => "sysbench",
            Tool::RedisBenchmark => "redis-benchmark",
            Tool::Ycsb => "YCSB",
        }
    }

    /// Whether it can keep a rate.
    pub(crate) fn has_rate(self) -> bool {
        self != Tool::RedisBenchmark
    }

    /// How the names of the threads begin that make its load.
    pub(crate) fn threads(self) -> &'static str {
        match self {
            Tool::Truetail => "load-",
            Tool::Pgbench => "pgbench",
            Tool::Sysbench => "sysbench",
            Tool::RedisBenchmark => "redis-benchmark",
            Tool::Ycsb => "Thread-",
        }
    }

    /// Seconds at the begin of a load that are not its steady part.
    pub(crate) fn warms_up_s(self) -> f64 {
        match self {
            // A JVM compiles in its first seconds.
            Tool::Ycsb => 3.0,
            _ => 1.5,
        }
    }

    /// Exit codes that are no failure. A verdict that is not valid says something of the machine, not that truetail failed.
    pub(crate) fn accepted(self) -> &'static [i32] {
        if self == Tool::Truetail { &[0, 3] } else { &[0] }
    }
}

/// One load that a tool makes.
pub(crate) struct Task<'a> {
    pub(crate) system: System,
    pub(crate) tool: Tool,
    pub(crate) kind: Kind,
    pub(crate) effort: &'a Effort,
    /// Requests, for a tool that takes no time: as many as it made in such a time before.
    pub(crate) requests: u64,
    /// An empty directory.
    pub(crate) place: &'a Path,
}

/// What commands need besides.
pub(crate) struct Programs<'a> {
    pub(crate) builds: &'a Builds,
    /// For `java -cp`.
    pub(crate) ycsb: String,
}

const SCRIPT: &str = "point-select.sql";
const WORKLOAD: &str = "point-select.toml";

/// Writes what pgbench and truetail read, into the directory that they run in.
pub(crate) fn write_scripts(directory: &Path) -> std::io::Result<()> {
    let script = format!("\\set id random(1, {ROWS})\nSELECT c FROM sbtest1 WHERE id = :id;\n");
    std::fs::write(directory.join(SCRIPT), script)?;
    let workload = format!(
        "[values]\nid = {{ draw = \"uniform\", from = 1, to = {ROWS} }}\n\n[[transaction]]\nname = \"select\"\n\
         sql = \"SELECT c FROM sbtest1 WHERE id = :id\"\n"
    );
    std::fs::write(directory.join(WORKLOAD), workload)
}

impl Task<'_> {
    /// The command; it runs in the directory of [`write_scripts`].
    pub(crate) fn command(&self, server: &Server, programs: &Programs<'_>) -> Command {
        match self.tool {
            Tool::Truetail => self.truetail(server, programs.builds),
            Tool::Pgbench => self.pgbench(server),
            Tool::Sysbench => self.sysbench(server),
            Tool::RedisBenchmark => self.redis_benchmark(server),
            Tool::Ycsb => self.ycsb(server, &programs.ycsb),
        }
    }

    fn seconds(&self) -> u32 {
        self.effort.seconds(self.tool, self.kind)
    }

    /// Where truetail leaves its recording.
    pub(crate) fn recording(&self) -> PathBuf {
        self.place.join("recording")
    }

    fn truetail(&self, server: &Server, builds: &Builds) -> Command {
        let mut command = builds.truetail(&["run", &server.url(), "--threads", "1", "--json"]);
        if self.system == System::Redis {
            command.args(["-w", "ycsb-c"]);
            command.args(properties());
        } else {
            command.args(["-w", &format!("./{WORKLOAD}")]);
        }
        command.args(["-c", &self.system.sessions().to_string()]);
        match self.kind {
            Kind::Closed => command.args(["--closed", "--warmup", "1s"]),
            Kind::Paced => command.args(["-r", &format!("{}/s", self.effort.rate), "--warmup", "1s"]),
            Kind::Stalled => command.args(["-r", &format!("{}/s", self.effort.rate), "--warmup", "0s"]),
        };
        command.args(["-d", &format!("{}s", self.seconds())]).arg("--out").arg(self.recording());
        command
    }

    fn pgbench(&self, server: &Server) -> Command {
        let mut command = Command::new("pgbench");
        command.args(["-n", "-M", "prepared", "-j", "1", "-f", SCRIPT]);
        command.args(["-c", &self.system.sessions().to_string(), "-T", &self.seconds().to_string()]);
        if self.kind != Kind::Closed {
            // Without its log pgbench tells mean and standard deviation.
            command.args(["-R", &self.effort.rate.to_string(), "-l"]);
            command.arg(format!("--log-prefix={}", self.place.join(PGBENCH_LOG).display()));
        }
        let port = server.port().to_string();
        command.args(["-h", "127.0.0.1", "-p", &port, "-U", "postgres", "postgres"]);
        command
    }

    fn sysbench(&self, server: &Server) -> Command {
        let mut command = server.sysbench();
        command.args([format!("--threads={}", self.system.sessions()), format!("--time={}", self.seconds())]);
        command.args(["--events=0", "--percentile=99"]);
        if self.kind != Kind::Closed {
            command.args([format!("--rate={}", self.effort.rate), "--histogram=on".to_owned()]);
        }
        command.arg("run");
        command
    }

    fn redis_benchmark(&self, server: &Server) -> Command {
        let mut command = Command::new("redis-benchmark");
        command.args(["-h", "127.0.0.1", "-p", &server.port().to_string(), "--precision", "3"]);
        command.args(["-c", &self.system.sessions().to_string(), "-n", &self.requests.to_string()]);
        command.args(["-r", &ROWS.to_string(), "HGETALL", "user__rand_int__"]);
        command
    }

    fn ycsb(&self, server: &Server, class_path: &str) -> Command {
        let mut command = Command::new("java");
        command.args(["-cp", class_path, "site.ycsb.Client", "-t", "-db", "truetail.ycsb.RespClient"]);
        command.args(["-threads", &self.system.sessions().to_string()]);
        command.args(properties());
        command.args(["-p", "workload=site.ycsb.workloads.CoreWorkload", "-p", "resp.index=false"]);
        command.args(["-p", "readproportion=1", "-p", "updateproportion=0"]);
        let mut property = |text: String| {
            command.args(["-p".to_owned(), text]);
        };
        property(format!("resp.port={}", server.port()));
        let seconds = self.seconds();
        if self.kind == Kind::Closed {
            property("operationcount=2000000000".to_owned());
            property(format!("maxexecutiontime={seconds}"));
            // Its own report of what it does now: the mean of a run has the time in it in which the JVM compiles.
            property("status.interval=1".to_owned());
            command.arg("-s");
        } else {
            property(format!("operationcount={}", self.effort.rate * seconds));
            property("measurement.interval=both".to_owned());
            // Its default leaves the median out.
            property("hdrhistogram.percentiles=50,95,99".to_owned());
            property("hdrhistogram.fileoutput=true".to_owned());
            property(format!("hdrhistogram.output.path={}/", self.place.display()));
            command.args(["-target", &self.effort.rate.to_string()]);
        }
        command
    }
}

/// How the names of pgbench's logs begin.
pub(crate) const PGBENCH_LOG: &str = "pgbench_log";
