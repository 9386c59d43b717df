//! `experiment`: the papers' claims that can be re-run.

use crate::cli::{Experiment, ExperimentArguments};
use crate::{Ended, output, predictability, tell_tale};
use anyhow::bail;
use serde_json::{Value, json};

/// A claim of a paper, re-run here.
struct Claim {
    paper: &'static str,
    figure: &'static str,
    command: &'static str,
    published: &'static str,
    ours: &'static str,
    verdict: &'static str,
}

/// The claims that this version can re-run. Each comes with the command that does.
const CLAIMS: &[Claim] = &[
    Claim {
        paper: NOSQLMARK,
        figure: "mean response time at 80 % load, 1 s hiccup, open loop (NoSQLMark)",
        command: "truetail prove --experiment nosqlmark",
        published: "29 ms",
        ours: "27.78 ms, the closed form; 1.2 ms more are the published rig's own",
        verdict: "holds",
    },
    Claim {
        paper: NOSQLMARK,
        figure: "mean that a closed loop of N threads reports (YCSB)",
        command: "truetail prove --experiment nosqlmark",
        published: "2, 6, 19 ms; N is not stated",
        ours: "2, 6, 19 ms at N = 37, 115, 438",
        verdict: "holds",
    },
    Claim {
        paper: NOSQLMARK,
        figure: "the same, 49 ms",
        command: "truetail prove --experiment nosqlmark",
        published: "49 ms",
        ours: "at most 27.77 ms at any N",
        verdict: "fails: no ideal store gives more than the open mean",
    },
    Claim {
        paper: NOSQLMARK,
        figure: "mean of the closed loop from the intended start (YCSB intended)",
        command: "truetail prove --experiment nosqlmark",
        published: "180, 49, 44, 54 ms",
        ours: "27.78 ms at every N",
        verdict: "fails: needs a rig that catches up more slowly than the store",
    },
    Claim {
        paper: NOSQLMARK,
        figure: "table \"The Results\", hiccup: mean, p99, max",
        command: "truetail prove --experiment nosqlmark",
        published: "17.43, 603.647, 903.679 ms",
        ours: "17.45, 603.93, 903.93 ms with n = 30,000, a hiccup of 900 ms and 3.93 ms for all else",
        verdict: "holds",
    },
    Claim {
        paper: NOSQLMARK,
        figure: "table \"The Results\", hiccup as YCSB sees it: mean",
        command: "truetail prove --experiment nosqlmark",
        published: "4.39 ms",
        ours: "4.41 ms with 16 threads",
        verdict: "holds",
    },
    Claim {
        paper: NOSQLMARK,
        figure: "table \"The Results\", p90 of both hiccup rows",
        command: "truetail prove --experiment nosqlmark",
        published: "7.539, 4.711 ms",
        ours: "3.93 ms",
        verdict: "fails: an ideal store delays 3 % of the operations",
    },
    Claim {
        paper: NOSQLMARK,
        figure: "a second node joins a Cassandra at 5 of 15 minutes: plain, intended and open times",
        command: "truetail experiment elasticity --preset slides (a build with `--features cql`)",
        published: "10 million records, 10,000/s, 48 threads; a figure without numbers",
        ours: "not run here at that size",
        verdict: "untestable here: two cores",
    },
    Claim {
        paper: TELL_TALE,
        figure: "NoOp: the longest latencies are pauses of the harness's JVM (fig. 4, by eye)",
        command: "truetail experiment tell-tale",
        published: "G1 on MariaDB: some 20 pauses of 18 to 51 ms in 60 s, each a spike; closed loop",
        ours: "no-op store, open loop: of the 300 slowest of three rounds 300, 300, 299 overlap a pause under G1, Parallel, Serial (7 to 11 by chance, p = 0.004); longest 15.7, 44.1, 33.4 ms, pauses to 18.3, 45.9, 33.2 ms. PostgreSQL, closed loop: 48 of 300 under G1 (11 by chance, p = 0.013)",
        verdict: "holds",
    },
    Claim {
        paper: TELL_TALE,
        figure: "NoOp: the maximum under G1 against Epsilon",
        command: "truetail experiment tell-tale",
        published: "50.7 against 4.4 ms on MariaDB, closed loop",
        ours: "no-op store, open loop: 4.3 [2.7, 6.7] times Epsilon's 3.24 ms, Parallel 12 [7.4, 20], Serial 9.0 [5.5, 15]; closed loops: can't be told in three rounds",
        verdict: "holds in an open loop",
    },
    Claim {
        paper: TELL_TALE,
        figure: "NoOp: quantiles are alike under all collectors",
        command: "truetail experiment tell-tale",
        published: "p99 0.019 to 0.025 ms on MariaDB, closed loop",
        ours: "PostgreSQL, closed loop: p99.9 differs by no more than a factor of 4.5, can't be told closer in three rounds; no-op store, open loop: p99 under Parallel 119 [103, 139] times Epsilon's, p99.9 under G1 12 [7.9, 17]",
        verdict: "untestable here for the closed loop; fails in an open loop, which leaves nothing out",
    },
    Claim {
        paper: TELL_TALE,
        figure: "YCSB: maxima by collector",
        command: "truetail experiment tell-tale",
        published: "32.6 to 53.1 ms on MariaDB, Epsilon's among them; closed loop",
        ours: "PostgreSQL, closed loop: medians of three rounds 19.6 to 46.6 ms, no collector's can be told from Epsilon's",
        verdict: "untestable here: truetail's bindings of YCSB have none for MariaDB, two cores",
    },
    Claim {
        paper: TELL_TALE,
        figure: "TPC-C, all figures",
        command: "truetail experiment tell-tale",
        published: "maxima 56 to 66 ms, throughput about 3,000/s",
        ours: "truetail alone runs it on PostgreSQL and MariaDB, and has no JVM; BenchBase does where it is named, which was not here",
        verdict: "untestable here",
    },
];

