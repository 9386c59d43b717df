//! Quantiles that are not among the usual ones.

use crate::program::Scratch;

#[test]
fn quantiles_are_shown_as_asked() {
    let scratch = Scratch::new("percentiles");
    let run = ["run", "null:", "-r", "4000/s", "-d", "1s", "--warmup", "0s", "--percentiles", "98,p99.5,max"];
    let ended = scratch.truetail(&[&run[..], &["-o", "a", "--json"]].concat());
    let quantiles = |document: &serde_json::Value| document["measures"]["response_time"]["quantiles"].clone();
    let of_run = quantiles(&ended.json());
    let point = |name: &str| of_run[name]["point"].as_f64().unwrap_or_else(|| panic!("no {name}: {of_run}"));
    assert!(point("p95") <= point("p98") && point("p98") <= point("p99"), "{of_run}");
    assert!(point("p99") <= point("p99.5"), "{of_run}");
    assert!(of_run.get("max").is_none(), "{of_run}");
    // Planted by the recording itself: the value that 99.5 % of the requests do not exceed.
    let mut times: Vec<u64> = scratch.rows("a").iter().filter_map(|r| r.response).collect();
    times.sort_unstable();
    let rank = |q: f64| times[(q * times.len() as f64) as usize] as f64;
    assert!(rank(0.994) <= point("p99.5") && point("p99.5") <= rank(0.996), "{of_run}");

    let plain = quantiles(&scratch.truetail(&["report", "a", "--json"]).json());
    assert!(plain.get("p98").is_none(), "{plain}");
    let page = scratch.truetail(&["report", "a", "--percentiles", "99.5"]).judged();
    assert!(page.stdout.contains("p99.5"), "{page:?}");
    // More than the samples can carry: there, and withheld.
    let beyond = quantiles(&scratch.truetail(&["report", "a", "--percentiles", "99.999", "--json"]).json());
    assert!(beyond.get("p99.999").is_some_and(serde_json::Value::is_null), "{beyond}");
    scratch.truetail(&["report", "a", "--percentiles", "99,x"]).refused(&[
        "--percentiles 99,x",
        "`x`",
        "99.5",
    ]);
    scratch.truetail(&["run", "null:", "--percentiles", "101"]).refused(&["--percentiles 101", "0..100"]);
}

#[test]
fn a_limit_may_be_on_any_quantile() {
    let scratch = Scratch::new("any-limit");
    for name in ["a", "b"] {
        let run = ["run", "null:", "-r", "4000/s", "-d", "1s", "--warmup", "0s", "-o", name];
        scratch.truetail(&run).judged();
    }
    let compare = |limit: &str| {
        let arguments = ["compare", "a", "b", "--force", "--json", "--fail-if", limit];
        scratch.truetail(&arguments)
    };
    // Whatever the two are, the one is not a million times the other.
    for name in ["p85", "p99.5"] {
        let ended = compare(&format!("{name} > +100000000%"));
        let document = ended.json();
        let rows = document["rows"].as_array().expect("rows");
        let row = rows.iter().find(|row| row["name"] == name).expect(name);
        // In the far tail the requests may be too alike in time for an interval; then it is not decided.
        let decided = row["ratio"]["low"].is_number();
        assert_eq!(ended.code, Some(if decided { 0 } else { 2 }), "{ended:?}");
        assert!(decided || ended.stderr.contains("has no interval"), "{ended:?}");
    }
    compare("p99.999 > +5%").refused(&["--fail-if 'p99.999 > +5%'", "p99.99"]);

    let search = ["search", "null:", "--from", "4000/s", "--to", "5000/s", "-d", "2s", "--warmup", "0s"];
    let ended =
        scratch.truetail(&[&search[..], &["--slo", "p97.5 < 5s", "-o", "s", "--json"]].concat()).well();
    let document = ended.json();
    assert_eq!(document["rate_per_second"].as_f64(), Some(5_000.0), "{document}");
    assert!(document["probes"][0]["point_ns"].as_f64().is_some_and(|ns| ns > 0.0), "{document}");
}
