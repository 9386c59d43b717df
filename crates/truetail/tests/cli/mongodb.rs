//! FerretDB as users meet it: YCSB from loading to dropping. Needs the program (`cargo xtask install`).

use crate::program::{Scratch, assert_contiguous, brief};
use testkit::ferretdb::{Options, server};

/// What a scan of a server may end in that looks at each record: it is slow.
const BEAR: [&str; 3] = ["ok", "miss", "unfinished"];

#[test]
fn ycsb_loads_runs_and_checks() {
    let Some(server) = server(&Options::default()) else { return };
    let scratch = Scratch::new("mongodb");
    for (name, url, workload) in [
        ("a", server.tcp_url(), "ycsb-a"),
        ("mix", server.tcp_url(), "ycsb"),
        ("unix", server.unix_url(), "ycsb-d"),
    ] {
        let truetail = |verb: &str| scratch.truetail(&[verb, &url, "-w", workload, "--scale", "0.2"]);
        let missing = truetail("check").with_code(1);
        assert!(missing.stdout.contains("load it first"), "{missing:?}");
        assert!(truetail("load").well().stdout.contains("loaded"));
        let checked = truetail("check").well().stdout;
        assert!(checked.contains("holds ") && !checked.contains("BROKEN"), "{checked}");
        let run = ["-w", workload, "--scale", "0.2", "-r", "100/s", "-c", "2", "-o", name];
        let ended = scratch.truetail(&brief(&[&[url.as_str()], &run[..]].concat())).judged();
        assert!(ended.first_line().contains("FerretDB 1.24.0"), "{ended:?}");
        let rows = scratch.rows(name);
        assert_contiguous(&rows);
        assert!(rows.iter().all(|row| BEAR.contains(&row.outcome.as_str())), "{ended:?}");
        assert!(rows.iter().any(|row| row.outcome == "ok"), "{ended:?}");
        assert!(truetail("check").well().stdout.contains("holds "));
        assert!(truetail("cleanup").well().stdout.contains("dropped"));
        assert!(truetail("cleanup").well().stdout.contains("nothing was there"));
    }
}

#[test]
fn what_a_document_store_lacks_is_refused() {
    let scratch = Scratch::new("mongodb-refusals");
    let url = "mongodb://127.0.0.1:1/ycsb";
    scratch.truetail(&["run", url, "-w", "tpcc"]).refused(&[
        "needs",
        "SQL",
        "this target can be asked for ycsb",
    ]);
    scratch.truetail(&["run", url, "-w", "ycsb-a"]).refused(&["127.0.0.1:1", "refused", "running"]);
    scratch.truetail(&["run", "mongodb://h/?retryWrites=true"]).refused(&["retries nothing", "--retry"]);
}