const NOSQLMARK: &str = "Friedrich et al., BTW 2017 (slides)";
const TELL_TALE: &str = "Fruth et al., TPCTC 2021";

pub(super) fn run(arguments: &ExperimentArguments, json: bool) -> anyhow::Result<Ended> {
    match &arguments.experiment {
        Some(Experiment::TellTale(arguments)) => return tell_tale::run(arguments, json),
        Some(Experiment::Predictability(arguments)) => return predictability::run(arguments, json),
        #[cfg(feature = "cql")]
        Some(Experiment::Elasticity(arguments)) => return crate::elasticity::run(arguments, json),
        None => {}
    }
    if !arguments.list {
        bail!(
            "experiment: nothing to do; try `truetail experiment --list`, or `truetail experiment tell-tale --list`"
        );
    }
    if json {
        output::json(&document(CLAIMS))?;
        return Ok(Ended::Well);
    }
    output::result(&claims_table())?;
    Ok(Ended::Well)
}

fn document(claims: &[Claim]) -> Value {
    let rows: Vec<Value> = claims
        .iter()
        .map(|c| {
            json!({"paper": c.paper, "figure": c.figure, "command": c.command,
                   "published": c.published, "ours": c.ours, "verdict": c.verdict})
        })
        .collect();
    json!({"schema": "truetail.experiments/1", "claims": rows})
}

/// The table as Markdown; `docs/papers.md` is this text.
fn claims_table() -> String {
    let mut text = String::from(
        "| paper | figure | command | published | ours | verdict |\n|---|---|---|---|---|---|\n",
    );
    for c in CLAIMS {
        let row = [c.paper, c.figure, c.command, c.published, c.ours, c.verdict];
        text += &format!("| {} |\n", row.join(" | "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_on_the_papers_is_the_table() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/papers.md");
        let text = std::fs::read_to_string(page).expect("docs/papers.md");
        assert!(
            text.ends_with(&claims_table()),
            "docs/papers.md does not end with what `truetail experiment --list` prints; `cargo xtask docs` writes it"
        );
    }

    #[test]
    fn claims_are_described() {
        let word = "x";
        let claim =
            Claim { paper: word, figure: word, command: word, published: word, ours: word, verdict: word };
        let schema = testkit::documented::Schema::new("truetail.experiments/1");
        assert_eq!(schema.differences(&[document(&[claim])]), Vec::<String>::new());
    }
}
