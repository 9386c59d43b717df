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

#[test]
fn clients_of_one_run_are_compared_as_one_run() {
    let scratch = Scratch::new("compared-clients");
    let run = |client: &'static str, directory: &'static str| {
        ["run", "null:", "-d", "2s", "--warmup", "200ms", "--client", client, "-o", directory]
    };
    let other = scratch.start(&run("1", "one/b"));
    let one = scratch.start(&run("0", "one/a"));
    one.wait().judged();
    other.wait().judged();
    scratch
        .truetail(&["run", "null:", "-d", "400ms", "--warmup", "0s", "--repeat", "2", "-o", "two"])
        .judged();
    let side = |directory: &str| {
        let compared =
            scratch.truetail(&["compare", directory, directory, "--force", "--json"]).well().json();
        let n = compared["rows"][0]["base"]["n"].as_u64();
        (compared["base"]["runs"].as_u64(), compared["base"]["recordings"].as_array().map(Vec::len), n)
    };
    let samples = |names: &[&str]| -> u64 {
        let each =
            names.iter().map(|n| scratch.truetail(&["report", n, "--json"]).json()["samples"].as_u64());
        each.map(|n| n.expect("samples")).sum()
    };
    assert_eq!(side("one"), (Some(1), Some(2), Some(samples(&["one/a", "one/b"]))), "one run of two clients");
    assert_eq!(side("two").0, Some(2), "repeats follow each other");
    let page = scratch.truetail(&["compare", "one", "one", "--force"]).well().stdout;
    assert!(page.contains("(1 run of 2 recordings, "), "{page}");

    // A copy beside the recording is neither a repeat nor a client.
    let copy =
        std::process::Command::new("cp").args(["-r", "a", "c"]).current_dir(scratch.path("one")).status();
    assert!(copy.expect("cp starts").success());
    scratch
        .truetail(&["compare", "one", "two", "--force"])
        .refused(&["one/a", "one/c", "client 0", "--client"]);
}
