//! From properties to a load: each is taken, told to be without meaning here, or refused.

use super::place::{self, Place};
use super::told::{self, Told};
use super::words::{Properties, Verb, Words};
use crate::settings::RunOptions;
use anyhow::bail;
use std::path::PathBuf;
use workload::names::nearest;
use workload::ycsb::Family;

/// Properties of the client, apart from those of measurements.
const CLIENT: [&str; 8] = [
    "workload",
    "db",
    "threadcount",
    "target",
    "maxexecutiontime",
    "dotransactions",
    "operationcount",
    "spin.sleep",
];

/// Properties of truetail's own.
const OWN: [&str; 6] = [
    "truetail.url",
    "truetail.out",
    "truetail.seed",
    "truetail.timeout",
    "truetail.arrivals",
    "truetail.observers",
];

/// Properties of the workload that have no meaning, here as mostly there.
const WITHOUT_MEANING: [&str; 6] = [
    "columnfamily",
    "maxscanrate",
    "scanoptimelimit",
    "discardscannedrecord",
    "core_workload_insertion_retry_interval",
    "core_workload_insertion_keep_going_on_error",
];

/// How names of bindings' properties begin. Those that [`place`] reads are among them.
const BINDINGS: [&str; 34] = [
    "accumulo.",
    "as.",
    "aerospike.",
    "arangodb.",
    "azurecosmos.",
    "azuretablestorage.",
    "basicdb.",
    "bigtable.",
    "cassandra.",
    "cloudspanner.",
    "couchbase.",
    "crail.",
    "db.",
    "dynamodb.",
    "elasticsearch.",
    "es.",
    "foundationdb.",
    "geode.",
    "google.bigtable.",
    "googledatastore.",
    "griddb.",
    "hbase.",
    "hosts",
    "infinispan.",
    "jdbc.",
    "kudu",
    "memcached.",
    "mongodb.",
    "mongo.",
    "postgrenosql.",
    "redis.",
    "rocksdb.",
    "scylla.",
    "voltdb.",
];

/// The load that a command line stands for.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) options: RunOptions,
    pub(super) told: Told,
    pub(super) verb: Verb,
    /// A rate was asked for: the load is open.
    pub(super) is_open: bool,
    /// Lines for people.
    pub(super) notes: Vec<String>,
    /// The flags of `truetail load`, `check` and `cleanup` for the same data set.
    pub(super) flags: String,
}

/// Takes the command line apart; connects to nothing.
pub(super) fn of(words: Words) -> anyhow::Result<Plan> {
    let Words { verb, db, properties, mut notes } = words;
    let known = known();
    for (name, value) in &properties.0 {
        classify(name, value, &known, &mut notes)?;
    }
    require_workload(&properties)?;
    let Place { url, notes: of_place } = place::of(&db, &properties)?;
    notes.extend(of_place);
    let told = Told::of(&properties)?;
    let mut options = load(verb, &properties)?;
    options.target = Some(url);
    options.workload = Some("ycsb-core".to_owned());
    let mine = Family::Core.properties();
    let given = properties.0.iter().filter(|(name, _)| mine.contains(&name.as_str()));
    options.param = given.map(|(name, value)| format!("{name}={}", value.trim())).collect();
    if verb == Verb::Load {
        options.param.push("dotransactions=false".to_owned());
    }
    // What is inside of a read-modify-write is measured as a read and an update, too.
    let is_inside_measured =
        properties.text("readmodifywriteproportion").is_some_and(|share| share.parse() != Ok(0.0));
    options.statements = (verb == Verb::Run && is_inside_measured).then_some(true);
    let is_open = options.rate.is_some();
    if !is_open && told.interval != super::told::Interval::Op {
        notes.push(
            "measurement.interval: without -target nothing is intended before it is sent; both intervals are the same"
                .to_owned(),
        );
    }
    let flags = flags(&options);
    Ok(Plan { options, told, verb, is_open, notes, flags })
}

fn known() -> Vec<&'static str> {
    let mut known = Family::Core.properties();
    known.extend(CLIENT);
    known.extend(OWN);
    known.extend(told::NAMES);
    known.extend(WITHOUT_MEANING);
    known
}

