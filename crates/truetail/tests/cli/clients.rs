//! Several clients that make one load on one database.

use crate::program::{Row, Scratch};

#[test]
fn clients_that_insert_into_one_database_do_not_collide() {
    let scratch = Scratch::new("inserting-clients");
    scratch.truetail(&["load", "sqlite:data.db"]).well();
    let run = |client: &'static str, directory: &'static str| {
        let mix = "InsertRecord=60,DeleteRecord=10,ReadRecord=30";
        scratch.start(&[
            "run",
            "sqlite:data.db?busy_timeout_ms=20000",
            "--mix",
            mix,
            "-r",
            "150/s",
            "-d",
            "3s",
            "--warmup",
            "0s",
            "--drain",
            "30s",
            "-c",
            "1",
            "--client",
            client,
            "-o",
            directory,
        ])
    };
    let (one, other) = (run("0/2", "a"), run("1/2", "b"));
    let (one, other) = (one.wait(), other.wait());
    let of = |name: &str| -> Vec<Row> {
        scratch.rows(name).into_iter().filter(|r| r.operation == "InsertRecord").collect()
    };
    for (name, ended) in [("a", one), ("b", other)] {
        let inserts = of(name);
        assert!(inserts.len() > 100, "{name}: {} inserts: {ended:?}", inserts.len());
        let collided = inserts.iter().filter(|r| r.outcome == "constraint-violation").count();
        assert_eq!(collided, 0, "{name}: of {} inserts: {ended:?}", inserts.len());
    }
    let clients: Vec<u16> = ["a", "b"].iter().map(|name| scratch.recording(name).header().client).collect();
    assert_eq!(clients, [0, 1]);
    assert!(scratch.recording("b").header().config.contains("client = \"1/2\""));
    let merged = scratch.truetail(&["report", "a", "b", "-o", "merged"]);
    assert!(merged.stdout.contains("2 recordings merged from their samples"), "{merged:?}");
}

#[test]
fn a_client_that_inserts_must_know_how_many_there_are() {
    let scratch = Scratch::new("lonely-client");
    let run = ["run", "sqlite:data.db", "--client", "1", "-d", "1s", "-o", "a"];
    scratch.truetail(&run).refused(&["--client 1", "--workload ycsb", "--client 1/2"]);
    assert!(!scratch.path("a").exists());
    // Who inserts nothing collides with nobody.
    let run = ["run", "sqlite:data.db", "-w", "ycsb-c", "--client", "1", "-d", "500ms", "--warmup", "0s"];
    scratch.truetail(&[&run[..], &["-o", "b"]].concat()).judged();
}
