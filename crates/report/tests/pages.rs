//! The pages of the fixtures, as people see them, and the documents.

mod fixture;

use analysis::Analysis;
use record::Measure;
use report::text::{TextOptions, attribution_page, comparison_page, page, repeats_page};
use units::{Nanos, format_nanos};

const OPTIONS: TextOptions = TextOptions { width: 100, colour: false };
const WIDEST: usize = 110;
const LONGEST: usize = 72;

fn all() -> [(&'static str, Analysis); 4] {
    [
        ("open", fixture::open_loop()),
        ("closed", fixture::closed_loop()),
        ("tiny", fixture::tiny()),
        ("censored", fixture::censored()),
    ]
}

fn pretty(value: &serde_json::Value) -> String {
    serde_json::to_string_pretty(value).expect("JSON values can be written")
}

#[test]
fn pages_as_people_see_them() {
    for (name, analysis) in all() {
        insta::assert_snapshot!(format!("page-{name}"), page(&analysis, &OPTIONS));
    }
    insta::assert_snapshot!("comparison-undecided", comparison_page(&fixture::comparison(), &OPTIONS));
    let runs = fixture::repeats();
    let runs: Vec<&Analysis> = runs.iter().collect();
    insta::assert_snapshot!("repeats", repeats_page(&runs, &analysis::across_repeats(&runs), &OPTIONS));
    insta::assert_snapshot!("comparison-decided", comparison_page(&fixture::decided_comparison(), &OPTIONS));
}

/// Whose the tail is: on the page in short, and in full on a page of its own.
#[test]
fn the_tail_is_put_down_to_its_causes() {
    let analysis = fixture::with_stalls();
    let text = page(&analysis, &OPTIONS);
    let begin = text.find("whose tail is it: ").expect("a section on the tail");
    let end = text.find("\nevents: ").expect("the events come next");
    insta::assert_snapshot!("tail", &text[begin..end]);
    let full = attribution_page(&analysis, None, &OPTIONS);
    let attribution = analysis.attribution.as_ref().expect("has slow requests");
    assert!(full.lines().all(|line| line.chars().count() <= WIDEST && line == line.trim_end()), "{full}");
    assert_eq!(full.matches(" s, session ").count(), attribution.worst.len());
    insta::assert_snapshot!("tail-in-full", full);
    let html = report::html::page(&analysis);
    for part in ["id=\"attribution\"", "id=\"attribution-0\"", "The slowest requests</caption>", "svg.pieces"]
    {
        assert!(html.contains(part), "no {part}");
    }
    // What is not known is said, in words and not as zero.
    let open = report::html::page(&fixture::open_loop());
    assert!(open.contains("Checkpoint: not watched (nobody asked the server for its checkpoints)"));
    let mut none = fixture::tiny();
    none.attribution = None;
    assert!(!page(&none, &OPTIONS).contains("whose tail"));
    assert!(
        attribution_page(&none, Some(Nanos::from_secs(10)), &OPTIONS)
            .contains("no request took longer than 10.0 s: the longest response time is ")
    );
    assert!(!report::html::page(&none).contains("id=\"attribution\""));
}

/// Which statements the time goes into, and which of them make the tail.
#[test]
fn what_is_inside_of_requests_is_told() {
    let analysis = fixture::with_statements_timed();
    let text = page(&analysis, &OPTIONS);
    let begin = text.find("inside of the requests: ").expect("a section on statements");
    let end = text.find("\nwhose tail is it: ").expect("the tail comes next");
    insta::assert_snapshot!("statements", &text[begin..end]);
    for width in [40, 60, 80, 200] {
        let narrow = page(&analysis, &TextOptions { width, ..OPTIONS });
        assert!(narrow.contains("of tail") && narrow.contains("NewOrder: SELECT stock"), "{narrow}");
    }
    let html = report::html::page(&analysis);
    for part in [
        "id=\"statements\"",
        "id=\"statements-0\"",
        "SELECT i_price FROM item WHERE i_id IN (&lt;5&gt;)",
        "1,234 exchanges found their buffer full",
        "between them",
    ] {
        assert!(html.contains(part), "no {part}");
    }
    assert!(!page(&fixture::open_loop(), &OPTIONS).contains("inside of the requests"));
    assert!(!report::html::page(&fixture::open_loop()).contains("id=\"statements\""));
}

/// Who had the CPUs: below the table, and in the requests' timelines.
#[test]
fn stalls_are_put_down_to_those_who_ran() {
    let analysis = fixture::with_runners();
    let text = page(&analysis, &OPTIONS);
    let begin = text.find("whose tail is it: ").expect("a section on the tail");
    let end = text.find("\nevents: ").expect("the events come next");
    insta::assert_snapshot!("tail-who-ran", &text[begin..end]);
    let full = attribution_page(&analysis, None, &OPTIONS);
    assert!(full.lines().all(|line| line.chars().count() <= WIDEST && line == line.trim_end()), "{full}");
    insta::assert_snapshot!("tail-who-ran-in-full", full);
    let html = report::html::page(&analysis);
    assert!(
        html.contains("Who ran during the stalls of the client&#39;s CPUs: nightly &lt;job&gt; (pid 4711) "),
        "anybody may name a task"
    );
    assert!(!html.contains("ran cpu 2"), "those who ran are no watchers");
    let document = pretty(&report::json::attribution_document(&analysis));
    assert!(document.contains(r#""held_by": "nightly <job> (pid 4711)""#), "{document}");
}

#[test]
fn gaps_are_a_table_with_a_row_for_each_cpu() {
    let gaps = fixture::gaps();
    insta::assert_snapshot!("gaps", report::gaps::text(&gaps, &OPTIONS));
}

/// What a store's truth adds, between what else is on the page.
#[test]
fn truth_stands_beside_the_measurement() {
    let (without, with) = (page(&fixture::open_loop(), &OPTIONS), page(&fixture::with_truth(), &OPTIONS));
    let begin = with.find("against the store's truth").expect("a section on the truth");
    let end = with.find("\nevents: ").expect("the events come next");
    assert_eq!(format!("{}{}", &with[..begin], &with[end + 1..]), without);
    let section = &with[begin..end];
    assert!(section.lines().count() <= 24, "{section}");
    assert!(section.lines().all(|line| line.chars().count() <= WIDEST), "{section}");
    insta::assert_snapshot!("truth", section);
}

#[test]
fn a_node_that_joined_stands_in_the_truth() {
    let text = page(&fixture::with_join(), &OPTIONS);
    let said = text.lines().skip_while(|line| !line.starts_with("a node joined"));
    let said: Vec<&str> = said.take_while(|line| !line.starts_with("largest")).collect();
    insta::assert_snapshot!("node-joined", said.join("\n"));
    let html = report::html::page(&fixture::with_join());
    assert!(html.contains("<figure id=\"node-joins\"") && html.contains("var(--pale-blue)"));
    assert!(!report::html::page(&fixture::with_truth()).contains("node-joins"));
}

#[test]
fn probes_of_the_lag_have_a_section_and_their_grades_stand_in_the_truth() {
    let text = page(&fixture::with_probes(), &OPTIONS);
    let begin = text.find("read-after-write lag\n").expect("a section on the lag");
    let end = text.find("against the store's truth").expect("the truth comes next");
    insta::assert_snapshot!("probes", &text[begin..end]);
    let grade = text.lines().skip_while(|line| !line.starts_with("probed lag"));
    let grade: Vec<&str> = grade.take_while(|line| !line.starts_with("largest")).collect();
    insta::assert_snapshot!("probes-graded", grade.join("\n"));
    assert!(!page(&fixture::with_truth(), &OPTIONS).contains("read-after-write"));
    let html = report::html::page(&fixture::with_probes());
    for part in ["id=\"staleness\"", "Bounds of the read-after-write lag", "230 of 230 intervals of probes"] {
        assert!(html.contains(part), "no {part}");
    }
    assert!(!report::html::page(&fixture::with_truth()).contains("id=\"staleness\""));
}

#[test]
fn what_a_workload_asks_of_its_run_has_a_section() {
    let section = |analysis: &Analysis| {
        let text = page(analysis, &OPTIONS);
        let lines = text.lines().skip_while(|line| *line != "by the workload’s own rules");
        lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!("business", section(&fixture::with_rules()));
    let of_terminals = section(&fixture::with_rules_of_terminals()).replace("\n  ", " ");
    assert!(
        of_terminals.contains("96.0 % of the 128.6 that these terminals can reach at most"),
        "{of_terminals}"
    );
    let html = report::html::page(&fixture::with_rules());
    for part in
        ["id=\"business\"", "What the workload asks of each operation", "BROKEN", "1,234 orders delivered"]
    {
        assert!(html.contains(part), "no {part}");
    }
    assert!(!report::html::page(&fixture::open_loop()).contains("id=\"business\""));
}

#[test]
fn pauses_of_jvms_have_a_section_and_are_black_in_the_figures() {
    let with = fixture::with_pauses();
    let text = page(&with, &OPTIONS);
    let begin = text.find("pauses of JVMs\n").expect("a section on pauses");
    let end = text.find("\nevents: 2").expect("other events come next, and pauses are none of them");
    insta::assert_snapshot!("jvm-pauses", &text[begin..end]);
    let html = report::html::page(&with);
    for part in [
        "id=\"jvm\"",
        "The longest pauses",
        "line 7: &lt;i&gt;",
        "[\"jvm-pause\",250000000,290000000,\"server JVM\"",
    ] {
        assert!(html.contains(part), "no {part}");
    }
    let series = |analysis: &Analysis| {
        let figures = report::svg::figures(analysis);
        let found = figures.into_iter().find(|(name, _)| name.contains("response"));
        found.expect("a series").1
    };
    let marks = |svg: &str| {
        let path = svg
            .lines()
            .find(|line| line.starts_with("<path") && line.ends_with("fill=\"#000000\"/>"))
            .map_or("", |line| line);
        path.matches('M').count()
    };
    assert_eq!((marks(&series(&with)), marks(&series(&fixture::open_loop()))), (12, 0));
    assert!(!page(&fixture::open_loop(), &OPTIONS).contains("JVM"));
    assert!(!report::html::page(&fixture::open_loop()).contains("id=\"jvm\""));
}

#[test]
fn the_servers_log_has_a_section_and_what_it_told_is_among_the_events() {
    let with = fixture::with_server_log();
    let text = page(&with, &OPTIONS);
    let begin = text.find("the server's log\n").expect("a section on the log");
    let end = text.find("\nevents: ").expect("events come next");
    insta::assert_snapshot!("server-log", &text[begin..end]);
    assert!(text.contains("server log: checkpoint: time"), "{text}");
    let html = report::html::page(&with);
    for part in
        ["id=\"server-log\"", "pg&lt;15&gt;.log", "Not understood, too: <code>line 9: cp: cannot stat</code>"]
    {
        assert!(html.contains(part), "no {part}");
    }
    assert!(!page(&fixture::open_loop(), &OPTIONS).contains("the server's log"));
    assert!(!report::html::page(&fixture::open_loop()).contains("id=\"server-log\""));
}

#[test]
fn documents_as_programs_see_them() {
    let mut document = report::json::document(&fixture::tiny());
    // One scope of each kind shows what they all look like.
    for scopes in ["operations", "phases"] {
        document[scopes].as_array_mut().expect("scopes are an array").truncate(1);
    }
    insta::assert_snapshot!("document-tiny", pretty(&document));
    insta::assert_snapshot!(
        "document-comparison",
        pretty(&report::json::comparison(&fixture::comparison(), &[]))
    );
}

#[test]
fn pages_fit_a_terminal() {
    let comparisons = [fixture::comparison(), fixture::decided_comparison()];
    let pages = all().map(|(_, a)| page(&a, &OPTIONS)).into_iter();
    for text in pages.chain(comparisons.iter().map(|c| comparison_page(c, &OPTIONS))) {
        assert!(text.lines().count() <= LONGEST, "{} lines:\n{text}", text.lines().count());
        for line in text.lines() {
            assert!(line.chars().count() <= WIDEST, "{} columns: {line}", line.chars().count());
            assert_eq!(line, line.trim_end());
        }
        assert!(text.ends_with('\n') && !text.ends_with("\n\n") && !text.contains("\n\n\n"), "{text}");
    }
}

/// On a narrow terminal the harness's delays go below; nothing is lost, and nothing is wider than the screen.
#[test]
fn narrow_pages_have_two_tables() {
    let narrow = TextOptions { width: 80, colour: false };
    for (name, analysis) in all() {
        let text = page(&analysis, &narrow);
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{name}: {} columns: {line}", line.chars().count());
        }
        let wide = page(&analysis, &TextOptions { width: 160, colour: false });
        let words = |text: &str| {
            let mut all: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
            all.sort();
            all.dedup();
            all
        };
        assert_eq!(words(&text), words(&wide), "{name}");
    }
}

#[test]
fn comparisons_have_both_times_and_their_spreads() {
    let comparison = fixture::comparison();
    for width in [80, 100, 160] {
        let text = comparison_page(&comparison, &TextOptions { width, colour: false });
        let (response, service) = text.split_once("\nservice time ").expect("both times have a table");
        let (_, response) = response.split_once("\nresponse time ").expect("has response times");
        for part in [response, service] {
            for row in
                ["p50 ", "p99 ", "mean ", "variance ", "standard deviation ", "coefficient of variation "]
            {
                assert!(part.lines().any(|l| l.starts_with(row)), "no {row}: {text}");
            }
            for row in ["p99/mean ", "max/median ", "median/min "] {
                assert!(part.lines().any(|l| l.starts_with(row)), "no {row}: {text}");
            }
            // A wide page has the intervals of both sides besides the ratio's.
            let median = part.lines().find(|l| l.starts_with("p50 ")).expect("has a median");
            assert_eq!(median.matches('[').count(), if width == 160 { 3 } else { 1 }, "{median}");
        }
    }
}

#[test]
fn repeats_have_intervals_and_their_spread() {
    let runs = fixture::repeats();
    let runs: Vec<&Analysis> = runs.iter().collect();
    let text = repeats_page(&runs, &analysis::across_repeats(&runs), &OPTIONS);
    assert!(text.starts_with("closed loop: no think time, ycsb-a on SQLite 3.50.2 (3 runs)\n"), "{text}");
    let (each, together) = text.split_once("service time across 3 runs").expect("has both tables");
    let lines = each.lines().filter(|l| l.starts_with(['1', '2', '3']));
    assert!(lines.clone().count() == 3 && lines.clone().all(|l| l.matches('[').count() == 3), "{each}");
    for name in ["p50", "p99", "p99.9", "mean", "variance"] {
        let line = together.lines().find(|l| l.split(' ').next() == Some(name));
        let line = line.unwrap_or_else(|| panic!("no {name}: {text}"));
        assert!(line.contains(" [") && !line.contains("no interval"), "{line}");
        let spread: f64 = line.split(' ').next_back().and_then(|s| s.parse().ok()).expect("a spread");
        assert!((1.0..3.0).contains(&spread), "{line}");
    }
}

#[test]
fn spreads_stand_beside_the_quantiles() {
    let text = page(&fixture::open_loop(), &OPTIONS);
    for name in ["mean", "sd", "variance", "sd/mean", "p99/mean", "max/median", "median/min"] {
        assert!(text.lines().any(|l| l.split(' ').next() == Some(name)), "no {name}: {text}");
    }
    let variance = text.lines().find(|l| l.starts_with("variance ")).expect("has a variance");
    assert!(variance.matches("s² [").count() == 2, "of both times, with intervals: {variance}");
}

/// The last section: all that a header holds and a reader needs to judge or repeat a run.
#[test]
fn the_page_says_how_its_numbers_were_made() {
    let mut analysis = fixture::open_loop();
    analysis.events.push(analysis.events[0].clone());
    let step = analysis.events.last_mut().expect("has events");
    step.kind = record::EventKind::ClockStep;
    let text = page(&analysis, &OPTIONS);
    let (_, section) = text.split_once("\nhow the numbers were made\n").expect("has the section");
    let flat = section.split_whitespace().collect::<Vec<_>>().join(" ");
    for fact in [
        "PostgreSQL 17.5 (Debian 17.5-1)",
        "synchronous_commit=on",
        "ycsb-a: rows=100000, keys=scrambled zipfian 0.99",
        "Read 50 %, Update 25 %, Insert 10 %, Scan 5 %, ReadModifyWrite 7 %, Delete 3 %",
        "16 sessions on 2 workers",
        "sleep then spin",
        "no time limit",
        "seed 42",
        "warm-up 2.00 s, 10s@2000/s",
        "load-1: Example 3000, 8 CPUs, 16.0 GiB, kernel 6.18.0, Debian 13, virtualisation: none",
        "kind: tsc; cost: 11 ns; 1 step of the wall clock seen",
        "pin workers: cores 2-3; real-time priority: not permitted",
        "truetail 0.1.0, complete, no sample dropped",
        "hiccup, client-cpu; not available: steal (/proc/stat has no steal column that moves)",
    ] {
        assert!(flat.contains(fact), "no `{fact}` in:\n{section}");
    }
    assert!(section.lines().count() <= 16, "{section}");
}

#[test]
fn settings_have_the_names_of_the_manual() {
    let mut analysis = fixture::closed_loop();
    let facts = &mut analysis.recordings[0].header.target_facts;
    for (name, value) in [("journal_mode", "wal"), ("synchronous", "1")] {
        facts.push((name.to_owned(), value.to_owned()));
    }
    let text = page(&analysis, &OPTIONS);
    assert!(text.contains("journal_mode=WAL, synchronous=NORMAL"), "{text}");
    let html = report::html::page(&analysis);
    assert!(html.contains("<dt>synchronous</dt><dd>NORMAL</dd>"));
}

/// Facts of other people: long, with line breaks, many.
#[test]
fn facts_cannot_spoil_the_page() {
    let mut analysis = fixture::open_loop();
    let header = &mut analysis.recordings[0].header;
    header.target_facts.extend((0..200).map(|i| (format!("setting_{i}"), "x\n".repeat(300))));
    header.operations = (0..200).map(|i| format!("Operation{i}")).collect();
    header.phases.last_mut().expect("has phases").mix = vec![1.0; 200];
    let other = analysis.recordings[0].clone();
    analysis.recordings.extend((0..20).map(|_| other.clone()));
    for client in 1..20u16 {
        analysis.recordings[usize::from(client)].header.client = client;
        analysis.recordings[usize::from(client)].header.host.name = format!("load-{client}");
    }
    let text = page(&analysis, &OPTIONS);
    assert!(text.contains("client 2: load-2: Example 3000") && text.contains("more clients in the report"));
    assert!(!text.contains("client 2: truetail"), "what does not differ is said once");
    assert!(text.lines().count() <= LONGEST + 20, "{} lines", text.lines().count());
    assert!(text.lines().all(|l| l.chars().count() <= WIDEST), "{text}");
}

#[test]
fn the_load_model_comes_first_and_the_verdict_before_any_result() {
    for (name, analysis) in all() {
        let text = page(&analysis, &OPTIONS);
        let model = analysis.recordings[0].header.load.model.name();
        assert!(text.starts_with(model), "{name}");
        let verdict = text.find("\nverdict ").expect("has a verdict");
        let units = [" ns", " µs", " ms", "/s", " %", "requests"];
        let first = units.iter().filter_map(|unit| text.find(unit)).min().expect("has numbers");
        assert!(verdict < first, "{name}");
    }
}

#[test]
fn withheld_quantiles_have_no_value() {
    for (name, analysis) in all() {
        let text = page(&analysis, &OPTIONS);
        // The first table's first column of times: the response time, or the service time without one.
        let main = analysis.total.measures.iter().find(|m| m.n > 0).expect("has times");
        assert!(!main.withheld.is_empty(), "{name}");
        for quantile in &main.withheld {
            let line = text.lines().find(|l| l.split(' ').next() == Some(quantile.name().as_str()));
            assert!(line.is_none_or(|l| l.contains("– (needs ")), "{name} {quantile}: {line:?}");
        }
    }
    // Nothing of tiny but the median and what was observed: the first that is withheld says what it needs.
    let text = page(&fixture::tiny(), &OPTIONS);
    assert!(text.contains("\np75 ") && text.contains("– (needs 40 samples)"));
    for beyond in ["p90", "p95", "p99", "p99.9", "p99.99"] {
        assert!(!text.lines().any(|l| l.split(' ').next() == Some(beyond)), "{beyond}");
    }
}

#[test]
fn a_page_without_any_time_has_no_rows_for_them() {
    let mut analysis = fixture::tiny();
    let rows =
        |text: &str| text.lines().filter(|l| l.starts_with("max/median") || l.starts_with("mean")).count();
    // Wide enough for one table.
    assert_eq!(rows(&page(&analysis, &TextOptions { width: 160, ..OPTIONS })), 2);
    analysis.total.measures.clear();
    let text = page(&analysis, &OPTIONS);
    assert_eq!(text.lines().filter(|l| *l == "no request was measured").count(), 1, "{text}");
    assert_eq!(rows(&text), 0, "{text}");
}

/// What nobody named is no name: the tool is what is known.
#[test]
fn an_import_without_names_is_a_run_of_its_tool() {
    let said = |workload: &str, target: &str| {
        let mut analysis = fixture::tiny();
        let header = &mut analysis.recordings[0].header;
        header.provenance = record::Provenance::Imported { tool: "sysbench".to_owned() };
        (header.workload, header.target) = (workload.to_owned(), target.to_owned());
        header.target_facts.clear();
        let html = report::html::page(&analysis);
        let (_, title) = html.split_once("<h1>").expect("has a title");
        let title = title.split("</h1>").next().unwrap_or_default().to_owned();
        let text = page(&analysis, &OPTIONS);
        let head = text.lines().next().unwrap_or_default();
        assert!(head.ends_with(&title), "{head}, {title}");
        title
    };
    let (no_workload, no_target) = ("a workload that is not named", "a target that is not named");
    assert_eq!(said(no_workload, no_target), "run of sysbench, imported");
    assert_eq!(said(no_workload, "db1"), "run of sysbench on db1, imported");
    assert_eq!(said("oltp", no_target), "oltp, run of sysbench, imported");
    assert_eq!(said("oltp", "db1"), "oltp on db1");
}

#[test]
fn ratios_that_are_not_known_are_no_numbers() {
    let mut analysis = fixture::tiny();
    for measure in &mut analysis.total.measures {
        let spreads = &mut measure.spreads;
        (spreads.coefficient_of_variation, spreads.max_over_median, spreads.median_over_min) =
            (None, None, None);
    }
    let text = page(&analysis, &OPTIONS);
    for name in ["sd/mean", "max/median", "median/min"] {
        let line = text.lines().find(|line| line.starts_with(name)).expect("has a row");
        let cells: Vec<&str> = line.split_whitespace().skip(1).collect();
        assert!(cells.len() > 1 && cells.iter().all(|cell| *cell == "–"), "{line}");
    }
    let html = report::html::page(&analysis);
    for name in ["sd / mean", "max / median", "median / min"] {
        let row = html.split("</tr>").find(|row| row.contains(name)).expect("has a row");
        assert!(row.contains("–") && !row.contains(|c: char| c.is_ascii_digit()), "{row}");
    }
    let measures = &report::json::document(&analysis)["measures"]["response_time"];
    for name in ["coefficient_of_variation", "max_over_median", "median_over_min"] {
        assert_eq!(measures.get(name), Some(&serde_json::Value::Null), "{name}");
    }
}

#[test]
fn given_up_requests_give_lower_bounds() {
    let analysis = fixture::censored();
    let text = page(&analysis, &OPTIONS);
    let response = analysis.total.measures.iter().find(|m| m.measure == Measure::Response);
    let response = response.expect("an open loop has response times");
    let bounds = response.quantiles.iter().filter(|(_, e)| e.bound == units::Bound::AtLeast);
    let mut count = 0;
    for (quantile, estimate) in bounds {
        let value = format_nanos(units::Nanos(estimate.point.round() as u64));
        let line = text.lines().find(|l| l.split(' ').next() == Some(quantile.name().as_str()));
        assert!(line.is_some_and(|l| l.contains(&format!("≥ {value}"))), "{quantile}: {line:?}");
        count += 1;
    }
    assert!(count >= 3);
    assert!(text.contains("\nverdict invalid: do not use"));
}

#[test]
fn colour_changes_nothing_but_colour() {
    for (name, analysis) in all() {
        let coloured = page(&analysis, &TextOptions { colour: true, ..OPTIONS });
        assert!(coloured.contains("\x1b["), "{name}");
        let mut plain = String::new();
        let mut rest = coloured.as_str();
        while let Some((before, code)) = rest.split_once("\x1b[") {
            plain += before;
            rest = code.split_once('m').expect("a code ends").1;
        }
        assert_eq!(plain + rest, page(&analysis, &OPTIONS), "{name}");
    }
}

#[test]
fn a_page_of_many_operations_stays_a_page() {
    let mut analysis = fixture::open_loop();
    let operation = analysis.scopes[0].clone();
    analysis.scopes.extend((0..250).map(|i| {
        let name = format!("Operation{i}");
        analysis::ScopeSummary { scope: analysis::Scope::Operation(i), name, ..operation.clone() }
    }));
    let text = page(&analysis, &OPTIONS);
    assert!(text.lines().count() <= LONGEST && text.contains("more in the report"), "{text}");
}