/// Refuses a name that is near to one that is known: it would change nothing, unnoticed.
fn classify(name: &str, value: &str, known: &[&str], notes: &mut Vec<String>) -> anyhow::Result<()> {
    if WITHOUT_MEANING.contains(&name) {
        notes.push(format!("{name}={value}: changes nothing here"));
        return Ok(());
    }
    let of_binding = BINDINGS.iter().any(|prefix| name.starts_with(prefix));
    let used = ["db.url", "db.user", "db.passwd", "db.driver", "redis.host", "redis.port", "redis.password"];
    if known.contains(&name) || used.contains(&name) || matches!(name, "redis.cluster" | "redis.timeout") {
        return Ok(());
    }
    // As a whole, or what stands behind its last point: `p.fieldcount` is the flag's letter and a name.
    let tail = name.rsplit('.').next().unwrap_or(name);
    let meant = nearest(name, known)
        .or_else(|| (!of_binding && tail != name).then(|| nearest(tail, known)).flatten());
    if let Some(meant) = meant.or_else(|| nearest(name, &used)) {
        bail!("property `{name}`: there is none; did you mean `{meant}`?");
    }
    notes.push(format!("{name}: of another binding or of none that is known; changes nothing here"));
    Ok(())
}

/// The one workload that is offered, by either of its names.
fn require_workload(properties: &Properties) -> anyhow::Result<()> {
    const CORE: &str = "site.ycsb.workloads.CoreWorkload";
    let given = properties.text("workload").unwrap_or(CORE);
    let name = given
        .strip_prefix("com.yahoo.ycsb.")
        .map_or_else(|| given.to_owned(), |rest| format!("site.ycsb.{rest}"));
    if name == CORE {
        return Ok(());
    }
    let own = ["ConstantOccupancyWorkload", "RestWorkload", "TimeSeriesWorkload"];
    let class = name.rsplit('.').next().unwrap_or(&name);
    if own.contains(&class) {
        bail!("workload={given}: not offered; there is {CORE}");
    }
    bail!("workload={given}: no class of that name; there is {CORE}")
}

/// Threads, rate and length.
fn load(verb: Verb, properties: &Properties) -> anyhow::Result<RunOptions> {
    let transactions = properties.flag("dotransactions", verb == Verb::Run)?;
    if transactions != (verb == Verb::Run) {
        bail!(
            "dotransactions={transactions} with ycsb {}: the two contradict each other; leave it out",
            verb.name()
        );
    }
    const MOST: u64 = 1_000_000_000_000;
    let records = properties.whole("recordcount", 0, 0, MOST)?;
    if records == 0 {
        bail!("recordcount: is missing; say how many records there are, such as `-p recordcount=1000`");
    }
    let start = properties.whole("insertstart", 0, 0, MOST)?;
    let count = properties.whole("insertcount", records.saturating_sub(start), 0, MOST)?;
    if start.saturating_add(count) > records || count == 0 {
        bail!("insertstart={start} and insertcount={count}: their sum must be within recordcount={records}");
    }
    let operations = properties.whole("operationcount", 0, 0, MOST)?;
    let seconds = properties.whole("maxexecutiontime", 0, 0, 31_536_000)?;
    let requests = match verb {
        Verb::Load => Some(count),
        Verb::Run => Some(operations).filter(|operations| *operations > 0),
    };
    if requests.is_none() && seconds == 0 {
        bail!(
            "operationcount and maxexecutiontime: both are missing, and the run would never end; set one of them"
        );
    }
    let target = properties.whole("target", 0, 0, 1_000_000_000)?;
    let seed = properties.text("truetail.seed").map(|_| properties.whole("truetail.seed", 1, 0, u64::MAX));
    Ok(RunOptions {
        closed: Some(target == 0),
        rate: (target > 0).then(|| format!("{target}/s")),
        // Even gaps, as the original has them.
        arrivals: (target > 0).then(|| properties.text("truetail.arrivals").unwrap_or("constant").to_owned()),
        sessions: Some(properties.whole("threadcount", 1, 1, 65_535)? as u32),
        requests,
        // The requests are what ends it; a year is for what has none.
        duration: Some(format!("{}s", if seconds > 0 { seconds } else { 31_536_000 })),
        warmup: Some("0s".to_owned()),
        timeout: properties.text("truetail.timeout").map(str::to_owned),
        observers: properties.text("truetail.observers").map(str::to_owned),
        retry: match verb {
            Verb::Load => {
                Some(properties.whole("core_workload_insertion_retry_limit", 0, 0, 255)?.to_string())
            }
            Verb::Run => None,
        },
        seed: seed.transpose()?,
        out: properties.text("truetail.out").map(PathBuf::from),
        ..RunOptions::default()
    })
}

