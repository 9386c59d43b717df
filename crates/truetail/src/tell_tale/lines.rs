//! Command lines: the same load for truetail and for YCSB's client.
//!
//! YCSB's workload is the paper's mix of BenchBase as far as both can make it and count it alike. CoreWorkload has no delete,
//! and it counts a read-modify-write three times (its read, its update, and both); so the weights of Delete and
//! ReadModifyWrite go to Update. Keys are drawn uniformly: CoreWorkload widens the range of its Zipf draws by the inserts that
//! it expects of a number of operations, and here time ends a run.

use super::database::Server;
use super::jvm::Jvm;
use super::matrix::{Row, Workload};
use super::preset::{Length, SESSIONS, Size};
use driver::TargetUrl;
use std::path::Path;

/// Operations that no run gets to: time ends it.
const NO_END: u32 = 2_000_000_000;

/// What a run is made for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run<'a> {
    pub(super) row: Row,
    pub(super) size: &'a Size,
    pub(super) length: Length,
    /// Of an open loop, 1/s; a closed one has none.
    pub(super) rate: Option<u64>,
    /// The database to ask; none is the store that does nothing.
    pub(super) url: Option<&'a TargetUrl>,
    /// Where the harness writes.
    pub(super) place: &'a Path,
}

/// truetail's flags of a workload's tables, as they are loaded.
pub(super) fn tables(workload: Workload, size: &Size) -> Vec<String> {
    let (name, scale) =
        if workload == Workload::TpcC { ("tpcc", size.warehouses) } else { ("ycsb-a", size.scale) };
    vec!["-w".to_owned(), name.to_owned(), "--scale".to_owned(), scale.to_string()]
}

fn to_words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// The arguments of `truetail`; the URL is without its password.
pub(super) fn truetail(run: &Run<'_>, recording: &Path) -> Vec<String> {
    let target = run.url.map_or_else(|| "null:".to_owned(), ToString::to_string);
    let mut words = to_words(&["run", &target]);
    match run.row.workload {
        Workload::Ycsb => {
            words.extend(tables(run.row.workload, run.size));
            words.extend(to_words(&[
                "--mix",
                "READ=50,INSERT=5,SCAN=15,UPDATE=30",
                "-p",
                "requestdistribution=uniform",
            ]));
            words.extend(["-p".to_owned(), format!("maxscanlength={}", run.size.longest_scan)]);
        }
        Workload::TpcC => {
            words.extend(tables(run.row.workload, run.size));
            words.extend(["--mix".to_owned(), tpcc_mix()]);
            // The paper's harness tries again what the database undid, inside of its latency.
            words.extend(to_words(&["--retry", "3"]));
        }
        Workload::NoOp => words.extend(to_words(&["-w", "noop", "-p", "mode=empty"])),
    }
    match run.rate {
        Some(rate) => words.extend([
            "-r".to_owned(),
            format!("{rate}/s"),
            "--arrivals".to_owned(),
            "constant".to_owned(),
        ]),
        None => words.push("--closed".to_owned()),
    }
    if run.row.target.server().is_some() {
        words.extend(to_words(&["--isolation", "serializable"]));
    }
    let millis = |time: units::Nanos| format!("{}ms", time.0 / 1_000_000);
    words.extend(["-c".to_owned(), SESSIONS.to_string(), "-d".to_owned(), millis(run.length.time)]);
    words.extend(["--warmup".to_owned(), millis(run.length.warmup)]);
    words.extend(["--seed".to_owned(), run.size.seed.0.to_string()]);
    words.extend(["--out".to_owned(), recording.display().to_string()]);
    words
}

/// TPC-C's transactions and their weights in the paper.
pub(super) const TPCC: [(&str, u32); 5] =
    [("NewOrder", 45), ("Payment", 43), ("OrderStatus", 4), ("Delivery", 4), ("StockLevel", 4)];

fn tpcc_mix() -> String {
    TPCC.map(|(name, weight)| format!("{name}={weight}")).join(",")
}

/// How YCSB measures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Measured {
    /// Every request, into this file of the run's directory.
    Raw,
    /// Its own histogram, for a probe.
    Histogram,
}

/// YCSB's rows.
pub(super) const RAW: &str = "raw.csv";

/// YCSB's client, behind the words of its JVM.
pub(super) fn ycsb(
    run: &Run<'_>,
    mut words: Vec<String>,
    class_path: &str,
    measured: Measured,
) -> Vec<String> {
    words.extend(to_words(&["-cp", class_path, "site.ycsb.Client", "-t", "-db"]));
    words.push(
        if run.url.is_some() { "truetail.ycsb.PostgresClient" } else { "site.ycsb.BasicDB" }.to_owned(),
    );
    words.extend(["-threads".to_owned(), SESSIONS.to_string()]);
    // Zero is none, and says so: of a line with a property file nobody could tell else.
    words.extend(["-target".to_owned(), run.rate.unwrap_or(0).to_string()]);
    let properties = workload(run).into_iter().chain(store(run)).chain(measurement(run, measured));
    words.extend(properties.flat_map(|(name, value)| ["-p".to_owned(), format!("{name}={value}")]));
    words
}

