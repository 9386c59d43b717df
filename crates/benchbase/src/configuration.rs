//! A configuration as a whole.

use crate::element::{Element, document};
use crate::{Benchmark, ConfigurationError, Target, TransactionType, Work, jdbc, transactions, works};
use std::num::NonZeroU32;
use workload::names::suggestion;

/// The database systems that truetail and BenchBase both know.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dbms {
    /// PostgreSQL.
    Postgres,
    /// MySQL.
    MySql,
    /// MariaDB.
    MariaDb,
    /// SQLite.
    Sqlite,
}

impl Dbms {
    const NAMES: [(&str, Dbms); 4] = [
        ("POSTGRES", Dbms::Postgres),
        ("MYSQL", Dbms::MySql),
        ("MARIADB", Dbms::MariaDb),
        ("SQLITE", Dbms::Sqlite),
    ];

    /// BenchBase's name.
    pub fn name(self) -> &'static str {
        let found = Dbms::NAMES.into_iter().find(|(_, dbms)| *dbms == self);
        found.map_or("", |(name, _)| name)
    }
}

/// What a configuration asks for.
#[derive(Clone, PartialEq, Debug)]
pub struct Configuration {
    /// The benchmark that it was read for.
    pub benchmark: &'static Benchmark,
    /// The database system.
    pub dbms: Dbms,
    /// Where it is.
    pub target: Target,
    /// The isolation level by truetail's name.
    pub isolation: &'static str,
    /// `<isolation>` as it stands there, for `summary.json`.
    pub isolation_text: Option<String>,
    /// Size of the data set.
    pub scale: f64,
    /// `<scalefactor>` as it stands there.
    pub scale_text: Option<String>,
    /// Terminals: sessions.
    pub terminals: u32,
    /// Connections that load.
    pub loaders: Option<u16>,
    /// Rows of a loader's batch.
    pub batch_size: Option<u64>,
    /// Start of everything random; `None` where BenchBase takes the clock.
    pub seed: Option<u64>,
    /// How often a transaction is made again after an error that goes by.
    pub retries: u8,
    /// The phases.
    pub works: Vec<Work>,
    /// The transactions.
    pub transactions: Vec<TransactionType>,
    /// Parameters of the workload, from the benchmark's own elements.
    pub parameters: Vec<(&'static str, String)>,
    /// Elements with texts that truetail may not be able to honour.
    pub(crate) others: Vec<(&'static str, String)>,
}

/// Elements that are read here.
const ELEMENTS: [&str; 15] = [
    "type",
    "driver",
    "url",
    "username",
    "password",
    "isolation",
    "batchsize",
    "scalefactor",
    "terminals",
    "loaderThreads",
    "randomSeed",
    "retries",
    "works",
    "transactiontypes",
    "newConnectionPerTxn",
];

/// Elements that are kept as they are, for [`Configuration::require_honoured`].
pub(crate) const OTHERS: [&str; 17] = [
    "driver",
    "newConnectionPerTxn",
    "reconnectOnConnectionFailure",
    "sessionsetupfile",
    "datadir",
    "ddlpath",
    "afterload",
    "selectivity",
    "useStoredProcedures",
    "skewFactor",
    "fieldSize",
    "tracefile",
    "tracefile2",
    "base_ip",
    "query_templates_file",
    "fileFormat",
    "traceOut",
];

fn attributes(name: &str) -> &'static [&'static str] {
    match name {
        "terminals" | "isolation" | "transactiontypes" => &["bench"],
        _ => &[],
    }
}

impl Configuration {
    /// Reads BenchBase's XML for one of its benchmarks.
    ///
    /// # Errors
    /// One line: where, what, and what is valid instead. Passwords are not in it.
    pub fn read(text: &str, benchmark: &'static Benchmark) -> Result<Configuration, ConfigurationError> {
        let document = document(text)?;
        let root = Element::root(&document);
        if root.name() != "parameters" {
            return Err(root.error(format!("it begins with <{}>, not with <parameters>", root.name())));
        }
        let known: Vec<&str> = ELEMENTS.into_iter().chain(OTHERS).collect();
        root.require_known(&known, attributes)?;
        let (isolation, isolation_text) = isolation(root, benchmark)?;
        let terminals = terminals(root, benchmark)?;
        let transactions = transactions::read(root, benchmark)?;
        let dbms = dbms(root)?;
        let scale = root.only("scalefactor")?;
        let (parameters, others) = others(root, benchmark)?;
        Ok(Configuration {
            benchmark,
            dbms,
            target: target(root, dbms)?,
            isolation,
            isolation_text,
            scale: scale.map_or(Ok(1.0), |element| {
                element.value("a number above 0", |text| {
                    text.parse().ok().filter(|scale: &f64| scale.is_finite() && *scale > 0.0)
                })
            })?,
            scale_text: scale.map(Element::text).transpose()?,
            terminals: terminals.get(),
            loaders: number(root, "loaderThreads", 1, 256)?.and_then(|count| u16::try_from(count).ok()),
            batch_size: number(root, "batchsize", 1, 1 << 32)?,
            seed: seed(root)?,
            retries: number(root, "retries", 0, 255)?.and_then(|n| u8::try_from(n).ok()).unwrap_or(3),
            works: works::read(root, benchmark.name, terminals, transactions.len())?,
            transactions,
            parameters,
            others,
        })
    }
}

/// The workload's parameters, and the elements that are kept as they are.
type Kept = (Vec<(&'static str, String)>, Vec<(&'static str, String)>);

fn others(root: Element<'_>, benchmark: &Benchmark) -> Result<Kept, ConfigurationError> {
    let (mut parameters, mut others) = (Vec::new(), Vec::new());
    for name in OTHERS {
        let Some(element) = root.only(name)? else { continue };
        if ["newConnectionPerTxn", "reconnectOnConnectionFailure", "useStoredProcedures"].contains(&name) {
            element.truth()?;
        }
        match benchmark.parameter(name) {
            Some(parameter) => parameters.push((parameter, element.text()?)),
            None => others.push((name, element.text()?)),
        }
    }
    Ok((parameters, others))
}

fn number(root: Element<'_>, name: &str, least: u64, most: u64) -> Result<Option<u64>, ConfigurationError> {
    root.only(name)?.map(|element| element.whole(least, most)).transpose()
}

fn seed(root: Element<'_>) -> Result<Option<u64>, ConfigurationError> {
    let Some(element) = root.only("randomSeed")? else { return Ok(None) };
    let seed = element.value("a whole number of 32 bits", |text| text.parse::<i32>().ok())?;
    // −1 is BenchBase's default and means none; another negative one is a seed like any other.
    Ok((seed != -1).then(|| u64::from(seed.cast_unsigned())))
}

fn terminals(root: Element<'_>, benchmark: &Benchmark) -> Result<NonZeroU32, ConfigurationError> {
    let missing = || ConfigurationError::whole("there is no <terminals>: how many sessions there are");
    let element = root.of_bench("terminals", benchmark.name)?.ok_or_else(missing)?;
    let count = element.whole(1, 65_000)?;
    u32::try_from(count).ok().and_then(NonZeroU32::new).ok_or_else(missing)
}

fn isolation(
    root: Element<'_>,
    benchmark: &Benchmark,
) -> Result<(&'static str, Option<String>), ConfigurationError> {
    const LEVELS: [(&str, &str); 4] = [
        ("TRANSACTION_SERIALIZABLE", "serializable"),
        ("TRANSACTION_REPEATABLE_READ", "repeatable-read"),
        ("TRANSACTION_READ_COMMITTED", "read-committed"),
        ("TRANSACTION_READ_UNCOMMITTED", "read-uncommitted"),
    ];
    let Some(element) = root.of_bench("isolation", benchmark.name)? else {
        return Ok(("serializable", None));
    };
    let text = element.text()?;
    let found = LEVELS.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(&text));
    let Some((_, level)) = found else {
        let hint = suggestion(&text, &LEVELS.map(|(name, _)| name));
        return Err(element.error(format!("<isolation>{text}</isolation>: there is no such level{hint}")));
    };
    Ok((level, Some(text)))
}

fn dbms(root: Element<'_>) -> Result<Dbms, ConfigurationError> {
    let Some(element) = root.only("type")? else {
        return Err(ConfigurationError::whole("there is no <type>: POSTGRES, MYSQL, MARIADB or SQLITE"));
    };
    let text = element.text()?;
    let found = Dbms::NAMES.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(&text));
    found.map(|(_, dbms)| dbms).ok_or_else(|| {
        let hint = suggestion(&text, &Dbms::NAMES.map(|(name, _)| name));
        element.error(format!("<type>{text}</type>: truetail does not drive that database system{hint}"))
    })
}

fn target(root: Element<'_>, dbms: Dbms) -> Result<Target, ConfigurationError> {
    let Some(element) = root.only("url")? else {
        return Err(ConfigurationError::whole(
            "there is no <url>: where the database is, such as jdbc:postgresql://localhost:5432/benchbase",
        ));
    };
    let text = |name: &str| root.only(name)?.map_or(Ok(String::new()), Element::text);
    let (user, password) = (text("username")?, text("password")?);
    jdbc::target(dbms, &element.text()?, &user, &password)
        .map_err(|problem| element.error(format!("<url>: {problem}")))
}