/// What `truetail load`, `check` and `cleanup` need to mean the same data set.
fn flags(options: &RunOptions) -> String {
    let mut flags = "-w ycsb-core".to_owned();
    for pair in options.param.iter().filter(|pair| *pair != "dotransactions=false") {
        let quoted = pair.chars().any(|c| !(c.is_ascii_alphanumeric() || "._=-/".contains(c)));
        flags += &if quoted { format!(" -p '{pair}'") } else { format!(" -p {pair}") };
    }
    flags
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(line: &str) -> anyhow::Result<Plan> {
        of(super::super::words::read(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())?)
    }

    fn refused(line: &str) -> String {
        format!("{:#}", plan(line).unwrap_err())
    }

    #[test]
    fn a_command_line_becomes_a_load() {
        let closed =
            plan("run basic -p recordcount=1000 -p operationcount=500 -threads 4 -p readproportion=1")
                .unwrap();
        assert_eq!(closed.options.target.as_deref(), Some("null:"));
        assert_eq!(
            (closed.options.closed, closed.options.rate.as_deref(), closed.is_open),
            (Some(true), None, false)
        );
        assert_eq!((closed.options.sessions, closed.options.requests), (Some(4), Some(500)));
        assert_eq!(closed.options.param, ["recordcount=1000", "operationcount=500", "readproportion=1"]);
        let open = plan("run basic -p recordcount=1000 -p maxexecutiontime=5 -target 300").unwrap();
        assert_eq!(
            (open.options.rate.as_deref(), open.options.arrivals.as_deref()),
            (Some("300/s"), Some("constant"))
        );
        assert_eq!((open.options.requests, open.options.duration.as_deref()), (None, Some("5s")));
        let load = plan("load basic -p recordcount=1000 -p insertstart=100 -p insertcount=50").unwrap();
        assert_eq!(load.options.requests, Some(50));
        assert!(load.options.param.contains(&"dotransactions=false".to_owned()), "{:?}", load.options.param);
        assert_eq!(load.flags, "-w ycsb-core -p recordcount=1000 -p insertstart=100 -p insertcount=50");
    }

    #[test]
    fn misspelt_properties_are_refused_and_those_of_bindings_told() {
        let with = |property: &str| format!("run basic -p recordcount=10 -p operationcount=10 -p {property}");
        assert!(refused(&with("feildcount=5")).contains("did you mean `fieldcount`?"));
        assert!(refused(&with("p.fieldcount=5")).contains("did you mean `fieldcount`?"));
        assert!(
            refused(&with("hdrhistogram.percentile=5")).contains("did you mean `hdrhistogram.percentiles`?")
        );
        assert!(refused(&with("db.urls=5")).contains("did you mean `db.url`?"));
        assert!(refused(&with("truetail.uot=x")).contains("did you mean `truetail.out`?"));
        assert!(refused(&with("threadcounts=5")).contains("did you mean `threadcount`?"));
        for other in ["cassandra.readconsistencylevel=ONE", "hosts=a,b", "jdbc.fetchsize=10", "mongodb.url=x"]
        {
            let notes = plan(&with(other)).unwrap().notes;
            let name = other.split('=').next().unwrap();
            assert!(notes.iter().any(|note| note.starts_with(name)), "{other}: {notes:?}");
        }
    }

    #[test]
    fn what_makes_no_load_is_refused() {
        assert!(refused("run basic -p operationcount=1").contains("recordcount: is missing"));
        assert!(refused("run basic -p recordcount=1").contains("would never end"));
        assert!(
            refused("load basic -p recordcount=5 -p insertstart=3 -p insertcount=3")
                .contains("recordcount=5")
        );
        assert!(refused("run basic -p recordcount=5 -p operationcount=x").contains("operationcount=x"));
        assert!(
            refused("run basic -p recordcount=5 -p operationcount=1 -threads 0").contains("threadcount=0")
        );
        let workload = |class: &str| refused(&format!("run basic -p recordcount=5 -p workload={class}"));
        assert!(workload("site.ycsb.workloads.RestWorkload").contains("not offered"));
        assert!(workload("mine.Own").contains("no class of that name"));
        let old = "run basic -p recordcount=5 -p operationcount=5 -p workload=com.yahoo.ycsb.workloads.CoreWorkload";
        assert!(plan(old).is_ok());
        assert!(refused("run basic -p recordcount=5 -p dotransactions=false").contains("contradict"));
    }
}
