//! Files of a run whose requests are known.

use benchbase::{Benchmark, Configuration, Described, End, Results, Row, TransactionType, Window};
use units::Outcome;

const SECOND: u64 = 1_000_000_000;
/// 2026-11-21T09:30:00Z.
const EPOCH: u64 = 1_795_253_400 * SECOND;

fn row(at_ms: u64, service_us: u64, transaction: u8, outcome: Outcome) -> Row {
    let sent_ns = EPOCH + at_ms * 1_000_000;
    // Each waited 2 ms for its terminal.
    let intended_ns = Some(sent_ns - 2_000_000);
    Row { sent_ns, service_ns: service_us * 1000, intended_ns, transaction, work: 0, session: 3, outcome }
}

/// Two works of 2 s and 1.5 s with a warm-up of 1 s between.
fn results() -> Results {
    let rows = vec![
        Row { work: 1, session: 1, ..row(3_100, 7_000, 1, Outcome::Serialization) },
        row(0, 1_000, 0, Outcome::Ok),
        row(10, 3_000, 0, Outcome::Miss),
        row(500, 2_000, 1, Outcome::Abort),
        // Answered in the warm-up: too late for a rate.
        row(1_999, 500_000, 0, Outcome::Ok),
        // Answered in the next measured time.
        row(1_998, 1_500_000, 1, Outcome::Ok),
        Row { work: 1, ..row(4_400, 200_000, 0, Outcome::Timeout) },
        Row { work: 1, intended_ns: None, ..row(4_450, 60_000, 0, Outcome::Server) },
    ];
    let window = |from_ms: u64, to_ms: u64| Window {
        begin_ns: EPOCH + from_ms * 1_000_000,
        end_ns: EPOCH + to_ms * 1_000_000,
    };
    let named = |name: &str, id| TransactionType { name: name.to_owned(), id, before_ms: 0, after_ms: 0 };
    let transactions = vec![named("ReadRecord", 1), named("UpdateRecord", 4)];
    Results::new(rows, vec![window(3_000, 4_500), window(0, 2_000)], transactions, 5)
}

#[track_caller]
fn text(write: impl Fn(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut bytes = Vec::new();
    write(&mut bytes).expect("written");
    String::from_utf8(bytes).expect("UTF-8")
}

#[test]
fn rates_count_what_was_answered_while_it_was_measured() {
    let totals = results().totals();
    assert_eq!((totals.measured, totals.good, totals.late), (5, 3, 2));
    assert_eq!((totals.unanswered, totals.never_sent, totals.elapsed_ns), (1, 5, 3_500_000_000));
    assert!((totals.throughput() - 5.0 / 3.5).abs() < 1e-12);
    assert!((totals.goodput() - 3.0 / 3.5).abs() < 1e-12);
    let empty = Results::new(vec![], vec![], vec![], 0).totals();
    assert_eq!((empty.throughput(), empty.goodput()), (0.0, 0.0));
}

#[test]
fn the_files_have_benchbases_columns_and_true_units() {
    let results = results();
    insta::assert_snapshot!("raw.csv", text(|out| results.write_raw(out)));
    insta::assert_snapshot!("samples.csv", text(|out| results.write_samples(out)));
    insta::assert_snapshot!("results.csv", text(|out| results.write_results(2, None, out)));
    insta::assert_snapshot!("results.UpdateRecord.csv", text(|out| results.write_results(2, Some(1), out)));
    for csv in [text(|out| results.write_samples(out)), text(|out| results.write_results(5, None, out))] {
        let widths: Vec<usize> = csv.lines().map(|line| line.split(',').count()).collect();
        assert!(widths.iter().all(|width| *width == widths[0]), "{csv}");
    }
}

#[test]
fn the_page_counts_ends_as_benchbase_does() {
    insta::assert_snapshot!(results().page());
    let all: u64 = End::ALL.iter().flat_map(|end| results().counts(*end)).map(|(_, count)| count).sum();
    assert_eq!(all, results().rows().len() as u64, "each once");
    assert_eq!(results().histograms()["completed"]["NUM_SAMPLES"], 4);
}

#[test]
fn the_summary_has_benchbases_keys_and_truetails_behind_them() {
    let xml = "<parameters><type>SQLITE</type><url>jdbc:sqlite:a.db</url><terminals>4</terminals><works><work>\
               <time>1</time><rate>9</rate><weights>50,50</weights></work></works><transactiontypes>\
               <transactiontype><name>ReadRecord</name></transactiontype>\
               <transactiontype><name>UpdateRecord</name></transactiontype></transactiontypes></parameters>";
    let configuration =
        Configuration::read(xml, Benchmark::named("ycsb").expect("YCSB")).expect("a configuration");
    let described = Described {
        configuration: &configuration,
        version: None,
        started_ms: 1,
        now_ms: 2,
        verdict: "valid".to_owned(),
        reasons: vec![],
        load_model: "open loop".to_owned(),
        compat: "as BenchBase's".to_owned(),
        recordings: vec!["r".to_owned()],
        interrupted: false,
    };
    let summary = results().summary(&described);
    insta::assert_snapshot!(serde_json::to_string_pretty(&summary).expect("JSON"));
    let none = Results::new(vec![], vec![], vec![], 0).summary(&described);
    assert_eq!(none["Latency Distribution"]["Maximum Latency (microseconds)"], -1);
    assert!(none["truetail Response Time Distribution"].is_null());
}
