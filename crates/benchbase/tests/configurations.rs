//! Configurations as people have them, and as nobody should.

mod samples;

use benchbase::{Benchmark, Configuration, Rate, Support};
use samples::{SAMPLES, Sample, sample};
use testkit::fuzz::Fuzz;

fn named(name: &str) -> &'static Benchmark {
    Benchmark::named(name).expect("a benchmark")
}

#[track_caller]
fn read(text: &str, benchmark: &str) -> Configuration {
    Configuration::read(text, named(benchmark)).expect("a configuration")
}

#[track_caller]
fn problem(text: &str, benchmark: &str) -> String {
    let error = Configuration::read(text, named(benchmark)).expect_err("refused").to_string();
    assert!(!error.contains('\n'), "{error}");
    error
}

fn tpcc() -> String {
    sample(SAMPLES.iter().find(|sample| sample.benchmark == "tpcc").expect("TPC-C"))
}

#[test]
fn the_19_samples_are_read_and_those_without_a_workload_refused_by_name() {
    assert_eq!(SAMPLES.len(), 19);
    for of in SAMPLES {
        let read = read(&sample(of), of.benchmark);
        let expected: Vec<f64> = of.weights.split(',').map(|weight| weight.trim().parse().unwrap()).collect();
        assert_eq!(read.works[0].weights, expected, "{}", of.benchmark);
        assert_eq!((read.terminals, read.retries, read.isolation), (1, 3, "serializable"));
        match read.require_honoured() {
            Ok(_) => assert!(read.benchmark.support != Support::None, "{}", of.benchmark),
            Err(error) => {
                assert_eq!(read.benchmark.support, Support::None, "{error}");
                let begin = format!("truetail has no workload {}; it has tpcc, ycsb", of.benchmark);
                assert!(error.to_string().starts_with(&begin), "{error}");
            }
        }
    }
    assert_eq!(Benchmark::supported().count(), 7);
}

#[test]
fn a_configuration_is_read_with_its_defaults() {
    let found = read(&tpcc(), "tpcc");
    let url = "postgres://admin:password@localhost:5432/benchbase?sslmode=disable&application_name=tpcc";
    assert_eq!(found.target.url, url);
    assert_eq!((found.scale, found.works.len(), found.seed), (1.0, 1, None));
    assert_eq!((found.works[0].seconds, found.works[0].rate), (60, Rate::PerSecond(10_000.0)));
    assert_eq!(found.transactions[3].name, "Delivery");
    assert_eq!((found.transactions[3].id, found.transactions[3].before_ms), (4, 0));
    assert_eq!(found.isolation_text.as_deref(), Some("TRANSACTION_SERIALIZABLE"));
    let notes = found.require_honoured().expect("honoured").notes;
    let begins: Vec<&str> = notes.iter().map(|note| note.split(':').next().unwrap()).collect();
    assert_eq!(
        begins,
        [
            "<driver> has no effect",
            "<batchsize> has no effect",
            "of <url> reWriteBatchedInserts have no effect"
        ]
    );
    let without = tpcc().replace("<isolation>TRANSACTION_SERIALIZABLE</isolation>", "");
    let found = read(&without, "tpcc");
    assert_eq!((found.isolation, found.isolation_text), ("serializable", None));
}

const SEVERAL: &str = r#"<parameters>
  <type>sqlite</type> <url>jdbc:sqlite:a.db</url>
  <terminals>8</terminals> <terminals bench="ycsb">4</terminals>
  <isolation bench="tpch">TRANSACTION_READ_COMMITTED</isolation> <randomSeed>7</randomSeed> <retries>0</retries>
  <loaderThreads>1</loaderThreads> <skewFactor>0.5</skewFactor>
  <works>
    <work arrival="POISSON"> <warmup>5</warmup> <time>10</time>
      <rate>200</rate> <rate bench="tpch">disabled</rate>
      <weights bench="ycsb">50, 50</weights> <weights bench="tpch">100</weights> </work>
    <work> <time>20</time> <rate bench="ycsb">unlimited</rate> <rate>1</rate>
      <active_terminals>3</active_terminals> <active_terminals bench="ycsb">2</active_terminals>
      <serial>false</serial> <weights>10,90</weights> </work>
    <work> <time>5</time> <rate>Disabled</rate> <weights bench="ycsb">1,0</weights> </work>
  </works>
  <transactiontypes bench="tpch"><transactiontype><name>Q1</name></transactiontype></transactiontypes>
  <transactiontypes bench="ycsb">
    <transactiontype><name>UpdateRecord</name><id>4</id><postExecutionWait>15</postExecutionWait></transactiontype>
    <transactiontype><name>ReadRecord</name><preExecutionWait>5</preExecutionWait></transactiontype>
    <groupings><grouping><name>a</name><weights>1,1</weights></grouping></groupings>
  </transactiontypes>
</parameters>"#;

