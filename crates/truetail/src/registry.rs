//! Everything that is picked by name: targets and workloads. To add one: a line in a table here.

use crate::chosen::AnyWorkload;
use crate::settings::ClientNumber;
use anyhow::{anyhow, bail};
use driver::{Target, TargetUrl};
#[cfg(feature = "cql")]
use driver_cql::CqlTarget;
#[cfg(feature = "duckdb")]
use driver_duckdb::DuckDbTarget;
use driver_echo::EchoTarget;
#[cfg(feature = "mongodb")]
use driver_mongodb::MongoTarget;
use driver_mysql::MySqlTarget;
use driver_null::NullTarget;
use driver_postgres::PostgresTarget;
use driver_redis::RedisTarget;
use driver_sqlite::SqliteTarget;
use driver_ycsb::YcsbTarget;
use prove::invocations::Protocol;
use std::path::Path;
use workload::Workload;
use workload::epinions::Epinions;
use workload::names::nearest;
use workload::noop::NoOp;
use workload::seats::Seats;
use workload::smallbank::{SmallBank, SmallBankConfig};
use workload::tatp::{Tatp, TatpConfig};
use workload::tpcc::{Tpcc, TpccConfig};
use workload::ycsb::Ycsb;
use workload_file::FileWorkload;

mod flags;
mod supported;

pub(crate) use flags::shell_word;
pub(crate) use supported::{require_understood, statements};

/// What to do with a target and a workload once their types are known.
pub(crate) trait Action {
    type Output;
    fn with<T: Target, W: Workload>(self, target: &T, workload: W) -> anyhow::Result<Self::Output>;
}

/// One kind of target.
pub(crate) struct TargetEntry {
    /// URL schemes.
    pub(crate) schemes: &'static [&'static str],
    /// One line for `--help`.
    pub(crate) summary: &'static str,
    /// Whether its URL names a file that is opened in this process, and whose sessions block: `run` makes one in its
    /// recording where none is named.
    pub(crate) file: bool,
    /// Whether it has key-value operations instead of SQL.
    pub(crate) key_value: bool,
    /// The protocol, of those that the simulated store speaks; `None` in process, for MariaDB's and MySQL's, which it
    /// does not speak, for a binding of YCSB's, and for `echo:`, whose server is not a store: what its driver does unasked is tested with it. `prove --driver-traps` runs every driver that has one.
    pub(crate) speaks: Option<Protocol>,
    open: fn(&TargetUrl) -> anyhow::Result<AnyTarget>,
}

/// One family of workloads.
pub(crate) struct WorkloadEntry {
    /// Names in `--workload`.
    pub(crate) names: &'static [&'static str],
    /// One line for `--help`.
    pub(crate) summary: &'static str,
    /// Whether its SQL is so plain that `truetail store` understands it.
    is_plain: bool,
    make: fn(&WorkloadChoice) -> Result<AnyWorkload, String>,
}

/// What is known of the wanted workload.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct WorkloadChoice {
    pub(crate) name: String,
    pub(crate) scale: f64,
    pub(crate) seed: units::Seed,
    pub(crate) parameters: Vec<(String, String)>,
    /// Weights of `--mix` by operation, for workloads whose data set's growth depends on them.
    pub(crate) mix: Option<Vec<(String, f64)>>,
    /// Which load machine this is, for workloads whose clients must not ask the same.
    pub(crate) client: ClientNumber,
}

