//! `attribute`: the section alone, in full.

use crate::program::Scratch;

#[test]
fn slow_requests_are_told_one_by_one() {
    let scratch = Scratch::new("attributed");
    let run = ["run", "null:", "-r", "2000/s", "-d", "1s", "--warmup", "0s", "--observers", "off", "-o", "a"];
    let page = scratch.truetail(&run).judged().stdout;
    assert!(page.contains("\nwhose tail is it: of the "), "{page}");
    let text = scratch.truetail(&["attribute", "a"]).judged().stdout;
    let (head, requests) = text.split_once("\nthe slowest requests\n").expect("has the list");
    assert!(head.contains("stall of the host: not watched (`--observers off`)"), "{text}");
    assert!(requests.lines().count() >= 2, "{text}");

    let all = scratch.truetail(&["attribute", "a", "--above", "1ns", "--json"]).judged().json();
    let attribution = &all["attribution"];
    let worst = attribution["worst"].as_array().expect("slow requests");
    assert_eq!(
        (attribution["above"].as_u64(), attribution["slow"].as_u64()),
        (Some(1), Some(worst.len() as u64))
    );
    assert!(worst.len() > 1_000, "all requests: {}", worst.len());
    for one in worst {
        let pieces = one["pieces"].as_array().expect("pieces");
        let sum: u64 = pieces.iter().filter_map(|piece| piece["length"].as_u64()).sum();
        assert_eq!(Some(sum), one["took"].as_u64(), "{one}");
    }
    let text = scratch.truetail(&["attribute", "a", "--above", "1ns"]).judged().stdout;
    let more = worst.len() - 200;
    let (thousands, rest) = (more / 1_000, more % 1_000);
    let last = match thousands {
        0 => format!("and {rest} more: `--json` has all"),
        _ => format!("and {thousands},{rest:03} more: `--json` has all"),
    };
    assert!(text.trim_end().ends_with(&last), "{last}: {text}");
    let text = scratch.truetail(&["attribute", "a", "--above", "1h"]).judged().stdout;
    assert!(text.contains("no request took longer than 3600 s: the longest response time is "), "{text}");
    let html = std::fs::read_to_string(scratch.path("a/report.html")).expect("a report");
    assert!(html.contains("Whose tail is it?"));
    assert!(scratch.path("a/figures/attribution.svg").exists());
}

#[test]
fn what_is_no_run_is_refused() {
    let scratch = Scratch::new("attributed-not");
    scratch.truetail(&["attribute", "nowhere"]).refused(&["nowhere", "no such recording"]);
    scratch.truetail(&["run", "null:", "-d", "200ms", "--warmup", "0s", "-o", "a"]).judged();
    scratch.truetail(&["attribute", "a", "a"]).refused(&["client 0", "name each once"]);
}