#[test]
fn elements_of_one_benchmark_among_several_are_found() {
    let found = read(SEVERAL, "ycsb");
    assert_eq!(
        (found.terminals, found.isolation, found.seed, found.retries),
        (4, "serializable", Some(7), 0)
    );
    assert_eq!(found.parameters, [("zipfianconstant", "0.5".to_owned())]);
    assert_eq!(found.loaders, Some(1));
    let works: Vec<_> =
        found.works.iter().map(|w| (w.seconds, w.warmup_seconds, w.rate, w.poisson, w.terminals)).collect();
    assert_eq!(
        works,
        [
            (10, 5, Rate::PerSecond(200.0), true, 4),
            (20, 0, Rate::Unlimited, false, 2),
            (5, 0, Rate::Disabled, false, 4)
        ]
    );
    assert_eq!((&found.works[0].weights, &found.works[1].weights), (&vec![50.0, 50.0], &vec![10.0, 90.0]));
    let types: Vec<_> =
        found.transactions.iter().map(|t| (t.name.as_str(), t.id, t.before_ms, t.after_ms)).collect();
    assert_eq!(types, [("UpdateRecord", 4, 0, 15), ("ReadRecord", 2, 5, 0)]);
}

#[test]
fn what_is_wrong_is_told_on_one_line_with_the_nearest_that_is_valid() {
    let cases = [
        ("<scalefactor>", "<scalefaktor>", "not XML"),
        ("<scalefactor>1</scalefactor>", "<scalefaktor>1</scalefaktor>", "did you mean `scalefactor`?"),
        ("<batchsize>128</batchsize>", "<Batchsize>1</Batchsize>", "did you mean `batchsize`?"),
        ("<type>POSTGRES</type>", "<dbtype>POSTGRES</dbtype>", "OLTPBench's: BenchBase has <type>"),
        ("<type>POSTGRES</type>", "<type>POSTGRESS</type>", "did you mean `POSTGRES`?"),
        ("<type>POSTGRES</type>", "<type>ORACLE</type>", "<type>ORACLE</type>: truetail does not drive"),
        ("<type>POSTGRES</type>", "<type>MYSQL</type>", "<type>MYSQL</type> has jdbc:mysql:"),
        ("TRANSACTION_SERIALIZABLE", "TRANSACTION_SERIALISABLE", "did you mean `TRANSACTION_SERIALIZABLE`?"),
        ("<terminals>1</terminals>", "", "there is no <terminals>"),
        ("<terminals>1</terminals>", "<terminals>0</terminals>", "expected a whole number in 1..65000"),
        (
            "<terminals>1</terminals>",
            "<terminals>1</terminals><terminals>2</terminals>",
            "a second <terminals>",
        ),
        ("<terminals>1</terminals>", "<terminals bemch=\"x\">1</terminals>", "did you mean `bench`?"),
        ("<terminals>1</terminals>", "<terminals>1</terminals> stray", "text between the elements"),
        ("<works>", "<works></works><works>", "a second <works>"),
        ("<time>60</time>", "", "has no <time> above 0"),
        ("<time>60</time>", "<time>60s</time>", "<time>60s</time>: expected a whole number"),
        ("<rate>10000</rate>", "<rate>unlimitd</rate>", "`unlimited` or `disabled`"),
        ("<rate>10000</rate>", "<rate>0</rate>", "from 1 on"),
        ("<rate>10000</rate>", "", "has no <rate>"),
        ("<rate>10000</rate>", "<rate>1</rate><active_terminals>2</active_terminals>", "in 1..1"),
        ("<rate>10000</rate>", "<rate>1</rate><serial>yes</serial>", "expected `true` or `false`"),
        ("<work>", "<work arrival=\"poison\">", "there are `regular` and `poisson`"),
        ("45,43,4,4,4", "45,43,4,4", "has 4 of them, and there are 5 transaction types"),
        ("45,43,4,4,4", "45,43,4,4,x", "expected weights"),
        ("45,43,4,4,4", "0,0,0,0,-0", "all 0"),
        ("<name>Delivery", "<name>Delivry", "tpcc has no transaction `Delivry`; did you mean `Delivery`?"),
        ("<name>Delivery", "<name>Payment", "there twice"),
        ("<name>Delivery</name>", "", "has no <name>"),
        ("<batchsize>128</batchsize>", "<retries>256</retries>", "in 0..255"),
        ("<batchsize>128</batchsize>", "<newConnectionPerTxn>1</newConnectionPerTxn>", "`true` or `false`"),
    ];
    for (from, to, part) in cases {
        let changed = tpcc().replacen(from, to, 1);
        assert_ne!(changed, tpcc(), "{from} is in the sample");
        let error = problem(&changed, "tpcc");
        assert!(error.contains(part), "{to}: {error}");
        assert!(!error.contains("admin:"), "{error}");
    }
    assert!(problem("<configuration/>", "tpcc").contains("not with <parameters>"));
    assert!(Benchmark::named("tpc").unwrap_err().contains("did you mean `tpcc`?"));
}