/// Makes the enum, and the steps to it from the concrete types.
macro_rules! any {
    ($any:ident, $($(#[$note:meta])* $variant:ident($type:ty)),+) => {
        pub(crate) enum $any { $($(#[$note])* $variant($type)),+ }
        $($(#[$note])* impl From<$type> for $any { fn from(value: $type) -> $any { $any::$variant(value) } })+
    };
}

any!(
    AnyTarget,
    Null(NullTarget),
    Echo(EchoTarget),
    Sqlite(SqliteTarget),
    Postgres(PostgresTarget),
    MySql(MySqlTarget),
    Redis(RedisTarget),
    Ycsb(YcsbTarget),
    #[cfg(feature = "duckdb")]
    DuckDb(DuckDbTarget),
    #[cfg(feature = "cql")]
    Cql(CqlTarget),
    #[cfg(feature = "mongodb")]
    Mongo(MongoTarget)
);

/// The targets. The greppable table.
pub(crate) const TARGETS: &[TargetEntry] = &[
    TargetEntry {
        schemes: &["sqlite"],
        summary: "sqlite: (a file in the recording's directory) or sqlite:PATH; embedded, WAL, synchronous=normal",
        file: true,
        key_value: false,
        speaks: None,
        open: |url| Ok(SqliteTarget::from_url(url)?.into()),
    },
    #[cfg(feature = "duckdb")]
    TargetEntry {
        schemes: &["duckdb"],
        summary: "duckdb: (a file in the recording's directory) or duckdb:PATH; embedded, one thread per session",
        file: true,
        key_value: false,
        speaks: None,
        open: |url| Ok(DuckDbTarget::from_url(url)?.into()),
    },
    TargetEntry {
        schemes: &["postgres", "postgresql"],
        summary: "postgres://USER@HOST:PORT/DB or postgres:///DB?host=/socket/dir; native, SCRAM, TLS by ?sslmode=",
        file: false,
        key_value: false,
        speaks: Some(Protocol::Postgres),
        open: |url| Ok(PostgresTarget::from_url(url)?.into()),
    },
    TargetEntry {
        schemes: &["mysql", "mariadb"],
        summary: "mysql://USER@HOST:PORT/DB or mysql:///DB?socket=PATH; MariaDB, MySQL; native, TLS by ?sslmode=",
        file: false,
        key_value: false,
        speaks: None,
        open: |url| Ok(MySqlTarget::from_url(url)?.into()),
    },
    TargetEntry {
        schemes: &["redis"],
        summary: "redis://HOST:PORT/DB or redis:///?socket=PATH; Redis, Valkey, `truetail store`; native; ycsb…, noop",
        file: false,
        key_value: true,
        speaks: Some(Protocol::Resp),
        open: |url| Ok(RedisTarget::from_url(url)?.into()),
    },
    #[cfg(feature = "cql")]
    TargetEntry {
        schemes: &["cql"],
        summary: "cql://HOST,HOST:PORT/KEYSPACE?consistency=quorum; Cassandra, Scylla; native; ycsb…, noop",
        file: false,
        key_value: true,
        speaks: None,
        open: |url| Ok(CqlTarget::from_url(url)?.into()),
    },
    #[cfg(feature = "mongodb")]
    TargetEntry {
        schemes: &["mongodb"],
        summary: "mongodb://HOST:PORT/DB or mongodb:///DB?socket=PATH; MongoDB, FerretDB; native; ycsb…, noop",
        file: false,
        key_value: true,
        speaks: None,
        open: |url| Ok(MongoTarget::from_url(url)?.into()),
    },
    TargetEntry {
        schemes: &["ycsb-db"],
        summary: "ycsb-db:CLASS?jar=JARS&p.NAME=VALUE: any binding of YCSB, in a helper JVM (docs/ycsb-db.md)",
        file: false,
        key_value: true,
        speaks: None,
        open: |url| Ok(YcsbTarget::from_url(url)?.into()),
    },
    TargetEntry {
        schemes: &["echo"],
        summary: "echo://HOST:PORT?request=BYTES&answer=BYTES: `truetail echo` there; native: harness and kernel",
        file: false,
        key_value: false,
        speaks: None,
        open: |url| Ok(EchoTarget::from_url(url)?.into()),
    },
    TargetEntry {
        schemes: &["null"],
        summary: "null: answers at once, in process: the harness alone",
        file: false,
        key_value: false,
        speaks: None,
        open: |url| Ok(NullTarget::from_url(url)?.into()),
    },
];

/// Drivers that are built in when a feature asks for them: (scheme, feature).
pub(crate) const OPTIONAL: &[(&str, &str)] = &[("duckdb", "duckdb"), ("cql", "cql"), ("mongodb", "mongodb")];

/// The workloads. The greppable table.
pub(crate) const WORKLOADS: &[WorkloadEntry] = &[
    WorkloadEntry {
        names: &["ycsb", "ycsb-a", "ycsb-b", "ycsb-c", "ycsb-d", "ycsb-e", "ycsb-f", "ycsb-core"],
        summary: "ycsb: BenchBase's mix, stable; ycsb-a … ycsb-f: YCSB's; ycsb-core: by its properties (docs/ycsb.md)",
        is_plain: true,
        make: |choice| {
            let (scale, seed) = (choice.scale, choice.seed);
            let mut config =
                workload::ycsb::YcsbConfig::from_name(&choice.name, scale, seed, &choice.parameters)?;
            if let Some(mix) = &choice.mix {
                let names: Vec<String> =
                    config.family.operation_names().iter().map(|n| n.to_string()).collect();
                config.weights = load::mix_weights(mix, &names).map_err(|e| e.to_string())?;
            }
            config.client = (choice.client.number, choice.client.of.unwrap_or(1));
            Ok(Ycsb::new(config)?.into())
        },
    },
    WorkloadEntry {
        names: &["epinions"],
        summary: "epinions: reviews and trust, BenchBase's nine transactions; -p pairs=existing|random",
        is_plain: false,
        make: |choice| {
            let (scale, seed) = (choice.scale, choice.seed);
            let mut config = workload::epinions::EpinionsConfig::new(scale, seed, &choice.parameters)?;
            config.client = (choice.client.number, choice.client.of.unwrap_or(1));
            Ok(Epinions::new(config).into())
        },
    },
    WorkloadEntry {
        names: &["seats"],
        summary: "seats: flights searched, seats reserved, changed and cancelled; BenchBase's six transactions",
        is_plain: false,
        make: |choice| {
            let (scale, seed) = (choice.scale, choice.seed);
            let mut config = workload::seats::SeatsConfig::new(scale, seed, &choice.parameters)?;
            config.client = (choice.client.number, choice.client.of.unwrap_or(1));
            Ok(Seats::new(config)?.into())
        },
    },
    WorkloadEntry {
        names: &["smallbank"],
        summary: "smallbank: money between accounts, H-Store's six transactions; -p hotspot=100,90%",
        is_plain: false,
        make: |choice| {
            let mut config = SmallBankConfig::new(choice.scale, choice.seed, &choice.parameters)?;
            config.client = (choice.client.number, client_count(choice));
            Ok(SmallBank::new(config).into())
        },
    },
    WorkloadEntry {
        names: &["tatp"],
        summary: "tatp: a telephone network's subscribers, seven transactions by the specification; -p keys=uniform",
        is_plain: false,
        make: |choice| {
            let mut config = TatpConfig::new(choice.scale, choice.seed, &choice.parameters)?;
            config.client = (choice.client.number, client_count(choice));
            let mut tatp = Tatp::new(config);
            if let Some(mix) = &choice.mix {
                let names: Vec<String> = tatp.operations().iter().map(|o| o.name.to_owned()).collect();
                tatp.set_weights(&load::mix_weights(mix, &names).map_err(|e| e.to_string())?);
            }
            Ok(tatp.into())
        },
    },
    WorkloadEntry {
        names: &["noop"],
        summary: "noop: the cheapest request; -p mode=ping|empty|select1|empty+commit",
        is_plain: true,
        make: |choice| Ok(NoOp::from_overrides(&choice.parameters)?.into()),
    },
    WorkloadEntry {
        names: &["tpcc"],
        summary: "tpcc: TPC-C by its specification, --scale warehouses; see docs/tpcc.md",
        is_plain: false,
        make: |choice| {
            let mut config = TpccConfig::new(choice.scale, choice.seed, &choice.parameters)?;
            if let Some(mix) = &choice.mix {
                let names = workload::tpcc::OPERATIONS.map(str::to_owned);
                let weights = load::mix_weights(mix, &names).map_err(|e| e.to_string())?;
                config.weights = weights.try_into().ok();
            }
            config.client = choice.client.number;
            Ok(Tpcc::new(config).into())
        },
    },
];

/// How many load machines there are: one that is not the first is not alone.
fn client_count(choice: &WorkloadChoice) -> u16 {
    choice.client.of.unwrap_or(choice.client.number.saturating_add(1))
}

/// Opens the target of a URL.
pub(crate) fn open_target(url: &TargetUrl) -> anyhow::Result<AnyTarget> {
    (driver_of(url)?.open)(url)
}

/// The line of the table that a URL asks for; nothing is opened.
pub(crate) fn driver_of(url: &TargetUrl) -> anyhow::Result<&'static TargetEntry> {
    TARGETS.iter().find(|t| t.schemes.contains(&url.scheme.as_str())).ok_or_else(|| {
        if let Some((scheme, feature)) = OPTIONAL.iter().find(|(scheme, _)| *scheme == url.scheme) {
            return anyhow!(
                "target `{url}`: this truetail was built without the driver for `{scheme}:`; `cargo install \
                 --path crates/truetail --features {feature}` brings it"
            );
        }
        let schemes = TARGETS.iter().flat_map(|t| t.schemes).chain(OPTIONAL.iter().map(|(scheme, _)| scheme));
        let schemes: Vec<&str> = schemes.copied().collect();
        let near = nearest(&url.scheme, &schemes);
        let near = near.map_or("; there".to_owned(), |near| format!("; did you mean `{near}:`? There"));
        let known: Vec<String> = TARGETS.iter().map(|t| format!("{}:", t.schemes[0])).collect();
        anyhow!("target `{url}`: no driver for `{}:`{near} are {}", url.scheme, known.join(", "))
    })
}

/// One line for `--help`: what is no name of a workload here.
pub(crate) const FILE_SUMMARY: &str =
    "FILE.toml: a workload of your own: SQL, generators, data, checks (docs/custom-workloads.md)";

/// Whether a workload's name is that of a file.
fn is_file(name: &str) -> bool {
    name.ends_with(".toml") || name.contains(std::path::MAIN_SEPARATOR)
}

/// Reads a workload out of a file.
fn read_workload(choice: &WorkloadChoice) -> Result<AnyWorkload, String> {
    let file = workload_file::Choice {
        scale: choice.scale,
        seed: choice.seed,
        parameters: choice.parameters.clone(),
        client: (choice.client.number, choice.client.of.unwrap_or(1)),
    };
    let workload = FileWorkload::open(Path::new(&choice.name), &file)?;
    let name = workload.facts().name;
    if WORKLOADS.iter().any(|entry| entry.names.contains(&name.as_str())) {
        return Err(format!(
            "a file's workload can't be called `{name}`, as one of truetail's own; change its `name`"
        ));
    }
    Ok(workload.into())
}

/// Makes the workload of a name.
pub(crate) fn make_workload(choice: &WorkloadChoice) -> anyhow::Result<AnyWorkload> {
    if is_file(&choice.name) {
        return read_workload(choice).map_err(|e| anyhow!("--workload {}: {e}", choice.name));
    }
    let entry = WORKLOADS.iter().find(|w| w.names.contains(&choice.name.as_str()));
    let Some(entry) = entry else {
        let known: Vec<&str> = WORKLOADS.iter().flat_map(|w| w.names).copied().collect();
        let near = nearest(&choice.name, &known);
        let near = near.map_or("; there".to_owned(), |near| format!("; did you mean `{near}`? There"));
        bail!(
            "--workload {}: there is none of that name{near} are {}, and files such as `./mine.toml`",
            choice.name,
            known.join(", ")
        );
    };
    (entry.make)(choice).map_err(|reason| {
        // A workload's reasons begin with its name or its family's, which stands before them already.
        let plain = [choice.name.as_str(), entry.names[0]]
            .iter()
            .find_map(|name| reason.strip_prefix(&format!("{name}: ")))
            .unwrap_or(&reason);
        anyhow!("--workload {}: {plain}", choice.name)
    })
}

/// Carries an action out with the concrete types.
pub(crate) fn with<A: Action>(
    target: &AnyTarget,
    workload: AnyWorkload,
    action: A,
) -> anyhow::Result<A::Output> {
    match target {
        AnyTarget::Null(target) => action.with(target, workload),
        AnyTarget::Echo(target) => action.with(target, workload),
        AnyTarget::Sqlite(target) => action.with(target, workload),
        AnyTarget::Postgres(target) => action.with(target, workload),
        AnyTarget::MySql(target) => action.with(target, workload),
        AnyTarget::Redis(target) => action.with(target, workload),
        AnyTarget::Ycsb(target) => action.with(target, workload),
        #[cfg(feature = "duckdb")]
        AnyTarget::DuckDb(target) => action.with(target, workload),
        #[cfg(feature = "cql")]
        AnyTarget::Cql(target) => action.with(target, workload),
        #[cfg(feature = "mongodb")]
        AnyTarget::Mongo(target) => action.with(target, workload),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_explained() {
        let mut seen = Vec::new();
        let targets = TARGETS.iter().flat_map(|t| t.schemes.iter().map(move |s| (*s, t.summary)));
        let workloads = WORKLOADS.iter().flat_map(|w| w.names.iter().map(move |n| (*n, w.summary)));
        for (name, summary) in targets.chain(workloads) {
            assert!(!seen.contains(&name), "{name} is there twice");
            assert!(!summary.is_empty() && summary.len() <= 110, "{name}: {summary}");
            seen.push(name);
        }
    }

    /// And whoever asks for one that is not built in is told how to get it.
    #[test]
    fn optional_drivers_are_there_when_their_feature_is() {
        for (scheme, feature) in OPTIONAL {
            let url = TargetUrl::parse(&format!("{scheme}:x")).expect("a URL");
            let built_in = [
                cfg!(feature = "duckdb").then_some("duckdb"),
                cfg!(feature = "cql").then_some("cql"),
                cfg!(feature = "mongodb").then_some("mongodb"),
            ];
            match driver_of(&url) {
                Ok(_) => {
                    assert!(built_in.contains(&Some(*feature)), "{feature} is not on, and there is {scheme}:")
                }
                Err(error) => {
                    assert!(!built_in.contains(&Some(*feature)), "{feature} is on: {error}");
                    assert!(
                        error.to_string().contains(&format!("--features {feature}` brings it")),
                        "{error}"
                    );
                }
            }
        }
    }

    #[test]
    fn every_workload_makes_what_its_name_says() {
        for name in WORKLOADS.iter().flat_map(|w| w.names) {
            let choice = WorkloadChoice {
                name: (*name).to_owned(),
                scale: 1.0,
                seed: units::Seed(1),
                parameters: vec![],
                mix: None,
                client: ClientNumber::default(),
            };
            let facts = make_workload(&choice).expect(name).facts();
            assert_eq!(facts.name, *name);
        }
    }

    /// What TPC-C asks of a run is stated as facts that the analysis reads.
    #[test]
    fn the_rules_of_tpcc_are_understood() {
        let choice = WorkloadChoice {
            name: "tpcc".to_owned(),
            scale: 2.0,
            seed: units::Seed(1),
            parameters: vec![],
            mix: Some(vec![("NewOrder".to_owned(), 100.0)]),
            client: ClientNumber::default(),
        };
        let workload = make_workload(&choice).expect("tpcc");
        let weights: Vec<f64> = workload.operations().iter().map(|operation| operation.weight).collect();
        assert_eq!(weights, [100.0, 0.0, 0.0, 0.0, 0.0]);
        let names: Vec<String> = workload.facts().parameters.into_iter().map(|(name, _)| name).collect();
        for name in
            ["rate tpmC", "ceiling of tpmC with terminals", "limit p90 StockLevel", "least share Payment"]
        {
            assert!(names.iter().any(|found| found == name), "{name} is not in {names:?}");
        }
    }
}
