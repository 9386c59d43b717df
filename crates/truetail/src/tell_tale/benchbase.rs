//! BenchBase: its configuration, and its command line.

use super::database::Server;
use super::lines::{Run, TPCC, jdbc};
use super::matrix::Workload;
use super::preset::SESSIONS;
use super::secret::SecretFile;
use anyhow::Context;
use std::path::{Path, PathBuf};

/// The configuration's file in the run's directory; it may hold a password, and goes when the run has ended.
pub(super) const CONFIGURATION: &str = "benchbase.xml";

/// BenchBase's name of a workload.
fn name(workload: Workload) -> &'static str {
    match workload {
        Workload::NoOp => "noop",
        Workload::Ycsb => "ycsb",
        Workload::TpcC => "tpcc",
    }
}

/// Transactions and their weights: of YCSB the mix of [`super::lines`].
fn transactions(workload: Workload) -> &'static [(&'static str, u32)] {
    match workload {
        Workload::Ycsb => &[
            ("ReadRecord", 50),
            ("InsertRecord", 5),
            ("ScanRecord", 15),
            ("UpdateRecord", 30),
            ("DeleteRecord", 0),
            ("ReadModifyWriteRecord", 0),
        ],
        Workload::TpcC => &TPCC,
        Workload::NoOp => &[("NoOp", 100)],
    }
}

/// The database's type and driver, as BenchBase calls them.
fn system(server: Server) -> (&'static str, &'static str) {
    match server {
        Server::PostgreSql => ("POSTGRES", "org.postgresql.Driver"),
        Server::MariaDb => ("MARIADB", "org.mariadb.jdbc.Driver"),
    }
}

