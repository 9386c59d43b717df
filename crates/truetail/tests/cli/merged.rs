//! Recordings of several load machines are one result.

use crate::program::Scratch;

#[test]
fn recordings_made_at_the_same_time_are_merged_from_their_samples() {
    let scratch = Scratch::new("merged");
    let run = |client: &'static str, directory: &'static str| {
        ["run", "null:", "-d", "2s", "--warmup", "200ms", "--client", client, "-o", directory]
    };
    let other = scratch.start(&run("1", "b"));
    let one = scratch.start(&run("0", "a"));
    let (one, other) = (one.wait().judged(), other.wait().judged());
    assert!(one.stdout.contains("open loop") && other.stdout.contains("open loop"));

    let ended = scratch.truetail(&["report", "a", "b", "-o", "merged"]).judged();
    assert!(ended.stdout.contains("2 recordings merged from their samples"), "{}", ended.stdout);
    let json = scratch.truetail(&["report", "a", "b", "-o", "merged", "--json"]).json();
    let requests = |document: &serde_json::Value| document["measures"]["response_time"]["samples"].as_u64();
    let apart: u64 =
        ["a", "b"].iter().filter_map(|d| requests(&scratch.truetail(&["report", d, "--json"]).json())).sum();
    assert!(apart > 2000, "{apart}");
    assert_eq!(requests(&json), Some(apart));
    for client in ["client 0", "client 1"] {
        assert!(ended.stdout.contains(client), "no {client}: {}", ended.stdout);
    }
    assert!(scratch.path("merged/report.html").exists());
    // The same seed, but not in step: else the clients' arrivals would come in pairs.
    let offsets = |name: &str| {
        let rows = scratch.rows(name);
        let first = rows[0].intended.expect("intended");
        rows.iter().take(100).map(|r| (r.intended.expect("intended") - first) / 1000).collect::<Vec<_>>()
    };
    assert_ne!(offsets("a"), offsets("b"));
    // The same client twice is a mistake.
    scratch.truetail(&["report", "a", "a"]).refused(&["a and a", "client 0", "--client"]);
}
