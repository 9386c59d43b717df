//! The same seed makes the same load.

use crate::program::{Row, Scratch, assert_contiguous};

fn rows(scratch: &Scratch, name: &str, arguments: &[&str]) -> Vec<Row> {
    scratch.truetail(&[&["run"], arguments, &["--warmup", "0s", "-o", name]].concat()).judged();
    let rows = scratch.rows(name);
    assert_contiguous(&rows);
    rows
}

fn operations(rows: &[Row]) -> Vec<&str> {
    rows.iter().map(|r| r.operation.as_str()).collect()
}

#[test]
fn a_closed_loop_of_one_session_asks_the_same() {
    let scratch = Scratch::new("same-closed");
    let run = |name: &str, seed: &str| {
        rows(&scratch, name, &["sqlite:", "--closed", "-c", "1", "--requests", "500", "--seed", seed])
    };
    let (a, b, c) = (run("a", "7"), run("b", "7"), run("c", "8"));
    assert_eq!(a.len(), 500);
    assert_eq!(operations(&a), operations(&b));
    assert_ne!(operations(&a), operations(&c), "another seed asks otherwise");
}

#[test]
fn an_open_loop_has_the_same_schedule_with_any_number_of_workers() {
    let scratch = Scratch::new("same-open");
    let run = |name: &str, threads: &str, seed: &str| {
        rows(&scratch, name, &["null:", "-r", "2000/s", "-d", "700ms", "--threads", threads, "--seed", seed])
    };
    let (a, b, c) = (run("a", "1", "7"), run("b", "2", "7"), run("c", "1", "8"));
    assert_eq!(operations(&a), operations(&b));
    assert_ne!(operations(&a), operations(&c), "another seed asks otherwise");
    let intended = |rows: &[Row]| rows.iter().map(|r| r.intended.expect("intended")).collect::<Vec<_>>();
    // From the first request on; what is left is the rounding to ticks of a clock that was calibrated anew.
    let offsets = |times: Vec<u64>| times.iter().map(|t| (t - times[0]) as f64).collect::<Vec<_>>();
    let (a, b) = (offsets(intended(&a)), offsets(intended(&b)));
    assert_eq!(a.len(), b.len());
    for (x, y) in a.iter().zip(&b) {
        assert!((x - y).abs() <= 2000.0 + 1e-4 * x, "{x} ns in one run, {y} ns in the other");
    }
}

#[test]
fn a_trace_is_followed() {
    let scratch = Scratch::new("same-trace");
    scratch.write("arrivals.txt", "0\n0.01\n0.0125\n0.2\n");
    let rows = rows(&scratch, "a", &["null:", "--arrivals", "trace:arrivals.txt"]);
    let first = rows[0].intended.expect("intended");
    let offsets: Vec<f64> =
        rows.iter().map(|r| (r.intended.expect("intended") - first) as f64 / 1e9).collect();
    assert_eq!(offsets.len(), 4);
    for (got, planned) in offsets.iter().zip([0.0, 0.01, 0.0125, 0.2]) {
        assert!((got - planned).abs() < 1e-4, "{offsets:?}");
    }
}

#[test]
fn repeats_are_shown_with_the_interval_between_them() {
    let scratch = Scratch::new("repeats");
    let run = ["run", "null:", "-d", "500ms", "--warmup", "0s", "--repeat", "3"];
    let page = scratch.truetail(&[&run[..], &["-o", "a"]].concat()).judged().stdout;
    assert!(page.starts_with("open loop: ") && page.contains("response time across 3 runs"), "{page}");
    let document = scratch.truetail(&[&run[..], &["-o", "b", "--json"]].concat()).judged().json();
    assert_eq!(document["runs"].as_array().map(Vec::len), Some(3));
    let rows = document["across"][0]["rows"].as_array().expect("rows");
    assert_eq!(document["across"][0]["measure"], "response_time");
    let median = rows.iter().find(|r| r["name"] == "p50").expect("a median");
    let number = |name: &str| median[name].as_f64().unwrap_or_else(|| panic!("no {name}: {median}"));
    let (low, high) = (median["across"]["low"].as_f64(), median["across"]["high"].as_f64());
    let point = median["across"]["point"].as_f64().expect("a point");
    assert!(low.expect("a limit") <= point && point <= high.expect("a limit"), "{median}");
    let points: Vec<f64> = (0..3)
        .filter_map(|i| {
            document["runs"][i]["measures"]["response_time"]["quantiles"]["p50"]["point"].as_f64()
        })
        .collect();
    let (least, most) =
        (points.iter().copied().fold(f64::MAX, f64::min), points.iter().copied().fold(0.0, f64::max));
    assert_eq!((number("least"), number("most")), (least, most));
    assert!((number("most_over_least") - most / least).abs() < 1e-9, "{median}");
}