/// The configuration of a closed loop.
fn configuration(run: &Run<'_>, password: Option<&str>) -> String {
    let Some(url) = run.url else { return String::new() };
    let transactions = transactions(run.row.workload);
    let weights: Vec<String> = transactions.iter().map(|(_, weight)| weight.to_string()).collect();
    let types: Vec<String> = transactions
        .iter()
        .map(|(name, _)| format!("    <transactiontype><name>{name}</name></transactiontype>\n"))
        .collect();
    let (kind, driver) = system(Server::of(url));
    let scale = if run.row.workload == Workload::TpcC { run.size.warehouses } else { run.size.scale };
    let seconds = |time: units::Nanos| time.0.div_ceil(1_000_000_000);
    format!(
        "<?xml version=\"1.0\"?>\n<parameters>\n  <type>{kind}</type>\n  <driver>{driver}</driver>\n  \
         <url>{}</url>\n  <username>{}</username>\n  <password>{}</password>\n  \
         <isolation>TRANSACTION_SERIALIZABLE</isolation>\n  <batchsize>128</batchsize>\n  \
         <scalefactor>{scale}</scalefactor>\n  <terminals>{SESSIONS}</terminals>\n  <works>\n    <work>\n      \
         <warmup>{}</warmup>\n      <time>{}</time>\n      <rate>unlimited</rate>\n      <weights>{}</weights>\n    \
         </work>\n  </works>\n  <transactiontypes>\n{}  </transactiontypes>\n</parameters>\n",
        escaped(&jdbc(url)),
        escaped(&url.user),
        escaped(password.unwrap_or("")),
        seconds(run.length.warmup),
        seconds(run.length.time).max(1),
        weights.join(","),
        types.concat(),
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Writes the configuration, for its owner alone.
pub(super) fn write(run: &Run<'_>, password: Option<&str>) -> anyhow::Result<SecretFile> {
    SecretFile::write(run.place.join(CONFIGURATION), &configuration(run, password))
}

/// The words behind those of the JVM. BenchBase makes and loads its own tables.
pub(super) fn words(run: &Run<'_>, mut words: Vec<String>, jar: &Path, configuration: &Path) -> Vec<String> {
    words.extend(["-jar".to_owned(), jar.display().to_string()]);
    words.extend(["-b".to_owned(), name(run.row.workload).to_owned()]);
    words.extend(["-c".to_owned(), configuration.display().to_string()]);
    words.extend(["-d".to_owned(), run.place.display().to_string()]);
    words.extend(["--create=true", "--load=true", "--execute=true"].map(str::to_owned));
    words
}

/// The file of single requests that it wrote.
///
/// # Errors
/// When there is none.
pub(super) fn rows(place: &Path) -> anyhow::Result<PathBuf> {
    let entries = std::fs::read_dir(place).with_context(|| format!("can't read {}", place.display()))?;
    let is_raw =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(".raw.csv"));
    entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(is_raw)
        .with_context(|| format!("BenchBase wrote no .raw.csv to {}", place.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tell_tale::arguments::TellTaleArguments;
    use crate::tell_tale::matrix::{Row, Target};
    use crate::tell_tale::preset::Size;
    use driver::TargetUrl;

    #[test]
    fn the_configuration_is_that_of_the_paper_with_the_mix_of_all() {
        let size =
            Size::of(&TellTaleArguments { preset: Some("paper".to_owned()), ..TellTaleArguments::default() });
        let size = size.expect("a size");
        let url = TargetUrl::parse("postgres://app@db1/test").expect("a URL");
        let row = Row { workload: Workload::Ycsb, target: Target::PostgreSql, is_open: false };
        let place = Path::new("/d/round-1");
        let run = Run { row, size: &size, length: size.length, rate: None, url: Some(&url), place };
        insta::assert_snapshot!(configuration(&run, Some("a&b")), @r#"
        <?xml version="1.0"?>
        <parameters>
          <type>POSTGRES</type>
          <driver>org.postgresql.Driver</driver>
          <url>jdbc:postgresql://db1:5432/test?sslmode=disable&amp;options=-c%20default_transaction_isolation%3Dserializable</url>
          <username>app</username>
          <password>a&amp;b</password>
          <isolation>TRANSACTION_SERIALIZABLE</isolation>
          <batchsize>128</batchsize>
          <scalefactor>1200</scalefactor>
          <terminals>10</terminals>
          <works>
            <work>
              <warmup>10</warmup>
              <time>60</time>
              <rate>unlimited</rate>
              <weights>50,5,15,30,0,0</weights>
            </work>
          </works>
          <transactiontypes>
            <transactiontype><name>ReadRecord</name></transactiontype>
            <transactiontype><name>InsertRecord</name></transactiontype>
            <transactiontype><name>ScanRecord</name></transactiontype>
            <transactiontype><name>UpdateRecord</name></transactiontype>
            <transactiontype><name>DeleteRecord</name></transactiontype>
            <transactiontype><name>ReadModifyWriteRecord</name></transactiontype>
          </transactiontypes>
        </parameters>
        "#);
        let url = TargetUrl::parse("mysql://app@db1/test").expect("a URL");
        let row = Row { workload: Workload::TpcC, target: Target::MariaDb, is_open: false };
        let tpcc = Run { row, url: Some(&url), ..run };
        let text = configuration(&tpcc, None);
        for part in [
            "<type>MARIADB</type>",
            "<driver>org.mariadb.jdbc.Driver</driver>",
            "<url>jdbc:mariadb://db1:3306/test?sslMode=disable</url>",
            "<scalefactor>10</scalefactor>",
            "<weights>45,43,4,4,4</weights>",
            "<transactiontype><name>StockLevel</name></transactiontype>",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(words(&tpcc, Vec::new(), Path::new("/b"), Path::new("/c")).contains(&"tpcc".to_owned()));
        let line = words(&run, vec!["java".to_owned()], Path::new("/b/benchbase.jar"), Path::new("/d/x.xml"));
        insta::assert_snapshot!(line.join(" "), @"java -jar /b/benchbase.jar -b ycsb -c /d/x.xml -d /d/round-1 --create=true --load=true --execute=true");
    }
}