type Properties = Vec<(&'static str, String)>;

fn workload(run: &Run<'_>) -> Properties {
    let shares = match run.row.workload {
        Workload::Ycsb => [0.5, 0.05, 0.15, 0.3],
        // All of them are the same; reads make nothing before they are sent.
        _ => [1.0, 0.0, 0.0, 0.0],
    };
    let [read, insert, scan, update] = shares.map(|share| share.to_string());
    vec![
        ("workload", "site.ycsb.workloads.CoreWorkload".to_owned()),
        ("recordcount", run.size.records().to_string()),
        ("operationcount", NO_END.to_string()),
        ("maxexecutiontime", run.length.whole_seconds().to_string()),
        ("readproportion", read),
        ("insertproportion", insert),
        ("scanproportion", scan),
        ("updateproportion", update),
        ("maxscanlength", run.size.longest_scan.to_string()),
        ("requestdistribution", "uniform".to_owned()),
    ]
}

fn store(run: &Run<'_>) -> Properties {
    let Some(url) = run.url else {
        // Simulated work and a line for each operation would be another store.
        return vec![("basicdb.simulatedelay", "0".to_owned()), ("basicdb.verbose", "false".to_owned())];
    };
    let mut properties = vec![("postgres.url", jdbc(url)), ("postgres.user", url.user.clone())];
    if run.row.workload == Workload::NoOp {
        properties.push(("truetail.noop", "true".to_owned()));
    }
    properties
}

fn measurement(run: &Run<'_>, measured: Measured) -> Properties {
    // Without a schedule both series would be the same, and keep twice as many objects.
    let interval = if run.rate.is_some() { "both" } else { "op" };
    match measured {
        Measured::Histogram => Vec::new(),
        Measured::Raw => vec![
            ("measurementtype", "raw".to_owned()),
            ("measurement.raw.output_file", run.place.join(RAW).display().to_string()),
            ("measurement.raw.no_summary", "true".to_owned()),
            ("measurement.interval", interval.to_owned()),
        ],
    }
}

/// The URL as Java's driver takes it, without user and password; transactions as the paper's.
pub(super) fn jdbc(url: &TargetUrl) -> String {
    let host = if url.host.contains(':') { format!("[{}]", url.host) } else { url.host.clone() };
    let mode = url.option("sslmode").unwrap_or("disable");
    if Server::of(url) == Server::MariaDb {
        // Its names for the modes; what only asks for encryption trusts every certificate.
        let ssl = match mode {
            "disable" | "verify-ca" | "verify-full" => mode,
            _ => "trust",
        };
        return format!("jdbc:mariadb://{host}:{}/{}?sslMode={ssl}", url.port.unwrap_or(3306), url.path);
    }
    let port = url.port.unwrap_or(5432);
    let isolation = "-c%20default_transaction_isolation%3Dserializable";
    format!("jdbc:postgresql://{host}:{port}/{}?sslmode={mode}&options={isolation}", url.path)
}

/// How long a run takes with all that is around its load, as far as that can be said beforehand; seconds. Rates are of two
/// cores: the rows of a raw measurement are written one by one when the load has ended.
pub(super) fn expected_seconds(run: &Run<'_>, jvm: Option<&Jvm>, available_mib: u64) -> f64 {
    let load = run.length.whole().0 as f64 / 1e9;
    let per_second = match (run.rate, run.row.target.server(), run.row.workload) {
        (Some(rate), ..) => rate as f64,
        (None, Some(_), Workload::TpcC) => 500.0,
        (None, Some(_), _) => 10_000.0,
        (None, None, _) => 600_000.0,
    };
    let copying = expected_copying(run.row, run.size);
    let Some(jvm) = jvm else { return 2.0 + load + copying + per_second * load * 2e-6 };
    let series = if run.rate.is_some() { 2.0 } else { 1.0 };
    let touching = jvm.touched_mib(run.size, available_mib) as f64 / 1024.0 * 1.5;
    1.5 + run.length.whole_seconds() as f64 + copying + touching + per_second * load * series * 8e-6
}

/// How long the data of a run takes: a copy of a template, or what is loaded anew; seconds.
fn expected_copying(row: Row, size: &Size) -> f64 {
    match (row.target.server(), row.workload) {
        (None, _) | (_, Workload::NoOp) => 0.0,
        (Some(Server::PostgreSql), Workload::Ycsb) => 0.5 + f64::from(size.scale) / 120.0,
        (Some(Server::PostgreSql), Workload::TpcC) => 0.5 + f64::from(size.warehouses) / 2.0,
        (Some(Server::MariaDb), workload) => 1.0 + expected_loading(workload, size),
    }
}

/// How long a workload's tables take to be loaded, seconds.
pub(super) fn expected_loading(workload: Workload, size: &Size) -> f64 {
    match workload {
        Workload::NoOp => 0.0,
        Workload::Ycsb => f64::from(size.scale) / 10.0,
        Workload::TpcC => f64::from(size.warehouses) * 8.0,
    }
}

/// A time for people.
pub(super) fn shown_seconds(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5_400.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3_600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tell_tale::arguments::TellTaleArguments;
    use crate::tell_tale::jvm::made;
    use crate::tell_tale::matrix::Target;

    fn lines(row: Row, url: Option<&str>, rate: Option<u64>) -> String {
        let size = Size::of(&TellTaleArguments::default()).expect("a size").of_row(row);
        let url = url.map(|text| TargetUrl::parse(text).expect("a URL"));
        let place = Path::new("/d/cell/round-1");
        let run = Run { row, size: &size, length: size.length, rate, url: url.as_ref(), place };
        let own = truetail(&run, &place.join("recording"));
        let jvm = made("G1", "-XX:+UseG1GC").words(&size, 100_000, Some(&place.join("gc.log")));
        let tool = ycsb(&run, jvm, "/y/y.jar:/y/lib/*", Measured::Raw);
        format!("truetail {}\n{}", own.join(" "), tool.join(" "))
    }

    const NOTHING: Row = Row { workload: Workload::NoOp, target: Target::Nothing, is_open: false };

    #[test]
    fn both_make_the_same_load() {
        insta::assert_snapshot!(lines(NOTHING, None, None), @r#"
        truetail run null: -w noop -p mode=empty --closed -c 10 -d 1500ms --warmup 500ms --seed 1 --out /d/cell/round-1/recording
        /jdk/bin/java -XX:+UseG1GC -Xmx256m -XX:+ExitOnOutOfMemoryError -Xlog:safepoint*,gc*:file=/d/cell/round-1/gc.log:utctime,timenanos,uptimenanos,level,tags:filecount=0 -cp /y/y.jar:/y/lib/* site.ycsb.Client -t -db site.ycsb.BasicDB -threads 10 -target 0 -p workload=site.ycsb.workloads.CoreWorkload -p recordcount=10000 -p operationcount=2000000000 -p maxexecutiontime=2 -p readproportion=1 -p insertproportion=0 -p scanproportion=0 -p updateproportion=0 -p maxscanlength=100 -p requestdistribution=uniform -p basicdb.simulatedelay=0 -p basicdb.verbose=false -p measurementtype=raw -p measurement.raw.output_file=/d/cell/round-1/raw.csv -p measurement.raw.no_summary=true -p measurement.interval=op
        "#);
        let ycsb = Row { workload: Workload::Ycsb, is_open: true, ..NOTHING };
        insta::assert_snapshot!(lines(ycsb, None, Some(20_000)), @r#"
        truetail run null: -w ycsb-a --scale 10 --mix READ=50,INSERT=5,SCAN=15,UPDATE=30 -p requestdistribution=uniform -p maxscanlength=100 -r 20000/s --arrivals constant -c 10 -d 2500ms --warmup 2500ms --seed 1 --out /d/cell/round-1/recording
        /jdk/bin/java -XX:+UseG1GC -Xmx256m -XX:+ExitOnOutOfMemoryError -Xlog:safepoint*,gc*:file=/d/cell/round-1/gc.log:utctime,timenanos,uptimenanos,level,tags:filecount=0 -cp /y/y.jar:/y/lib/* site.ycsb.Client -t -db site.ycsb.BasicDB -threads 10 -target 20000 -p workload=site.ycsb.workloads.CoreWorkload -p recordcount=10000 -p operationcount=2000000000 -p maxexecutiontime=5 -p readproportion=0.5 -p insertproportion=0.05 -p scanproportion=0.15 -p updateproportion=0.3 -p maxscanlength=100 -p requestdistribution=uniform -p basicdb.simulatedelay=0 -p basicdb.verbose=false -p measurementtype=raw -p measurement.raw.output_file=/d/cell/round-1/raw.csv -p measurement.raw.no_summary=true -p measurement.interval=both
        "#);
        let server = Row { target: Target::PostgreSql, ..NOTHING };
        let url = "postgres://app:hidden@db1:5433/test";
        insta::assert_snapshot!(lines(server, Some(url), None), @r#"
        truetail run postgres://app@db1:5433/test -w noop -p mode=empty --closed --isolation serializable -c 10 -d 2500ms --warmup 2500ms --seed 1 --out /d/cell/round-1/recording
        /jdk/bin/java -XX:+UseG1GC -Xmx256m -XX:+ExitOnOutOfMemoryError -Xlog:safepoint*,gc*:file=/d/cell/round-1/gc.log:utctime,timenanos,uptimenanos,level,tags:filecount=0 -cp /y/y.jar:/y/lib/* site.ycsb.Client -t -db truetail.ycsb.PostgresClient -threads 10 -target 0 -p workload=site.ycsb.workloads.CoreWorkload -p recordcount=10000 -p operationcount=2000000000 -p maxexecutiontime=5 -p readproportion=1 -p insertproportion=0 -p scanproportion=0 -p updateproportion=0 -p maxscanlength=100 -p requestdistribution=uniform -p postgres.url=jdbc:postgresql://db1:5433/test?sslmode=disable&options=-c%20default_transaction_isolation%3Dserializable -p postgres.user=app -p truetail.noop=true -p measurementtype=raw -p measurement.raw.output_file=/d/cell/round-1/raw.csv -p measurement.raw.no_summary=true -p measurement.interval=op
        "#);
        let both = Row { target: Target::PostgreSql, ..ycsb };
        insta::assert_snapshot!(lines(both, Some(url), Some(500)), @r#"
        truetail run postgres://app@db1:5433/test -w ycsb-a --scale 10 --mix READ=50,INSERT=5,SCAN=15,UPDATE=30 -p requestdistribution=uniform -p maxscanlength=100 -r 500/s --arrivals constant --isolation serializable -c 10 -d 2500ms --warmup 2500ms --seed 1 --out /d/cell/round-1/recording
        /jdk/bin/java -XX:+UseG1GC -Xmx256m -XX:+ExitOnOutOfMemoryError -Xlog:safepoint*,gc*:file=/d/cell/round-1/gc.log:utctime,timenanos,uptimenanos,level,tags:filecount=0 -cp /y/y.jar:/y/lib/* site.ycsb.Client -t -db truetail.ycsb.PostgresClient -threads 10 -target 500 -p workload=site.ycsb.workloads.CoreWorkload -p recordcount=10000 -p operationcount=2000000000 -p maxexecutiontime=5 -p readproportion=0.5 -p insertproportion=0.05 -p scanproportion=0.15 -p updateproportion=0.3 -p maxscanlength=100 -p requestdistribution=uniform -p postgres.url=jdbc:postgresql://db1:5433/test?sslmode=disable&options=-c%20default_transaction_isolation%3Dserializable -p postgres.user=app -p measurementtype=raw -p measurement.raw.output_file=/d/cell/round-1/raw.csv -p measurement.raw.no_summary=true -p measurement.interval=both
        "#);
    }

    #[test]
    fn tpc_c_is_the_papers_on_either_server() {
        let row = Row { workload: Workload::TpcC, target: Target::MariaDb, is_open: false };
        let all = lines(row, Some("mysql://app:hidden@db1/test"), None);
        assert_eq!(
            all.lines().next(),
            Some(
                "truetail run mysql://app@db1/test -w tpcc --scale 1 --mix \
                 NewOrder=45,Payment=43,OrderStatus=4,Delivery=4,StockLevel=4 --retry 3 --closed --isolation serializable -c 10 -d \
                 2500ms --warmup 2500ms --seed 1 --out /d/cell/round-1/recording"
            )
        );
        let url = TargetUrl::parse("mysql://app@db1/test").expect("a URL");
        assert_eq!(jdbc(&url), "jdbc:mariadb://db1:3306/test?sslMode=disable");
    }

    #[test]
    fn no_password_is_on_a_command_line() {
        let server = Row { target: Target::PostgreSql, ..NOTHING };
        assert!(!lines(server, Some("postgres://app:hidden@db1/test"), None).contains("hidden"));
    }

    #[test]
    fn what_is_expected_is_more_than_the_load_and_grows_with_it() {
        let size = Size::of(&TellTaleArguments::default()).expect("a size");
        let seconds = |rate, jvm: Option<&Jvm>| {
            let run = Run {
                row: NOTHING,
                size: &size,
                length: size.length,
                rate,
                url: None,
                place: Path::new("/d"),
            };
            expected_seconds(&run, jvm, 100_000)
        };
        let (g1, epsilon) = (made("G1", "-XX:+UseG1GC"), made("E", "-XX:+UseEpsilonGC"));
        assert!(seconds(Some(1_000), None) > 3.0);
        assert!(seconds(Some(1_000), Some(&g1)) < seconds(Some(20_000), Some(&g1)));
        assert!(seconds(Some(1_000), Some(&g1)) + 5.0 < seconds(Some(1_000), Some(&epsilon)));
        assert_eq!([42.4, 600.0, 9_000.0].map(shown_seconds), ["42 s", "10 min", "2.5 h"]);
    }
}