#[test]
fn what_cannot_be_honoured_is_refused() {
    for (from, to, part) in [
        ("<time>60</time>", "<serial>true</serial>", "makes none in order"),
        ("<batchsize>128</batchsize>", "<newConnectionPerTxn>true</newConnectionPerTxn>", "stay connected"),
        (
            "<batchsize>128</batchsize>",
            "<useStoredProcedures>TRUE</useStoredProcedures>",
            "made of statements",
        ),
        (
            "<batchsize>128</batchsize>",
            "<sessionsetupfile>a.sql</sessionsetupfile>",
            "no statements of yours",
        ),
        ("<batchsize>128</batchsize>", "<skewFactor>0.5</skewFactor>", "this benchmark has no such element"),
    ] {
        let changed = tpcc().replacen(from, to, 1);
        let error = read(&changed, "tpcc").require_honoured().expect_err(to).to_string();
        assert!(error.contains(part), "{error}");
    }
}

/// Entities that grow, files of the host, elements within elements: none of it may cost anything.
#[test]
fn hostile_documents_are_harmless() {
    let laughs = (1..30).fold("<!ENTITY a0 'ha'>".to_owned(), |text, n| {
        let inner = format!("&a{};", n - 1).repeat(10);
        text + &format!("<!ENTITY a{n} '{inner}'>")
    });
    for kind in [laughs.as_str(), "<!ENTITY a29 SYSTEM 'file:///etc/passwd'>"] {
        let text = format!("<!DOCTYPE parameters [{kind}]><parameters><type>&a29;</type></parameters>");
        assert!(problem(&text, "tpcc").contains("<!DOCTYPE>"));
    }
    assert!(problem("<parameters><type>&lol;</type></parameters>", "tpcc").contains("line 1: not XML"));
    let deep = "<a>".repeat(150_000) + &"</a>".repeat(150_000);
    problem(&deep, "tpcc");
    problem(&format!("<parameters>{deep}</parameters>"), "tpcc");
    assert!(benchbase::redacted(&deep).is_ok(), "as deep as it likes");
    assert!(problem(&"<a/>".repeat(300_000), "tpcc").contains("not XML"));
    assert!(problem(&" ".repeat(5 << 20), "tpcc").contains("at most 4194304"));
}

#[test]
fn the_copy_has_no_password() {
    let text = r#"<parameters note="Password='SECRET1'">
      <!-- PASSWORD: SECRET2, and <password>SECRET3</password>, pass%77ord=SECRET4; jdbc:mysql://root:SECRET5@h/b -->
      <url>jdbc:postgresql://u:SECRET6@h/b?user=u&amp;passWORD=SECRET7&amp;sslmode=disable</url>
      <Password>SECRET8<!-- SECRET9 --><inner x="SECRET10">SECRET11</inner></Password>
      <password><![CDATA[SECRET12 & more]]></password>
      <!-- <sslPassword a="b">SECRET13</sslPassword> <pwd >SECRET14</pwd> -->
      <username>admin</username><a b="1 &lt; 2">x &lt; y &amp; z</a>
    </parameters><!-- pwd = SECRET15 -->"#;
    let copy = benchbase::redacted(text).expect("a copy");
    assert!(!copy.contains("SECRET"), "{copy}");
    insta::assert_snapshot!(copy);
    // What is no secret stands as it was, and the copy can be read as its original was.
    let again = benchbase::redacted(&copy).expect("XML");
    assert_eq!(again, copy);
    let read_again = read(&benchbase::redacted(SEVERAL).expect("XML"), "ycsb");
    // It begins with the line that says so.
    let original = format!("<?xml version=\"1.0\"?>\n{SEVERAL}");
    assert_eq!(read_again.works, read(&original, "ycsb").works);
}

#[test]
fn fuzz_configurations() {
    let names = [
        "<work>",
        "</work>",
        "bench=\"tpcc\"",
        "&amp;",
        "<![CDATA[",
        "<!--",
        "-->",
        "<!DOCTYPE a [",
        "password",
        "=",
    ];
    let samples: Vec<String> = SAMPLES.iter().map(sample).chain([SEVERAL.to_owned()]).collect();
    Fuzz::new("benchbase").from(samples).words(names).run(300, |input| {
        let text = String::from_utf8_lossy(input);
        for name in ["tpcc", "ycsb"] {
            match Configuration::read(&text, named(name)) {
                Ok(read) => {
                    assert!(read.works.iter().all(|work| work.weights.len() == read.transactions.len()));
                    let _ = read.require_honoured();
                }
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
        if let Ok(copy) = benchbase::redacted(&text) {
            assert_eq!(benchbase::redacted(&copy).as_deref(), Ok(copy.as_str()), "the copy is XML");
        }
    });
}

/// Named for what it is in the sample's facts, so that a change of one shows.
#[test]
fn transactions_stand_in_benchbases_order() {
    for Sample { benchmark, transactions, .. } in SAMPLES {
        let known = named(benchmark).transactions();
        assert!(known.is_empty() || known == *transactions, "{benchmark}: {known:?}");
    }
}
